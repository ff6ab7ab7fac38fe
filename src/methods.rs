//! The one table of methods and baselines; `--method`, `evaluate` and the documentation derive from it.

use crate::clean::{Applied, Applier, chain};
use crate::dom::Tree;
use crate::settings::{Clean, KeepText, Label};

/// What a method works from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A template learned from pages of the site.
    Site,
    /// The page alone.
    Page,
}

/// Labels a page by what was learned of its site, and by the chain behind that where it does not fit.
const BY_SITE: fn(&Tree, Option<&Applier>, &Clean) -> Applied =
    |page, applier, how| chain(page, None, applier, how).applied;

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
    pub clean: fn(&Tree, Option<&Applier>, &Clean) -> Applied,
}

impl Method {
    /// Is it the one that `label.by` stands for, whose labels of the training pages come with the template?
    pub fn is_default(&self) -> bool {
        self.label.is_some_and(|label| of_label(label).name == self.name)
    }
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
        name: "df",
        paper: "Gottron 2008, document frequency",
        kind: Kind::Site,
        label: Some(Label::Witness),
        summary: "texts that more than a third of the training pages hold are template, wherever they stand",
        clean: |page, applier, _| {
            applier.and_then(|a| a.apply_by_frequency(page)).unwrap_or_else(|| Applied::nothing(page))
        },
    },
    Method {
        name: "main",
        paper: "our own",
        kind: Kind::Site,
        label: Some(Label::Witness),
        summary: "witness, then density on what is left: main text only",
        clean: |page, applier, how| chain(page, None, applier, &Clean { keep: KeepText::Main, ..*how }).applied,
    },
    Method {
        name: "density",
        paper: "our own, after the text-density extractors (Kohlschütter 2010, Sun 2011)",
        kind: Kind::Page,
        label: None,
        summary: "main text of the page alone, by length, links, prose and place of its blocks",
        clean: |page, _, _| Applied::nothing(page).main_text(page),
    },
    Method {
        name: "tps",
        paper: "Velloso and Dorneles 2013",
        kind: Kind::Page,
        label: None,
        summary: "the main region of the page's sequence of tag paths, or the rest where that has more text",
        clean: |page, _, how| Applied::by_tag_paths(page, how),
    },
    Method {
        name: "plain",
        paper: "none",
        kind: Kind::Page,
        label: None,
        summary: "the whole page: what every method must beat",
        clean: |page, _, _| Applied::nothing(page),
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
