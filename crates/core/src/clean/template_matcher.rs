//! A site's template made ready to label pages.

use super::steps::MIN_FREQUENT;
use super::{CleanOptions, LabeledPage};
use dehusk_content::{Labels, LazyJudged, TaughtPages};
use dehusk_html::{ComparedTree, NodeId, Tree, mix};
use dehusk_template::etdm::{Equality, EtdmOptions, Mapped, map_trees};
use dehusk_template::method::Method;
use dehusk_template::site_model::{Candidate, MissingPage, StoredTrainingSet, TrainingSet};
use dehusk_template::template::Template;
use dehusk_template::text_mdl::TextOptions;

/// A template made ready to label many pages.
#[derive(Clone, Debug)]
pub struct TemplateMatcher {
    by: By,
    number: u64,
    /// Coverage of the key page when the template was learned.
    key_coverage: Option<f64>,
}

/// What labels a page.
#[derive(Clone, Debug)]
enum By {
    /// The template's nodes with their votes.
    Votes { template: Box<ComparedTree>, votes: Vec<u16>, options: Box<EtdmOptions> },
    /// The training pages.
    TrainingSet(Box<TrainingSet>),
    /// The document frequency of texts over the training pages (Gottron 2008).
    Frequency(Box<TrainingSet>),
    /// The cluster of a page among the training pages (Kim and Shim 2011).
    Text(Box<TrainingSet>, Box<TextOptions>),
}

impl By {
    fn number(&self) -> u64 {
        match self {
            By::TrainingSet(set) | By::Frequency(set) | By::Text(set, _) => set.number(),
            By::Votes { template, votes, .. } => {
                let hash = template.compared().hashes.full.first().copied().unwrap_or(0);
                votes.iter().fold(hash, |number, n| mix(number, u64::from(*n)))
            }
        }
    }
}

impl TemplateMatcher {
    /// Prepares a stored template.
    pub fn from_template(template: &Template) -> TemplateMatcher {
        TemplateMatcher::learned(template, template.training_set())
    }

    /// Prepares a template that was just learned, with the training set that it was made from.
    pub fn learned(template: &Template, training_set: Option<TrainingSet>) -> TemplateMatcher {
        let by = match training_set {
            Some(set) if template.method == Method::Gottron => By::Frequency(Box::new(set)),
            Some(set) if template.method == Method::Text => {
                By::Text(Box::new(set), Box::new(template.learn.text.clone()))
            }
            Some(set) => By::TrainingSet(Box::new(set)),
            None => By::Votes {
                template: Box::new(template.tree()),
                votes: template.nodes.iter().map(|node| node.votes).collect(),
                options: Box::new(template.learn.etdm.clone()),
            },
        };
        TemplateMatcher { number: by.number(), by, key_coverage: template.key_coverage }
    }

    /// Prepares training pages that no template was made from.
    pub fn from_training_set(set: TrainingSet) -> TemplateMatcher {
        let by = By::TrainingSet(Box::new(set));
        TemplateMatcher { number: by.number(), by, key_coverage: None }
    }

    /// Labels a page by the evidence of the training pages, or by mapping the template to it from the body down.
    pub fn label(&self, page: &Tree) -> Labels {
        self.label_judged(&LazyJudged::new(page))
    }

    /// Labels a page that others judge, too.
    pub(super) fn label_judged(&self, page: &LazyJudged<'_>) -> Labels {
        match &self.by {
            By::TrainingSet(set) => set.label_judged(page),
            By::Frequency(set) => set.label_by_frequency(page.tree),
            By::Text(set, how) => set.label_by_text(page.tree, how),
            By::Votes { template, votes, options } => map_template(template, votes, options, page.tree),
        }
    }

    /// Labels a page by the document frequency of its texts over the training pages, if there are any.
    pub fn label_by_frequency(&self, page: &Tree) -> Option<Labels> {
        match &self.by {
            By::TrainingSet(set) | By::Frequency(set) | By::Text(set, _) => Some(set.label_by_frequency(page)),
            By::Votes { .. } => None,
        }
    }

    /// How much of the template the key page shows now, from 0 to 1. A low value means that the site was redesigned.
    ///
    /// With training pages: the coverage of the key page by the others, relative to the coverage at the time of
    /// learning. With votes, or where that is unknown: the confidence of its labels.
    pub fn freshness(&self, url: u64, key: &Tree, labels: &Labels) -> f64 {
        match (&self.by, self.key_coverage) {
            (By::TrainingSet(set) | By::Frequency(set) | By::Text(set, _), Some(then)) if then > 0.0 => {
                (set.key_coverage(url, key) / then).min(1.0)
            }
            (By::TrainingSet(_) | By::Frequency(_) | By::Text(..), Some(_)) => 0.0,
            _ => labels.confidence,
        }
    }

    /// Labels a page that may be added to the training pages.
    pub fn candidate<'t>(&self, page: &'t Tree) -> Candidate<'t> {
        match &self.by {
            By::TrainingSet(set) => set.candidate(page),
            By::Votes { .. } | By::Frequency(_) | By::Text(..) => Candidate::labeled(page, self.label(page)),
        }
    }

    /// Adds a labeled page of the site, found at the URL with this number, to the training pages. Returns whether it is
    /// kept.
    pub fn add_page(&mut self, url: u64, page: Candidate<'_>) -> bool {
        let is_kept = match &mut self.by {
            By::TrainingSet(set) => set.add(url, page),
            // The training set is a cluster of linked pages.
            By::Votes { .. } | By::Frequency(_) | By::Text(..) => false,
        };
        if is_kept {
            self.number = self.by.number();
        }
        is_kept
    }

    /// The labels of a page that was added or learned from, if they stand: see [`TrainingSet::confirm_labels`].
    pub fn confirm_labels(&self, url: u64) -> Option<Labels> {
        match &self.by {
            By::TrainingSet(set) => set.confirm_labels(url),
            By::Votes { .. } | By::Frequency(_) | By::Text(..) => None,
        }
    }

    /// Whether the training set has fewer extra pages than it may have.
    pub fn has_room(&self) -> bool {
        matches!(&self.by, By::TrainingSet(set) if set.has_room())
    }

    /// Whether a version of the page with this number is a training page.
    pub fn knows(&self, url: u64) -> bool {
        self.training_set().is_some_and(|set| set.knows(url))
    }

    /// A number for what labels: matchers with the same one label every page alike.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The training pages, if there are any.
    pub fn training_set(&self) -> Option<&TrainingSet> {
        match &self.by {
            By::TrainingSet(set) | By::Frequency(set) | By::Text(set, _) => Some(set),
            By::Votes { .. } => None,
        }
    }

    /// Replaces what somebody has said about the blocks of some pages. Votes know no blocks.
    pub fn teach(&mut self, taught: TaughtPages) {
        if let By::TrainingSet(set) = &mut self.by {
            set.teach(taught);
            self.number = self.by.number();
        }
    }

    /// What the site gives for an address that it does not have; `None` if it was not asked.
    pub fn missing_page(&self) -> Option<&MissingPage> {
        self.training_set().and_then(TrainingSet::missing_page)
    }

    /// Keeps what the site gives for an address that it does not have. Votes keep nothing.
    pub fn set_missing_page(&mut self, page: MissingPage) {
        if let By::TrainingSet(set) | By::Frequency(set) | By::Text(set, _) = &mut self.by {
            set.set_missing_page(page);
        }
    }

    /// Whether somebody has labeled pages of the site.
    pub fn has_taught(&self) -> bool {
        self.training_set().is_some_and(|set| !set.taught().is_empty())
    }

    /// The kind of a page that the site model has labeled, from 0: its number among the sizes of the kinds.
    pub fn kind_of(&self, labeled: &LabeledPage) -> Option<usize> {
        match &self.by {
            By::TrainingSet(set) if labeled.method == Method::SiteModel => set.kind_of(&labeled.labels),
            _ => None,
        }
    }

    /// The training pages for the store, if there are any.
    pub fn stored_training_set(&self) -> Option<StoredTrainingSet> {
        match &self.by {
            By::TrainingSet(set) | By::Frequency(set) | By::Text(set, _) => Some(set.store()),
            By::Votes { .. } => None,
        }
    }

    /// The method that labels.
    pub fn method(&self) -> Method {
        match self.by {
            By::Votes { .. } => Method::Etdm,
            By::TrainingSet(_) => Method::SiteModel,
            By::Frequency(_) => Method::Gottron,
            By::Text(..) => Method::Text,
        }
    }

    /// Smallest confidence with which labels are used: `etdm.min_confidence` for votes, `clean.min_confidence` for
    /// training pages, a tenth of the texts for document frequency.
    pub fn min_confidence(&self, clean: &CleanOptions) -> f64 {
        match &self.by {
            By::Votes { options, .. } => options.min_confidence,
            By::TrainingSet(_) | By::Text(..) => clean.min_confidence,
            By::Frequency(_) => MIN_FREQUENT,
        }
    }
}

/// Maps a template to a page (thesis, section 3). The confidence is the share of the template, weighted by votes, that
/// the page shows.
fn map_template(template: &ComparedTree, votes: &[u16], options: &EtdmOptions, page: &Tree) -> Labels {
    let mut labels = Labels::none(page);
    let Some(body) = page.body() else { return labels };
    if template.compared().shape.is_empty() {
        return labels;
    }
    let equality = Equality::new(template.compared(), page.compared(), options);
    let least_self = equality.least_self_scores();
    let mut weight: u64 = 0;
    map_trees(
        &equality,
        (NodeId::new(0), body),
        options,
        &least_self,
        |_| true,
        |Mapped { left, right, size }| {
            labels.is_template[right..right + size].fill(true);
            weight += sum_of_votes(votes, left..left + size);
        },
    );
    let total = sum_of_votes(votes, 0..votes.len());
    labels.with_confidence(if total == 0 { 0.0 } else { weight as f64 / total as f64 })
}

/// Votes of these nodes, without the body: every page has one.
fn sum_of_votes(votes: &[u16], nodes: std::ops::Range<usize>) -> u64 {
    votes[nodes.start.max(1)..nodes.end.max(1)].iter().map(|v| u64::from(*v)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use dehusk_html::PageUrl;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;
    use dehusk_template::etdm::{NodeText, Votes, vote};
    use dehusk_template::learn_options::LearnOptions;
    use dehusk_template::learn_options::Preset;
    use dehusk_template::site_model::SiteModelOptions;
    use dehusk_template::template::Provenance;

    fn page(html: &str) -> Tree {
        parse(html, &ParseOptions::default())
    }

    fn learned(key: &Tree, voters: &[Tree], learn: &LearnOptions) -> (Template, Votes) {
        let votes = vote(key, &voters.iter().collect::<Vec<_>>(), &learn.etdm);
        let url = PageUrl::parse("http://s.com/").unwrap();
        (
            Template::from_votes(
                key,
                Provenance { key_url: Some(&url), voters: &[], loads: voters.len() },
                &votes,
                learn,
            ),
            votes,
        )
    }

    #[test]
    fn a_stored_template_cleans_another_page() {
        let layout = |text: &str| {
            page(&format!("<nav><a href=/>Home</a></nav><main><h1>{text}</h1></main><footer>(c)</footer>"))
        };
        let learn = LearnOptions {
            etdm: EtdmOptions { text: NodeText::Equal, ..EtdmOptions::thesis2014() },
            ..Preset::Thesis2014.learn()
        };
        let (template, _) = learned(&layout("a"), &[layout("b"), layout("c")], &learn);
        let template = Template::from_json(&template.to_json()).unwrap();
        let new = layout("new & own");
        let labels = TemplateMatcher::from_template(&template).label(&new);
        assert_eq!(labels.text(&new), "new & own\n");
        let html = dehusk_render::write_own_html(&new, None, labels.is_own());
        assert!(html.contains("<body> <main><h1>new &amp; own</h1></main></body>"), "{html}");
        assert!((labels.confidence - 1.0).abs() < 1e-9);
        assert!(
            TemplateMatcher::from_template(&template).label(&page("<table><tr><td>other</table>")).confidence < 0.5
        );
        assert_eq!(TemplateMatcher::from_template(&template).label(&page("<frameset>")).confidence, 0.0);
    }

    #[test]
    fn the_digest_tells_words_and_not_white_space_or_template() {
        let digest = |html: &str| {
            let tree = page(html);
            let mut labels = Labels::none(&tree);
            tree.all("b").for_each(|b| labels.is_template[tree.shape.subtree(b)].fill(true));
            labels.text_digest(&tree)
        };
        let own = digest("<b>menu</b><p>one two</p><p>three</p>");
        assert_eq!(own, digest("<b>other menu</b>\n<p> one\n two </p>  <p>three"));
        assert_ne!(own, digest("<b>menu</b><p>one three</p><p>two</p>"));
        assert_ne!(own, digest("<b>menu</b><p>one two</p>"));
    }

    #[test]
    fn damaged_and_future_templates_are_refused() {
        let (template, _) = learned(&page("<p>a"), &[page("<p>a")], &Preset::Thesis2014.learn());
        let text = String::from_utf8(template.to_json()).unwrap();
        let refusal = |text: &str| Template::from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(refusal(&text.replace("\"schema\":3", "\"schema\":9")).contains("please update"));
        assert!(refusal(&text.replacen("\"p\":0", "\"p\":7", 1)).contains("node 0 has parent 7"));
        assert!(refusal("{}").contains("not a template"));
        assert!(refusal(&text.replacen("\"p\":1", "\"p\":5", 1)).contains("has parent 5"));
        assert!(refusal(&text.replace("\"k\":1", "\"k\":9")).contains("has position 9"));
    }

    #[test]
    fn the_store_reads_what_it_wrote() {
        let pages = ["<nav>Home</nav><p>a", "<nav>Home</nav><p>b", "<nav>Home</nav><p>c"].map(page);
        let numbered: Vec<(u64, &Tree)> = (0..).zip(&pages).collect();
        let (set, _) = TrainingSet::learn(&numbered, &SiteModelOptions::default()).unwrap();
        for training_set in [None, Some(set.store())] {
            let (template, _) = learned(&pages[0], &pages[1..], &LearnOptions::default());
            let template = Template { training_set, ..template };
            let (bytes, json) = (template.to_bytes(), template.to_json());
            assert!(bytes.len() < json.len());
            assert_eq!(Template::from_bytes(&bytes).unwrap(), template);
            let refusal = |bytes: &[u8]| Template::from_bytes(bytes).unwrap_err().to_string();
            let later = Template { schema: 9, ..template.clone() };
            assert!(refusal(&later.to_bytes()).contains("please update"));
            for end in [0, 1, bytes.len() / 2, bytes.len() - 1] {
                assert!(refusal(&bytes[..end]).contains("not a template"), "{end} bytes");
            }
        }
    }

    proptest! {
        #[test]
        fn applied_to_its_own_key_page_a_template_gives_the_vote_set(
            parts in proptest::collection::vec(0..12_usize, 0..40),
            edits in proptest::collection::vec((0..2_usize, 0..40_usize, 0..12_usize), 0..8),
        ) {
            const PARTS: [&str; 12] = [
                "<div class=a>", "<div class='a post-123'>", "</div>", "<p>", "x", "y ", "<ul>", "<li>1",
                "<li class=c title=t>2", "</ul>", "<span id=s>", "</span>",
            ];
            let html = |list: &[usize]| list.iter().map(|p| PARTS[*p]).collect::<String>();
            let mut voters = [parts.clone(), parts.clone()];
            for (voter, at, part) in edits {
                let list = &mut voters[voter];
                if at < list.len() { list[at] = part } else { list.push(part) }
            }
            let key = page(&html(&parts));
            let voters = voters.map(|v| page(&html(&v)));
            for preset in [Preset::Thesis2014, Preset::Votes] {
                let (template, votes) = learned(&key, &voters, &preset.learn());
                let template = Template::from_json(&template.to_json()).unwrap();
                let labels = TemplateMatcher::from_template(&template).label(&key);
                prop_assert_eq!(&labels.is_template, &votes.labels(&key).is_template);
                let sure = if template.nodes.len() > 1 { 1.0 } else { 0.0 };
                prop_assert!((labels.confidence - sure).abs() < 1e-9);
            }
        }
    }
}
