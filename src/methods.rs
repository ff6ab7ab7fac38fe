//! The one table of methods and baselines; `--method`, `evaluate` and the documentation derive from it.

use crate::clean::{Applied, Applier};
use crate::dom::Tree;

/// What a method works from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A template learned from pages of the site.
    Site,
    /// The page alone.
    Page,
}

/// One way to clean a page.
pub struct Method {
    /// Name on the command line and in the store.
    pub name: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// What it works from.
    pub kind: Kind,
    /// One line for a reader.
    pub summary: &'static str,
    /// Marks the template of a page; a site method is handed its template.
    pub clean: fn(&Tree, Option<&Applier>) -> Applied,
}

/// All methods.
pub const METHODS: &[Method] = &[
    Method {
        name: "etdm",
        paper: "Alarte 2014, sections 2 and 3",
        kind: Kind::Site,
        summary: "votes of pages that link to each other, mapped top-down to the key page",
        clean: |page, applier| applier.map_or_else(|| Applied::nothing(page), |a| a.apply_where_it_fits(page)),
    },
    Method {
        name: "plain",
        paper: "none",
        kind: Kind::Page,
        summary: "the whole page: what every method must beat",
        clean: |page, _| Applied::nothing(page),
    },
];

/// The method of this name.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}
