//! Labels a page with the first step of a chain that fits it.

use super::hidden::without_hidden;
use super::whole_blocks::keep_blocks_whole;
use super::whole_tables::keep_tables_whole;
use super::{Alone, CleanOptions, KeepText, TemplateMatcher};
use dehusk_content::Labels;
use dehusk_content::tps::by_tag_paths;
use dehusk_content::{JudgedPage, LazyJudged, RestKinds};
use dehusk_html::{NodeId, Tree};
use dehusk_template::method::Method;
use dehusk_template::site_model::Candidate;

/// A labeled page, and the step that labeled it.
#[derive(Clone, Debug, PartialEq)]
pub struct LabeledPage {
    /// The labels. Their confidence is, for the site model and votes, the share of the template that the page shows;
    /// for document frequency, the share of its texts that are frequent; for the page alone, the mean
    /// probability of what is kept.
    pub labels: Labels,
    /// The step.
    pub method: Method,
    /// Whether the site's template labeled it.
    pub by_template: bool,
}

/// Labels a page with the first step that applies: the site's template; document frequency, when the page resembles no
/// training page; the page model, when the site has no template.
///
/// `known` are labels that the matcher has computed before.
pub fn label_page(
    page: &Tree,
    known: Option<Labels>,
    matcher: Option<&TemplateMatcher>,
    options: &CleanOptions,
) -> LabeledPage {
    label_judged(&LazyJudged::new(page), known, matcher, options)
}

/// The same for a page that the matcher has labeled, and that may be added to its training pages.
pub fn label_candidate(page: &Candidate<'_>, matcher: &TemplateMatcher, options: &CleanOptions) -> LabeledPage {
    label_judged(&page.judged, Some(page.labels.clone()), Some(matcher), options)
}

fn label_judged(
    judged: &LazyJudged<'_>,
    known: Option<Labels>,
    matcher: Option<&TemplateMatcher>,
    options: &CleanOptions,
) -> LabeledPage {
    let page = judged.tree;
    let labeled = match matcher {
        Some(matcher) => {
            let labeled = by_site(judged, known, matcher, options);
            // Votes and frequencies stay as the papers have them.
            let is_paper = matches!(labeled.method, Method::Etdm | Method::Gottron | Method::Text);
            if options.whole_blocks && labeled.by_template && !is_paper {
                LabeledPage { labels: keep_blocks_whole(page, labeled.labels), ..labeled }
            } else {
                labeled
            }
        }
        None => alone(judged, options),
    };
    let labeled = match options.keep {
        KeepText::Own => {
            let has_taught = matcher.is_some_and(|matcher| matcher.has_taught());
            let taught = if has_taught { taught_texts(judged.page(), matcher) } else { Vec::new() };
            LabeledPage { labels: with_texts(page, labeled.labels, &Labels::none(page), &taught), ..labeled }
        }
        KeepText::Main | KeepText::MainAnd(_) => main_text(judged, labeled, matcher, options),
    };
    LabeledPage { labels: without_hidden(page, labeled.labels, options), ..labeled }
}

/// The main content of what the labels leave, with the kinds of the rest that the options ask for: everything else is
/// labeled template, too. The confidence stays.
fn main_text(
    judged: &LazyJudged<'_>,
    labeled: LabeledPage,
    matcher: Option<&TemplateMatcher>,
    options: &CleanOptions,
) -> LabeledPage {
    // The main content is chosen already, without a template.
    let is_main = matches!(labeled.method, Method::Alone | Method::Tps);
    let rest = match options.keep {
        KeepText::MainAnd(kinds) => kinds,
        KeepText::Main if is_main => return labeled,
        _ => RestKinds::default(),
    };
    let (page, judged) = (judged.tree, judged.page());
    let labels = if is_main {
        with_texts(page, labeled.labels, &Labels::none(page), &judged.rest(rest))
    } else {
        let main = of_main_content(page, judged, &labeled.labels, matcher, options);
        let main = keep_tables_whole(page, main, Some(&labeled.labels));
        with_texts(page, main, &labeled.labels, &judged.rest(rest))
    };
    LabeledPage { labels, ..labeled }
}

/// The labels with these text nodes and the elements around them kept, but for what is `known` to be template.
fn with_texts(page: &Tree, mut labels: Labels, known: &Labels, rest: &[NodeId]) -> Labels {
    let body = page.counted().start;
    for text in rest.iter().filter(|text| !known.is_template(**text)) {
        let mut node = text.index();
        while node > body && labels.is_template[node] && !known.is_template(NodeId::new(node)) {
            labels.is_template[node] = false;
            node = page.shape.parent[node] as usize;
        }
    }
    labels
}

/// The texts that are main content by what was taught of the site: they are no template either.
fn taught_texts(judged: &JudgedPage<'_>, matcher: Option<&TemplateMatcher>) -> Vec<NodeId> {
    let set = matcher.and_then(TemplateMatcher::training_set);
    set.map_or_else(Vec::new, |set| set.taught().main_texts(judged))
}

fn of_main_content(
    page: &Tree,
    judged: &JudgedPage<'_>,
    labels: &Labels,
    matcher: Option<&TemplateMatcher>,
    options: &CleanOptions,
) -> Labels {
    let by_site = matcher.and_then(TemplateMatcher::training_set).and_then(|set| set.label_main(judged, options.favor));
    let mut main = by_site.unwrap_or_else(|| judged.labels(options.favor));
    let mut taught = taught_texts(judged, matcher);
    taught.retain(|text| !main.is_template(*text));
    main.is_template.iter_mut().zip(&labels.is_template).for_each(|(main, known)| *main |= known);
    let main = with_texts(page, main, &Labels::none(page), &taught);
    // What is template everywhere is no content; a page with nothing else keeps what is its own.
    let has_text = page.counted().map(NodeId::new).any(|node| page.is_text(node) && !main.is_template(node));
    if has_text {
        Labels { nearest: labels.nearest, ..main.with_confidence(labels.confidence) }
    } else {
        labels.clone()
    }
}

/// Share of frequent texts below which document frequency knows too little of a page. Measured on pages that resemble
/// no training page: below it node F1 is .27 where the page alone has .39; above, .79 and .80.
pub(super) const MIN_FREQUENT: f64 = 0.1;

fn by_site(
    judged: &LazyJudged<'_>,
    known: Option<Labels>,
    matcher: &TemplateMatcher,
    options: &CleanOptions,
) -> LabeledPage {
    let page = judged.tree;
    let labels = known.unwrap_or_else(|| matcher.label_judged(judged));
    if labels.confidence >= matcher.min_confidence(options) {
        return LabeledPage { labels, method: matcher.method(), by_template: true };
    }
    match matcher.label_by_frequency(page) {
        Some(labels) if labels.confidence >= MIN_FREQUENT => {
            LabeledPage { labels, method: Method::Df, by_template: true }
        }
        Some(_) => alone(judged, options),
        // Votes either fit a page or leave it whole.
        None => plain(page, labels.confidence),
    }
}

fn alone(judged: &LazyJudged<'_>, options: &CleanOptions) -> LabeledPage {
    match options.alone {
        Alone::PageModel => match judged.page().labels(options.favor) {
            // Where nothing is main content, everything is kept.
            labels if labels.confidence == 0.0 => plain(judged.tree, 0.0),
            labels => {
                let labels = keep_tables_whole(judged.tree, labels, None);
                LabeledPage { labels, method: Method::Alone, by_template: false }
            }
        },
        Alone::Tps => {
            let labels = by_tag_paths(judged.tree, &options.tps);
            LabeledPage { labels, method: Method::Tps, by_template: false }
        }
        Alone::Plain => plain(judged.tree, 0.0),
    }
}

fn plain(page: &Tree, confidence: f64) -> LabeledPage {
    LabeledPage { labels: Labels::none(page).with_confidence(confidence), method: Method::Plain, by_template: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::HiddenText;
    use dehusk_content::RestKind;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;
    use dehusk_template::site_model::{SiteModelOptions, TrainingSet};

    fn page(html: &str) -> Tree {
        parse(html, &ParseOptions::default())
    }

    fn article(words: &str) -> String {
        format!("<nav><a href=/>Home</a> <a href=/a>About</a></nav><main><p>{words} is a grain. It grows.</main>")
    }

    #[test]
    fn each_step_takes_what_the_one_before_leaves() {
        let trees: Vec<Tree> = ["rye", "oats", "corn", "rice"].map(|words| page(&article(words))).into();
        let numbered: Vec<(u64, &Tree)> = (0..).zip(&trees).collect();
        let applier =
            TemplateMatcher::from_training_set(TrainingSet::learn(&numbered, &SiteModelOptions::default()).unwrap().0);
        let how = CleanOptions::default();
        let step = |html: &str, applier: Option<&TemplateMatcher>| {
            let tree = page(html);
            let labeled = label_page(&tree, None, applier, &how);
            (labeled.method.name(), labeled.labels.text_nodes(&tree))
        };
        assert_eq!(step(&article("barley"), Some(&applier)), ("site_model", "barley is a grain. It grows.".to_owned()));
        // Another layout with a text of the site.
        let strange = "<table><tr><td>About<td>All about the barley, which is new</table>";
        assert_eq!(step(strange, Some(&applier)), ("df", "All about the barley, which is new".to_owned()));
        let prose =
            "A long text, with sentences in it, that goes on and on. It has no links, and it is not short. ".repeat(4);
        let alone = format!("<div class=nav><a href=/>Start</a></div><article><p>{prose}</article>");
        for applier in [None, Some(&applier)] {
            let (method, text) = step(&alone, applier);
            assert_eq!((method, text.trim()), ("alone", prose.trim()), "nothing of the site is there");
        }
        let plain = CleanOptions { alone: Alone::Plain, ..how };
        let tree = page(&alone);
        assert_eq!(label_page(&tree, None, None, &plain).method, Method::Plain);
        assert_eq!(step("", None), ("plain", String::new()), "an empty page");
    }

    #[test]
    fn hidden_text_is_kept_or_left_out_as_asked() {
        let html = "<p>one</p><div hidden><p>two</div><p style='color: red; Display : NONE'>three</p><p>four";
        let tree = page(html);
        let plain = CleanOptions { alone: Alone::Plain, ..CleanOptions::default() };
        let text = |hidden| label_page(&tree, None, None, &CleanOptions { hidden, ..plain }).labels.text_nodes(&tree);
        assert_eq!(text(HiddenText::Keep), "one two three four");
        assert_eq!(text(HiddenText::Drop), "one four");
    }

    #[test]
    fn main_text_is_what_reads_as_such_of_what_is_own() {
        let prose =
            "A long text, with sentences in it, that goes on and on. It has no links, and it is not short. ".repeat(8);
        let own = format!("<article><p>{prose}</article><aside><a href=/1>One</a> <a href=/2>Two</a></aside>");
        let tree = page(&own);
        let how = CleanOptions { keep: KeepText::Main, alone: Alone::Plain, ..CleanOptions::default() };
        assert_eq!(label_page(&tree, None, None, &how).labels.text_nodes(&tree).trim(), prose.trim());
        let comments = format!("{own}<ol class=comments><li class=comment><p>I like rye, too. Thank you all!</ol>");
        let tree = page(&comments);
        let keep = KeepText::MainAnd(RestKinds::default().with(RestKind::Comments));
        for alone in [Alone::Plain, Alone::PageModel] {
            let text = |keep| {
                let how = CleanOptions { keep, alone, ..how };
                label_page(&tree, None, None, &how).labels.text_nodes(&tree)
            };
            assert_eq!(text(KeepText::Main).trim(), prose.trim());
            assert_eq!(text(keep), format!("{} I like rye, too. Thank you all!", prose.trim()));
        }
        let list = page("<h1>Prices</h1><ul><li>rye 3<li>oats 2</ul>");
        for alone in [Alone::Plain, Alone::PageModel] {
            let labeled = label_page(&list, None, None, &CleanOptions { alone, ..how });
            assert!(labeled.labels.text_nodes(&list).contains("rye 3 oats 2"), "a page without prose");
        }
    }
}
