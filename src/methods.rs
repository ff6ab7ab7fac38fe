//! The one table of methods and baselines; `--method`, `evaluate` and the documentation derive from it.

use crate::clean::{Applied, Applier};
use crate::dom::Tree;
use crate::settings::Label;

/// What a method works from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A template learned from pages of the site.
    Site,
    /// The page alone.
    Page,
}

/// Labels a page by what was learned of its site; where too little of that shows, nothing is template.
const BY_SITE: fn(&Tree, Option<&Applier>) -> Applied =
    |page, applier| applier.map_or_else(|| Applied::nothing(page), |a| a.apply_where_it_fits(page));

/// One way to clean a page.
pub struct Method {
    /// Name on the command line and in the store.
    pub name: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// What it works from.
    pub kind: Kind,
    /// The value of `label.by` that it stands for, for methods that learn.
    pub label: Option<Label>,
    /// One line for a reader.
    pub summary: &'static str,
    /// Marks the template of a page; a site method is handed its template.
    pub clean: fn(&Tree, Option<&Applier>) -> Applied,
}

/// All methods.
pub const METHODS: &[Method] = &[
    Method {
        name: "witness",
        paper: "our own, on the training pages of Alarte 2014, section 2",
        kind: Kind::Site,
        label: Some(Label::Witness),
        summary: "the training pages bear witness on every page, weighed by likeness; its labels are decided together",
        clean: BY_SITE,
    },
    Method {
        name: "etdm",
        paper: "Alarte 2014, sections 2 and 3",
        kind: Kind::Site,
        label: Some(Label::Votes),
        summary: "votes of pages that link to each other, mapped top-down to the key page",
        clean: BY_SITE,
    },
    Method {
        name: "plain",
        paper: "none",
        kind: Kind::Page,
        label: None,
        summary: "the whole page: what every method must beat",
        clean: |page, _| Applied::nothing(page),
    },
];

/// The method of this name.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

/// The method that `label.by` stands for.
pub fn of_label(label: Label) -> &'static Method {
    METHODS.iter().find(|method| method.label == Some(label)).unwrap_or(&METHODS[0])
}
