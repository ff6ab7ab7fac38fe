//! Applies a stored template to a page of its site (ALGORITHMS 2.8).

use super::density::by_density;
use crate::dom::{NodeId, Shape, Tree, normalized, text_digest, write_html, write_text};
use crate::settings::{Clean, Learn};
use crate::template::{Equality, Mapped, Template, Votes, map_trees};
use crate::tps::by_tag_paths;
use crate::witness::{Family, Labels, StoredFamily};

/// A template made ready for many pages.
pub struct Applier {
    by: By,
    learn: Learn,
    /// Of the key page when the template was learned.
    standing: Option<f64>,
}

/// What labels a page.
enum By {
    /// The template's nodes with their votes.
    Votes {
        shape: Box<Shape>,
        votes: Vec<u16>,
    },
    Witness(Box<Family>),
}

/// Which nodes of a page are template.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// By node number; false outside the body.
    pub is_template: Vec<bool>,
    /// Share of the template, weighted by votes, that the page shows.
    pub confidence: f64,
}

impl Applier {
    /// Prepares a template.
    pub fn new(template: &Template) -> Applier {
        let by = match template.family() {
            Some(family) => By::Witness(Box::new(family)),
            None => By::Votes {
                shape: Box::new(template.shape()),
                votes: template.nodes.iter().map(|node| node.votes).collect(),
            },
        };
        Applier { by, learn: template.learn.clone(), standing: template.standing }
    }

    /// Witnesses that no template was made of.
    pub fn of(family: Family, learn: &Learn) -> Applier {
        Applier { by: By::Witness(Box::new(family)), learn: learn.clone(), standing: None }
    }

    /// Labels a page: by the witnesses, or by mapping the template to it from the body down.
    pub fn apply(&self, page: &Tree) -> Applied {
        match &self.by {
            By::Witness(family) => Applied::of_labels(family.label(page)),
            By::Votes { shape, votes } => self.map(shape, votes, page),
        }
    }

    fn map(&self, shape: &Shape, votes: &[u16], page: &Tree) -> Applied {
        let mut applied = Applied { is_template: vec![false; page.len()], confidence: 0.0 };
        let Some(body) = page.body() else { return applied };
        if shape.is_empty() {
            return applied;
        }
        let equality = Equality::new(shape, &page.shape, &self.learn);
        let least_self = equality.least_self_scores();
        let mut weight: u64 = 0;
        map_trees(
            &equality,
            (NodeId::new(0), body),
            &self.learn,
            &least_self,
            |_| true,
            |mapped| {
                let Mapped { left, right, size } = mapped;
                applied.is_template[right..right + size].fill(true);
                weight += weigh(votes, left..left + size);
            },
        );
        let total = weigh(votes, 0..votes.len());
        applied.confidence = if total == 0 { 0.0 } else { weight as f64 / total as f64 };
        applied
    }

    /// Labels a page by the document frequency of its texts over the witnesses, where there are such.
    pub fn apply_by_frequency(&self, page: &Tree) -> Option<Applied> {
        match &self.by {
            By::Witness(family) => Some(Applied::of_labels(family.label_by_frequency(page))),
            By::Votes { .. } => None,
        }
    }

    /// How much of the template tonight's key page shows: of what it showed when the template was learned, by the other
    /// witnesses; or, where that is not known, the confidence of its labels. A falling share is a redesign.
    pub fn freshness(&self, url: u64, key: &Tree, applied: &Applied) -> f64 {
        match &self.by {
            By::Witness(family) => match self.standing {
                Some(standing) if standing > 0.0 => (family.standing(url, key) / standing).min(1.0),
                Some(_) => 0.0,
                None => applied.confidence,
            },
            By::Votes { .. } => applied.confidence,
        }
    }

    /// Lets a page of the site, found at the URL of this number, be evidence for others. Says whether it is kept as such.
    pub fn sharpen(&mut self, url: u64, page: &Tree, applied: &Applied) -> bool {
        match &mut self.by {
            By::Witness(family) => family.add(url, page, &applied.is_template),
            By::Votes { .. } => false,
        }
    }

    /// The witnesses for the store, where there are such.
    pub fn witnesses(&self) -> Option<StoredFamily> {
        match &self.by {
            By::Witness(family) => Some(family.store()),
            By::Votes { .. } => None,
        }
    }

    /// Name of the method that labels, as in the table of methods.
    pub fn method(&self) -> &'static str {
        match self.by {
            By::Votes { .. } => "etdm",
            By::Witness(_) => "witness",
        }
    }

    /// Share of the template that a page must show for it to be applied: `apply.min` of a template by votes, `clean.doubt`
    /// of witnesses.
    pub fn least_confidence(&self, how: &Clean) -> f64 {
        match self.by {
            By::Votes { .. } => self.learn.apply_min,
            By::Witness(_) => how.doubt,
        }
    }
}

/// Votes of these nodes. The body counts nothing: every page has one.
fn weigh(votes: &[u16], nodes: std::ops::Range<usize>) -> u64 {
    votes[nodes.start.max(1)..nodes.end.max(1)].iter().map(|v| u64::from(*v)).sum()
}

impl Applied {
    /// What the witnesses said.
    pub fn of_labels(labels: Labels) -> Applied {
        Applied { is_template: labels.is_template, confidence: labels.confidence }
    }

    /// The labelling of the key page itself: its votes.
    pub fn of_votes(key: &Tree, votes: &Votes) -> Applied {
        let counted = key.counted();
        let is_template = (0..key.len()).map(|n| counted.contains(&n) && votes.is_template(n)).collect();
        Applied { is_template, confidence: 1.0 }
    }

    /// The same with all that is no main text, by the page alone, taken for template too.
    pub fn main_text(self, page: &Tree) -> Applied {
        let (is_template, prose) = by_density(page, &self.is_template);
        // Where something else has labelled the page before, that is what there is confidence in.
        let confidence = if self.confidence > 0.0 { self.confidence } else { prose };
        Applied { is_template, confidence }
    }

    /// What lies outside the main region of the page's tag path sequence.
    pub fn by_tag_paths(page: &Tree, how: &Clean) -> Applied {
        Applied { is_template: by_tag_paths(page, &how.tps), confidence: 0.0 }
    }

    /// Nothing is template.
    pub fn nothing(page: &Tree) -> Applied {
        Applied { is_template: vec![false; page.len()], confidence: 0.0 }
    }

    /// The page's own text.
    pub fn text(&self, page: &Tree) -> String {
        write_text(page, |node| !self.is_template[node.index()])
    }

    /// The page's own text nodes, one after the other with a blank between: the form of the gold standards, which
    /// know no inline elements. `text` is the form for readers.
    pub fn text_nodes(&self, page: &Tree) -> String {
        let own = page.counted().filter(|n| !self.is_template[*n]).map(NodeId::new);
        own.filter(|n| page.is_text(*n)).map(|n| normalized(page.text(n))).collect::<Vec<_>>().join(" ")
    }

    /// Digest of the page's own text.
    pub fn text_digest(&self, page: &Tree) -> u64 {
        text_digest(page, |node| !self.is_template[node.index()])
    }

    /// The page without its template as HTML: a template element goes when nothing below it is the page's own,
    /// otherwise it stays as skeleton.
    pub fn html(&self, page: &Tree) -> String {
        let kept = self.kept(page);
        write_html(page, |node| kept[node.index()])
    }

    fn kept(&self, page: &Tree) -> Vec<bool> {
        let mut kept: Vec<bool> = self.is_template.iter().map(|t| !t).collect();
        for node in (1..page.len()).rev() {
            if kept[node] {
                kept[page.shape.parent[node] as usize] = true;
            }
        }
        kept
    }

    /// Run-length labels over the counted nodes, as the corpus writes them: `T` template, `N` not.
    pub fn labels(&self, page: &Tree) -> String {
        let labels: Vec<bool> = self.is_template[page.counted()].to_vec();
        labels.chunk_by(|a, b| a == b).map(|run| format!("{}{}", if run[0] { 'T' } else { 'N' }, run.len())).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dom::parse;
    use crate::page::PageUrl;
    use crate::settings::{NodeText, PageLimits, Preset};
    use crate::template::vote;

    fn page(html: &str) -> Tree {
        parse(html, &PageLimits::default())
    }

    fn learned(key: &Tree, voters: &[Tree], learn: &Learn) -> (Template, Votes) {
        let votes = vote(key, &voters.iter().collect::<Vec<_>>(), learn);
        let url = PageUrl::parse("http://s.com/").unwrap();
        (Template::of(key, &url, &[], voters.len(), &votes, learn), votes)
    }

    #[test]
    fn a_stored_template_cleans_another_page() {
        let layout = |text: &str| {
            page(&format!("<nav><a href=/>Home</a></nav><main><h1>{text}</h1></main><footer>(c)</footer>"))
        };
        let learn = Learn { text: NodeText::Equal, ..Preset::Thesis2014.learn() };
        let (template, _) = learned(&layout("a"), &[layout("b"), layout("c")], &learn);
        let template = Template::from_json(&template.to_json()).unwrap();
        let new = layout("new & own");
        let applied = Applier::new(&template).apply(&new);
        assert_eq!(applied.text(&new), "new & own\n");
        assert!(
            applied.html(&new).contains("<body> <main><h1>new &amp; own</h1></main></body>"),
            "{}",
            applied.html(&new)
        );
        assert!((applied.confidence - 1.0).abs() < 1e-9);
        assert!(Applier::new(&template).apply(&page("<table><tr><td>other</table>")).confidence < 0.5);
        assert_eq!(Applier::new(&template).apply(&page("<frameset>")).confidence, 0.0);
    }

    #[test]
    fn the_digest_tells_words_and_not_white_space_or_template() {
        let digest = |html: &str| {
            let tree = page(html);
            let mut applied = Applied::nothing(&tree);
            tree.all("b").for_each(|b| applied.is_template[tree.shape.subtree(b)].fill(true));
            applied.text_digest(&tree)
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
        assert!(refusal(&text.replace("\"schema\":1", "\"schema\":9")).contains("please update"));
        assert!(refusal(&text.replacen("\"p\":0", "\"p\":7", 1)).contains("node 0 has parent 7"));
        assert!(refusal("{}").contains("not a template"));
        assert!(refusal(&text.replacen("\"p\":1", "\"p\":5", 1)).contains("has parent 5"));
        assert!(refusal(&text.replace("\"k\":1", "\"k\":9")).contains("has position 9"));
        // A parameter that did not exist when it was written has the value that says what was done then.
        let old = text.replace("\"max_links\":5000,", "");
        assert!(old.len() < text.len());
        assert_eq!(Template::from_json(old.as_bytes()).unwrap(), template);
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
                let applied = Applier::new(&template).apply(&key);
                prop_assert_eq!(&applied.is_template, &Applied::of_votes(&key, &votes).is_template);
                let sure = if template.nodes.len() > 1 { 1.0 } else { 0.0 };
                prop_assert!((applied.confidence - sure).abs() < 1e-9);
            }
        }
    }
}
