//! The one table of methods and baselines; `--method`, `evaluate` and the documentation derive from it.

use crate::baselines::{RtdmTemplate, by_records, by_slope};
use crate::clean::{Applied, Applier, chain};
use crate::cluster::training_set;
use crate::dom::Tree;
use crate::page::PageUrl;
use crate::settings::{Clean, KeepText, Label, LinkChoice, Settings, Subdigraph};
use crate::strings::{Collection, Document, Patterns, StringCleaner, StringTemplate};
use crate::template::{Template, vote};
use crate::witness::Family;

/// What a method works from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Pages of the site.
    Site,
    /// The page alone.
    Page,
}

/// What a method of kind [`Kind::Site`] has learned from pages of a site.
pub enum Model {
    /// Witnesses or votes.
    Template(Box<Applier>),
    /// Template strings.
    Strings(Box<StringCleaner>),
    /// What all pages share by their trees.
    Rtdm(Box<RtdmTemplate>),
}

/// One way to clean a page.
pub struct Method {
    /// Name on the command line and in the store.
    pub name: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// What it works from.
    pub kind: Kind,
    /// The value of `label.by` that it stands for, for methods whose template the learner makes.
    pub label: Option<Label>,
    /// One line for a reader.
    pub summary: &'static str,
    /// Which pages it wants, where these are not those of the settings.
    pub prepare: fn(&mut Settings),
    /// Learns from pages of a site, the key page first; `None` when they share nothing.
    pub learn: fn(&[&Tree], &Settings) -> Option<Model>,
    /// Marks the template of a page; a site method is handed what it learned.
    pub clean: fn(&Tree, Option<&Model>, &Clean) -> Applied,
}

impl Method {
    /// Is it the one that `label.by` stands for, whose labels of the training pages come with the template?
    pub fn is_default(&self) -> bool {
        self.label.is_some_and(|label| of_label(label).name == self.name)
    }

    /// The settings with what the method wants of them.
    pub fn settings(&self, base: &Settings) -> Settings {
        let mut settings = base.clone();
        settings.learn.label = self.label.unwrap_or(settings.learn.label);
        (self.prepare)(&mut settings);
        settings
    }

    /// Does it label by a template, and by the chain behind that where the template does not fit?
    pub fn goes_down_the_chain(&self) -> bool {
        ["witness", "etdm", "main"].contains(&self.name)
    }

    /// Does it work from the template that a site's learner makes and the store keeps?
    pub fn has_template(&self) -> bool {
        self.label.is_some()
    }
}

impl Model {
    /// A template made ready.
    pub fn of(applier: Applier) -> Model {
        Model::Template(Box::new(applier))
    }

    /// The template, where it is one.
    pub fn applier(&self) -> Option<&Applier> {
        match self {
            Model::Template(applier) => Some(applier),
            _ => None,
        }
    }
}

/// Labels a page by what was learned of its site, and by the chain behind that where it does not fit.
const BY_SITE: fn(&Tree, Option<&Model>, &Clean) -> Applied =
    |page, model, how| chain(page, None, model.and_then(Model::applier), how).applied;

/// Pages without an order of their own are each other's witnesses.
const WITNESSES: fn(&[&Tree], &Settings) -> Option<Model> = witnesses;

const AS_SET: fn(&mut Settings) = |_| {};
const NOTHING: fn(&[&Tree], &Settings) -> Option<Model> = |_, _| None;

/// All methods: ours, the papers', and what these were measured against.
pub const METHODS: &[Method] = &[
    Method {
        name: "witness",
        paper: "our own, on the training pages of Alarte 2014, section 2",
        kind: Kind::Site,
        label: Some(Label::Witness),
        summary: "the training pages bear witness on every page, weighed by likeness; its labels are decided together",
        prepare: AS_SET,
        learn: WITNESSES,
        clean: BY_SITE,
    },
    Method {
        name: "etdm",
        paper: "Alarte 2014, sections 2 and 3",
        kind: Kind::Site,
        label: Some(Label::Votes),
        summary: "votes of pages that link to each other, mapped top-down to the key page",
        prepare: AS_SET,
        learn: votes,
        clean: BY_SITE,
    },
    Method {
        name: "df",
        paper: "Gottron 2008, document frequency",
        kind: Kind::Site,
        label: Some(Label::Witness),
        summary: "texts that more than a third of the training pages hold are template, wherever they stand",
        prepare: AS_SET,
        learn: WITNESSES,
        clean: BY_FREQUENCY,
    },
    Method {
        name: "main",
        paper: "our own",
        kind: Kind::Site,
        label: Some(Label::Witness),
        summary: "witness, then density on what is left: main text only",
        prepare: AS_SET,
        learn: WITNESSES,
        clean: |page, model, how| BY_SITE(page, model, &Clean { keep: KeepText::Main, ..*how }),
    },
    Method {
        name: "gottron",
        paper: "Gottron 2008",
        kind: Kind::Site,
        label: None,
        summary: "of up to 40 linked pages those in the key page's cluster are the training set, then as df",
        prepare: |settings| {
            let n = settings.gottron.candidates;
            let learn = &mut settings.learn;
            (learn.link_order, learn.subdigraph, learn.stop_after) = (LinkChoice::Paper, Subdigraph::First, 0);
            (learn.n, learn.max_loads, learn.max_requests) = (n, n, learn.max_requests.max(2 * n));
        },
        learn: |pages, settings| {
            let members = training_set(pages, &settings.gottron.cluster);
            let members: Vec<&Tree> = members.into_iter().map(|page| pages[page]).collect();
            // Two pages are no training set.
            if members.len() < 3 { None } else { witnesses(&members, settings) }
        },
        clean: |page, model, how| match model {
            Some(_) => BY_FREQUENCY(page, model, how),
            None => chain(page, None, None, how).applied,
        },
    },
    Method {
        name: "strings",
        paper: "Foschini 2007, chapter 3",
        kind: Kind::Site,
        label: None,
        summary: "token strings that enough pages repeat, by suffix array; also for plain text (dehusk strings)",
        prepare: AS_SET,
        learn: |pages, settings| {
            let patterns = Patterns::shipped();
            let mut collection = Collection::new(patterns.clone(), settings.strings.tokens);
            for page in pages {
                let prepared = collection.prepare(Document::Page(page));
                collection.add(prepared).ok()?;
            }
            let template = StringTemplate::learn(collection, &settings.strings).ok()?;
            let cleaner = StringCleaner::new(&template, &patterns, &settings.strings, |_| true).ok()?;
            (pages.len() > 1).then(|| Model::Strings(Box::new(cleaner)))
        },
        clean: |page, model, _| match model {
            Some(Model::Strings(cleaner)) => labelled(cleaner.label(page)),
            _ => Applied::nothing(page),
        },
    },
    Method {
        name: "rtdm",
        paper: "Reis 2004, Vieira 2006: RTDM-TD, a baseline",
        kind: Kind::Site,
        label: None,
        summary: "what restricted top-down mapping finds the same on all training pages",
        prepare: AS_SET,
        learn: |pages, _| Some(Model::Rtdm(Box::new(RtdmTemplate::learn(pages)?))),
        clean: |page, model, _| match model {
            Some(Model::Rtdm(template)) => labelled(template.label(page)),
            _ => Applied::nothing(page),
        },
    },
    Method {
        name: "density",
        paper: "our own, after the text-density extractors (Kohlschütter 2010, Sun 2011)",
        kind: Kind::Page,
        label: None,
        summary: "main text of the page alone, by length, links, prose and place of its blocks",
        prepare: AS_SET,
        learn: NOTHING,
        clean: |page, _, _| Applied::nothing(page).main_text(page),
    },
    Method {
        name: "tps",
        paper: "Velloso and Dorneles 2013",
        kind: Kind::Page,
        label: None,
        summary: "the main region of the page's sequence of tag paths, or the rest where that has more text",
        prepare: AS_SET,
        learn: NOTHING,
        clean: |page, _, how| Applied::by_tag_paths(page, how),
    },
    Method {
        name: "dsc",
        paper: "Pinto 2002 as adapted by Gottron, a baseline",
        kind: Kind::Page,
        label: None,
        summary: "text where few tags stand: the flat parts of the document slope curve",
        prepare: AS_SET,
        learn: NOTHING,
        clean: |page, _, _| labelled((by_slope(page), 0.0)),
    },
    Method {
        name: "mdr",
        paper: "Liu 2003, a baseline",
        kind: Kind::Page,
        label: None,
        summary: "data records only: neighbors of like tag strings",
        prepare: AS_SET,
        learn: NOTHING,
        clean: |page, _, _| labelled((by_records(page), 0.0)),
    },
    Method {
        name: "plain",
        paper: "none",
        kind: Kind::Page,
        label: None,
        summary: "the whole page: what every method must beat",
        prepare: AS_SET,
        learn: NOTHING,
        clean: |page, _, _| Applied::nothing(page),
    },
];

const BY_FREQUENCY: fn(&Tree, Option<&Model>, &Clean) -> Applied = |page, model, _| {
    let applier = model.and_then(Model::applier);
    applier.and_then(|applier| applier.apply_by_frequency(page)).unwrap_or_else(|| Applied::nothing(page))
};

fn witnesses(pages: &[&Tree], settings: &Settings) -> Option<Model> {
    let numbered: Vec<(u64, &Tree)> = (0..).zip(pages.iter().copied()).collect();
    let (family, _) = Family::learn(&numbered, &settings.learn)?;
    Some(Model::of(Applier::of(family, &settings.learn)))
}

/// Votes for the nodes of the first page.
fn votes(pages: &[&Tree], settings: &Settings) -> Option<Model> {
    let (key, voters) = pages.split_first()?;
    // The pages come without their URLs.
    let nowhere = PageUrl::parse("http://localhost/").ok()?;
    let votes = vote(key, voters, &settings.learn);
    let template = Template::of(key, &nowhere, &[], voters.len(), &votes, &settings.learn);
    (votes.m > 0).then(|| Model::of(Applier::new(&template)))
}

fn labelled((is_template, confidence): (Vec<bool>, f64)) -> Applied {
    Applied { is_template, confidence }
}

/// The method of this name.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

/// The method that `label.by` stands for.
pub fn of_label(label: Label) -> &'static Method {
    METHODS.iter().find(|method| method.label == Some(label)).unwrap_or(&METHODS[0])
}
