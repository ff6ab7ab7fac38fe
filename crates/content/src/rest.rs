//! What kind a block is that is neither template nor main content: comments, a byline, breadcrumbs, a table of contents
//! or related pages.
//!
//! A multinomial regression reads the features of the page model and the sub-words of class names. No gold standard
//! names these kinds: it is trained on the names that designers gave (`scripts/content/train_rest.py`), with half of
//! the names hidden, so that a block without names is told by its features. On domains left out, precision and recall
//! of comments are .83 and .84 with names, .59 and .62 without.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::class_words::{ClassWords, class_words};
use super::features::{Facts, N_FEATURES, feature_names};
use super::weights::{fnv, number};

/// A kind of block beside the main content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RestKind {
    /// What readers wrote below an article. The posts of a forum are its main content.
    Comments,
    /// Author, date and the like.
    Byline,
    /// The path from the home page.
    Breadcrumbs,
    /// Links to the sections of the page.
    Contents,
    /// Other pages that may interest the reader.
    Related,
}

impl RestKind {
    /// All kinds, in the order of the weights.
    pub const ALL: [RestKind; 5] =
        [RestKind::Comments, RestKind::Byline, RestKind::Breadcrumbs, RestKind::Contents, RestKind::Related];

    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            RestKind::Comments => "comments",
            RestKind::Byline => "byline",
            RestKind::Breadcrumbs => "breadcrumbs",
            RestKind::Contents => "contents",
            RestKind::Related => "related",
        }
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestKinds(u8);

impl RestKinds {
    /// The set with one kind more.
    #[must_use]
    pub fn with(self, kind: RestKind) -> RestKinds {
        RestKinds(self.0 | 1 << kind as u8)
    }

    /// Whether a kind is in the set.
    pub fn contains(self, kind: RestKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// Whether no kind is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl serde::Serialize for RestKinds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(RestKind::ALL.into_iter().filter(|kind| self.contains(*kind)).map(RestKind::name))
    }
}

/// Numbers of a score: one for each kind, and one for everything else.
const N: usize = RestKind::ALL.len() + 1;

/// The features that are read: all but the two sums of class names that the page model has learned.
const N_READ: usize = N_FEATURES - 2;

const CLIP: f32 = 4.0;

const MAGIC: &[u8] = b"dehusk content rest 1\n";

type Scores = [f32; N];

/// The weights of the regression.
struct RestWeights {
    mean: Vec<f32>,
    /// 1 / standard deviation.
    scale: Vec<f32>,
    features: Vec<Scores>,
    bias: Scores,
    /// By sub-word, near a block (0) and far from it (1).
    words: [FxHashMap<u32, Scores>; 2],
}

static REST: OnceLock<Option<RestWeights>> = OnceLock::new();

/// Checksum of the weights.
pub(super) fn weights_number() -> u64 {
    let sum = include_bytes!("rest.weights").strip_prefix(MAGIC).and_then(|rest| rest.first_chunk());
    sum.map_or(0, |sum| u64::from_le_bytes(*sum))
}

impl RestWeights {
    fn shipped() -> Option<&'static RestWeights> {
        REST.get_or_init(|| RestWeights::read(include_bytes!("rest.weights"))).as_ref()
    }

    /// Reads what `train_rest.py` has written: checksum, checksum of the features' names, their number, the number of
    /// sub-words, means, scales, weights by feature, bias; of each sub-word its hash, its place and its weights.
    fn read(bytes: &[u8]) -> Option<RestWeights> {
        let (sum, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
        if fnv(body) != u64::from_le_bytes(*sum) {
            return None;
        }
        let (trained_on, body) = body.split_first_chunk::<8>()?;
        let names = feature_names();
        if fnv(names[..N_READ].join("\n").as_bytes()) != u64::from_le_bytes(*trained_on) {
            return None;
        }
        let (head, body) = body.split_at_checked(8)?;
        let [n_features, n_words] = [0, 4].map(|at| number(head, at) as usize);
        let (numbers, words) = body.split_at_checked(4 * (N_READ * (2 + N) + N))?;
        if n_features != N_READ || words.len() != n_words.checked_mul(4 * (2 + N))? {
            return None;
        }
        let numbers: Vec<f32> = numbers.chunks_exact(4).map(|bytes| f32::from_bits(number(bytes, 0))).collect();
        let (mean, rest) = numbers.split_at(N_READ);
        let (scale, rest) = rest.split_at(N_READ);
        let (features, bias) = rest.split_at(N_READ * N);
        let mut by_place: [FxHashMap<u32, Scores>; 2] = Default::default();
        for row in words.chunks_exact(4 * (2 + N)) {
            let scores = std::array::from_fn(|at| f32::from_bits(number(row, 8 + 4 * at)));
            by_place.get_mut(number(row, 4) as usize)?.insert(number(row, 0), scores);
        }
        Some(RestWeights {
            mean: mean.to_vec(),
            scale: scale.to_vec(),
            features: features.chunks_exact(N).filter_map(|row| row.try_into().ok()).collect(),
            bias: bias.try_into().ok()?,
            words: by_place,
        })
    }

    fn kind(&self, row: &[f32], near: &[u32], far: &[u32]) -> Option<RestKind> {
        let mut scores = self.bias;
        for (at, weights) in self.features.iter().enumerate() {
            let value = ((row[at] - self.mean[at]) * self.scale[at]).clamp(-CLIP, CLIP);
            add(&mut scores, value, weights);
        }
        for (place, words) in [near, far].into_iter().enumerate() {
            let known = words.iter().filter_map(|word| self.words[place].get(word));
            known.for_each(|weights| add(&mut scores, 1.0, weights));
        }
        let best = (0..N).max_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
        RestKind::ALL.get(best).copied()
    }
}

fn add(scores: &mut Scores, value: f32, weights: &Scores) {
    scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += value * weight);
}

/// The kind of each block, as if none were template or main content. `None` is everything else.
pub(super) fn rest_kinds(facts: &Facts<'_>) -> Vec<Option<RestKind>> {
    let Some(weights) = RestWeights::shipped() else { return vec![None; facts.len()] };
    let mut names = class_words(facts).into_iter();
    let mut kinds = Vec::with_capacity(facts.len());
    facts.for_each_row(&ClassWords::default(), |row| {
        kinds.extend(names.next().map(|(near, far)| weights.kind(row, &near, &far)));
    });
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn the_shipped_weights_are_whole() {
        let bytes = include_bytes!("rest.weights");
        assert!(RestWeights::shipped().is_some(), "train again: scripts/content/README.md");
        for at in [0, 25, 40, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1;
            assert!(RestWeights::read(&damaged).is_none(), "byte {at}");
        }
        assert!(RestWeights::read(&bytes[..bytes.len() - 1]).is_none() && RestWeights::read(b"").is_none());
    }

    #[test]
    fn kinds_are_told_by_names_and_without_them() {
        let prose = "Rye is a grass, grown as a grain, and it is closely related to wheat and barley. ".repeat(4);
        let posts: String = (1..5)
            .map(|n| format!("<li class=comment><cite class=author>Ann {n}</cite><p>I like rye bread, too. Thanks!"))
            .collect();
        let html = format!(
            "<title>Rye</title><div class=breadcrumb><a href=/>Home</a> » <a href=/g>Grain</a> » Rye</div><main>
            <h1>Rye</h1><div class=byline>By Ann Miller, 12 May 2026</div><p>{prose}<p>{prose}</main>
            <ol class=comments>{posts}</ol><div class=related><h3>More on grain</h3><a href=/o>Oats</a></div>"
        );
        let tree = parse(&html, &ParseOptions::default());
        let facts = Facts::new(&tree);
        let kinds = rest_kinds(&facts);
        let kind = |text: &str| {
            let at = facts.blocks.list.iter().position(|block| facts.blocks.text_of(block).contains(text));
            kinds[at.unwrap()]
        };
        assert_eq!(kind("I like rye"), Some(RestKind::Comments));
        assert_eq!(kind("Ann Miller"), Some(RestKind::Byline));
        assert_eq!(kind("Home"), Some(RestKind::Breadcrumbs));
        assert_eq!(kind("More on grain"), Some(RestKind::Related));
        let nameless = html.replace("class=", "title=");
        let tree = parse(&nameless, &ParseOptions::default());
        let facts = Facts::new(&tree);
        let kinds = rest_kinds(&facts);
        assert_eq!(kinds[0], Some(RestKind::Breadcrumbs), "{:?}", facts.blocks.text_of(&facts.blocks.list[0]));
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        let set = RestKinds::default().with(RestKind::Related).with(RestKind::Comments);
        assert!(set.contains(RestKind::Related) && !set.contains(RestKind::Byline) && !set.is_empty());
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["comments","related"]"#);
    }
}
