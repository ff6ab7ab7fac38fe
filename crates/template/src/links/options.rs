//! Options: which links of a page are candidates, and in which order they are tried.

use serde::{Deserialize, Serialize};

use dehusk_html::SameSite;

/// Which links of the key page are candidates, and in which order they are tried (thesis, section 2.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default = "LinkOptions::thesis2014")]
pub struct LinkOptions {
    /// Which links belong to the site of a page.
    pub same_site: SameSite,
    /// Whether a last path segment without a dot counts as a directory, as in `/section`.
    pub slug_dirs: bool,
    /// Reference set of the DOM distance.
    pub dom_ref: DomRef,
    /// Maximum number of links of a page that are considered.
    pub max: usize,
    /// Whether links marked `nofollow` are left out.
    pub skip_nofollow: bool,
    /// The order in which links are tried.
    pub order: LinkOrderBy,
}

/// The order in which the links of the key page are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkOrderBy {
    /// By class of equal hyperlink distance (thesis, Algorithm 1).
    Paper,
    /// Round-robin over the URL forms, the form of the key page first. Within a form, as `Paper`.
    Forms,
    /// As `Forms`, with the links of the main menu as an additional form in second position.
    Turns,
    /// The links of the main menu first, then the others. Within each group, as `Paper`.
    Menu,
    /// By a hash of the URL, over the links of all loaded pages. A baseline for the other orders.
    Random,
}

/// The links that the next link should be far from in the DOM tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DomRef {
    /// Links already chosen in the same class of hyperlink distance (thesis, Algorithm 1).
    Class,
    /// Links already chosen in any class.
    Global,
    /// All other links (thesis, example 2.2.15).
    All,
}

impl LinkOptions {
    /// The parameters of the thesis.
    pub fn thesis2014() -> LinkOptions {
        LinkOptions {
            same_site: SameSite::Host,
            slug_dirs: false,
            dom_ref: DomRef::Class,
            max: 5000,
            skip_nofollow: false,
            order: LinkOrderBy::Paper,
        }
    }
}

impl Default for LinkOptions {
    fn default() -> LinkOptions {
        LinkOptions { slug_dirs: true, skip_nofollow: true, order: LinkOrderBy::Turns, ..LinkOptions::thesis2014() }
    }
}
