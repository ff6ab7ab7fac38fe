//! The one table of methods and baselines. `--method`, `evaluate` and the documentation derive from it.

use crate::baselines::{RtdmTemplate, by_records, by_slope};
use crate::options::PapersOptions;
use dehusk_content::tps::by_tag_paths;
use dehusk_content::{JudgedPage, Labels};
use dehusk_core::Options;
use dehusk_core::clean::{KeepText, LabeledPage, TemplateMatcher, label_page, without_hidden};
use dehusk_html::Tree;
use dehusk_template::cluster::{MIN_CLUSTER, training_set};
use dehusk_template::etdm::vote;
use dehusk_template::learn_options::LabelBy;
use dehusk_template::method::Method;
use dehusk_template::site_model::TrainingSet;
#[cfg(feature = "strings")]
use dehusk_template::strings::{Corpus, Document, StringCleaner, StringTemplate};
use dehusk_template::template::{Provenance, Template};
use dehusk_template::text_mdl::TextTemplates;

/// A method, what it is and how it runs.
pub struct MethodEntry {
    /// The identifier.
    pub method: Method,
    /// Where it was published.
    pub paper: &'static str,
    /// One line for a reader.
    pub summary: &'static str,
    /// How it runs.
    pub kind: MethodKind,
}

/// What a method works from.
pub enum MethodKind {
    /// Pages of the site. Learns from the key page and the pages after it; `None` when they share nothing.
    Site {
        /// Learns a model.
        learn: fn(&[&Tree], &Options, &PapersOptions) -> Option<Model>,
        /// What makes the template that the learner and the store keep for this method, if one does.
        label_by: Option<LabelBy>,
    },
    /// The page alone.
    Page(fn(&Tree, &Options, &PapersOptions) -> Labels),
}

/// What a method of kind [`MethodKind::Site`] has learned. A model belongs to its method.
pub struct Model {
    method: Method,
    learned: Learned,
}

enum Learned {
    /// Training pages or votes.
    Template(Box<TemplateMatcher>),
    /// Template strings.
    #[cfg(feature = "strings")]
    Strings(Box<StringCleaner>),
    /// The templates of clusters.
    Text(Box<TextTemplates>),
    /// The part that all pages share in their trees.
    Rtdm(Box<RtdmTemplate>),
}

impl MethodEntry {
    /// Whether it works from pages of the site.
    pub fn is_site_method(&self) -> bool {
        matches!(self.kind, MethodKind::Site { .. })
    }

    /// The value of `label.by` that makes its template, for methods whose template the learner makes and the store
    /// keeps.
    pub fn label_by(&self) -> Option<LabelBy> {
        match self.kind {
            MethodKind::Site { label_by, .. } => label_by,
            MethodKind::Page(_) => None,
        }
    }

    /// Whether it is the method that `label.by` names, whose labels of the training pages come with the template.
    pub fn is_default(&self) -> bool {
        self.label_by().is_some_and(|label_by| Method::of_label_by(label_by) == self.method)
    }

    /// The options with what the method asks for: which pages are loaded, and what is made of them.
    pub fn options(&self, base: &Options) -> Options {
        let mut options = base.clone();
        options.learn.label_by = self.label_by().unwrap_or(options.learn.label_by);
        if self.method == Method::Main {
            options.clean.keep = KeepText::Main;
        }
        options.learn = options.learn.in_effect();
        options
    }

    /// Learns from pages of a site, the key page first. `None` when they share nothing, and for methods that need no
    /// model.
    pub fn learn(&self, pages: &[&Tree], options: &Options, papers: &PapersOptions) -> Option<Model> {
        match self.kind {
            MethodKind::Site { learn, .. } => learn(pages, &self.options(options), papers),
            MethodKind::Page(_) => None,
        }
    }

    /// Labels a page. A site method without a model labels it by the page alone where it has a chain behind it, and
    /// otherwise keeps the page whole.
    ///
    /// The result names the step of the chain that labeled the page, for methods that have a chain.
    pub fn label(&self, page: &Tree, model: Option<&Model>, options: &Options, papers: &PapersOptions) -> LabeledPage {
        let options = self.options(options);
        let labels = match (&self.kind, model) {
            (MethodKind::Page(label), _) => label(page, &options, papers),
            (_, Some(Model { learned: Learned::Template(matcher), .. })) if self.method.uses_chain() => {
                return label_page(page, None, Some(matcher), &options.clean);
            }
            (_, Some(model)) => model.label(page),
            (_, None) if self.method.uses_chain() || self.method == Method::Gottron => {
                return label_page(page, None, None, &options.clean);
            }
            (_, None) => Labels::none(page),
        };
        let labels = without_hidden(page, labels, &options.clean);
        LabeledPage { labels, method: self.method, by_template: model.is_some() }
    }
}

impl Model {
    /// A stored template made ready, for the methods that label with one.
    pub fn from_matcher(method: Method, matcher: TemplateMatcher) -> Model {
        Model { method, learned: Learned::Template(Box::new(matcher)) }
    }

    /// The template, if the model is one.
    pub fn matcher(&self) -> Option<&TemplateMatcher> {
        match &self.learned {
            Learned::Template(matcher) => Some(matcher),
            _ => None,
        }
    }

    /// The template, to add pages to it.
    pub fn matcher_mut(&mut self) -> Option<&mut TemplateMatcher> {
        match &mut self.learned {
            Learned::Template(matcher) => Some(matcher),
            _ => None,
        }
    }

    /// Templates of TEXT that were stored.
    pub fn of_text(templates: TextTemplates) -> Model {
        Model { method: Method::Text, learned: Learned::Text(Box::new(templates)) }
    }

    /// The method that learned it.
    pub fn method(&self) -> Method {
        self.method
    }

    fn label(&self, page: &Tree) -> Labels {
        match &self.learned {
            Learned::Template(matcher) => matcher.label_by_frequency(page).unwrap_or_else(|| Labels::none(page)),
            #[cfg(feature = "strings")]
            Learned::Strings(cleaner) => cleaner.label(page),
            Learned::Text(templates) => templates.label(page),
            Learned::Rtdm(template) => template.label(page),
        }
    }
}

impl MethodEntry {
    /// The row of a method, if it is built in.
    pub fn find(method: Method) -> Option<&'static MethodEntry> {
        METHODS.iter().find(|entry| entry.method == method)
    }
}

/// All methods: ours, those of the papers, and the papers' baselines.
pub const METHODS: &[MethodEntry] = &[
    MethodEntry {
        method: Method::SiteModel,
        paper: "our own, on the training pages of Alarte 2014, section 2",
        summary: "evidence of all training pages, weighted by similarity, labels decided jointly",
        kind: MethodKind::Site {
            learn: |pages, options, _| from_training_set(Method::SiteModel, pages, options),
            label_by: Some(LabelBy::SiteModel),
        },
    },
    MethodEntry {
        method: Method::Etdm,
        paper: "Alarte 2014, sections 2 and 3",
        summary: "votes of pages that link to each other, mapped top-down to the key page",
        kind: MethodKind::Site { learn: |pages, options, _| votes(pages, options), label_by: Some(LabelBy::Votes) },
    },
    MethodEntry {
        method: Method::Df,
        paper: "Gottron 2008, document frequency",
        summary: "texts that more than a third of the training pages have are template, wherever they are",
        kind: MethodKind::Site {
            learn: |pages, options, _| from_training_set(Method::Df, pages, options),
            label_by: Some(LabelBy::SiteModel),
        },
    },
    MethodEntry {
        method: Method::Main,
        paper: "our own",
        summary: "site_model, then what of the rest is main content",
        kind: MethodKind::Site {
            learn: |pages, options, _| from_training_set(Method::Main, pages, options),
            label_by: Some(LabelBy::SiteModel),
        },
    },
    MethodEntry {
        method: Method::Gottron,
        paper: "Gottron 2008",
        summary: "of all linked pages those in the key page's cluster are the training set, then as df",
        kind: MethodKind::Site { learn: |pages, options, _| gottron(pages, options), label_by: Some(LabelBy::Gottron) },
    },
    #[cfg(feature = "strings")]
    MethodEntry {
        method: Method::Strings,
        paper: "Foschini 2007, chapter 3",
        summary: "token strings that enough pages repeat, by suffix array; also for plain text (dehusk strings)",
        kind: MethodKind::Site { learn: |pages, options, _| strings(pages, options), label_by: None },
    },
    MethodEntry {
        method: Method::Text,
        paper: "Kim and Shim 2011: TEXT-MDL, TEXT-HASH, TEXT-MAX",
        summary: "the template paths of the cluster of pages that the page fits best (dehusk cluster --store)",
        kind: MethodKind::Site {
            learn: |pages, options, _| {
                let templates = TextTemplates::learn(pages, &options.learn.text);
                (!templates.templates.is_empty()).then(|| Model::of_text(templates))
            },
            label_by: None,
        },
    },
    MethodEntry {
        method: Method::Rtdm,
        paper: "Reis 2004, Vieira 2006: RTDM-TD, a baseline",
        summary: "what restricted top-down mapping finds the same on all training pages",
        kind: MethodKind::Site {
            learn: |pages, _, _| {
                let template = Box::new(RtdmTemplate::learn(pages)?);
                Some(Model { method: Method::Rtdm, learned: Learned::Rtdm(template) })
            },
            label_by: None,
        },
    },
    MethodEntry {
        method: Method::Alone,
        paper: "our own, after the learned block classifiers (Kohlschütter 2010, Vogels 2018)",
        summary: "main content of the page alone: a small net reads the features of each block",
        kind: MethodKind::Page(|page, options, _| JudgedPage::new(page).labels(options.clean.favor)),
    },
    MethodEntry {
        method: Method::Tps,
        paper: "Velloso and Dorneles 2013",
        summary: "the main region of the page's sequence of tag paths, or the rest where that has more text",
        kind: MethodKind::Page(|page, options, _| by_tag_paths(page, &options.clean.tps)),
    },
    MethodEntry {
        method: Method::Dsc,
        paper: "Pinto 2002 as adapted by Gottron, a baseline",
        summary: "text where tags are rare: the flat parts of the document slope curve",
        kind: MethodKind::Page(|page, _, _| by_slope(page)),
    },
    MethodEntry {
        method: Method::Mdr,
        paper: "Liu 2003, a baseline",
        summary: "data records only: neighbors with similar tag strings",
        kind: MethodKind::Page(|page, _, _| by_records(page)),
    },
    MethodEntry {
        method: Method::Plain,
        paper: "none",
        summary: "the whole page: what every method must beat",
        kind: MethodKind::Page(|page, _, _| Labels::none(page)),
    },
];

/// Pages without an order of their own are each other's training pages.
fn from_training_set(method: Method, pages: &[&Tree], options: &Options) -> Option<Model> {
    let numbered: Vec<(u64, &Tree)> = (0..).zip(pages.iter().copied()).collect();
    let (set, _) = TrainingSet::learn(&numbered, &options.learn.site_model)?;
    Some(Model::from_matcher(method, TemplateMatcher::from_training_set(set)))
}

/// Votes on the nodes of the first page.
fn votes(pages: &[&Tree], options: &Options) -> Option<Model> {
    let (key, voters) = pages.split_first()?;
    let votes = vote(key, voters, &options.learn.etdm);
    let from = Provenance { loads: voters.len(), ..Provenance::default() };
    let template = Template::from_votes(key, from, &votes, &options.learn);
    (votes.n_voters > 0).then(|| Model::from_matcher(Method::Etdm, TemplateMatcher::from_template(&template)))
}

fn gottron(pages: &[&Tree], options: &Options) -> Option<Model> {
    let members = training_set(pages, &options.learn.gottron.cluster);
    let members: Vec<&Tree> = members.into_iter().map(|page| pages[page]).collect();
    if members.len() < MIN_CLUSTER { None } else { from_training_set(Method::Gottron, &members, options) }
}

#[cfg(feature = "strings")]
fn strings(pages: &[&Tree], options: &Options) -> Option<Model> {
    let patterns = &options.string_patterns;
    let mut corpus = Corpus::new(patterns.clone(), options.strings.tokens);
    for page in pages {
        let document = corpus.prepare(Document::Page(page));
        corpus.add(document).ok()?;
    }
    let template = StringTemplate::learn(corpus, &options.strings).ok()?;
    let cleaner =
        StringCleaner::new(&template, patterns, &options.strings, |hash| !options.idioms.contains(&hash)).ok()?;
    let learned = Learned::Strings(Box::new(cleaner));
    (pages.len() > 1).then_some(Model { method: Method::Strings, learned })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_one_row() {
        for method in Method::ALL {
            let rows = METHODS.iter().filter(|entry| entry.method == method).count();
            assert_eq!(rows, usize::from(method != Method::Strings || cfg!(feature = "strings")), "{method}");
        }
        for label_by in [LabelBy::SiteModel, LabelBy::Votes, LabelBy::Gottron] {
            assert!(MethodEntry::find(Method::of_label_by(label_by)).unwrap().is_default());
        }
        assert!(!MethodEntry::find(Method::Df).unwrap().is_default());
    }
}
