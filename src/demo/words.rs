//! Made-up text, reproducible from a seed and different for different seeds.

/// A small generator (splitmix64). The demo must be the same on every machine.
pub(super) struct Words(u64);

const ADJECTIVES: &[&str] = &[
    "early", "quiet", "broad", "narrow", "careful", "distant", "local", "modern", "northern", "open", "patient",
    "plain", "rapid", "recent", "shared", "steady", "sudden", "twofold", "useful", "western",
];
const NOUNS: &[&str] = &[
    "archive", "bridge", "canal", "garden", "harbor", "journal", "lantern", "library", "market", "meadow", "museum",
    "orchard", "railway", "river", "school", "station", "survey", "theater", "valley", "workshop",
];
const VERBS: &[&str] = &[
    "borders",
    "carries",
    "changes",
    "crosses",
    "describes",
    "explains",
    "follows",
    "gathers",
    "keeps",
    "leaves",
    "measures",
    "mentions",
    "needs",
    "opens",
    "repeats",
    "replaces",
    "serves",
    "shows",
    "supports",
    "surrounds",
];

impl Words {
    pub(super) fn new(seed: u64) -> Words {
        Words(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % n.max(1) as u64) as usize
    }

    fn one(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len())]
    }

    /// A heading.
    pub(super) fn title(&mut self) -> String {
        let (adjective, noun) = (self.one(ADJECTIVES), self.one(NOUNS));
        let mut title = format!("The {adjective} {noun}");
        if self.below(2) == 0 {
            title = format!("{title} and its {}", self.one(NOUNS));
        }
        title
    }

    /// A sentence.
    pub(super) fn sentence(&mut self) -> String {
        let mut text =
            format!("The {} {} {} a {}", self.one(ADJECTIVES), self.one(NOUNS), self.one(VERBS), self.one(NOUNS));
        if self.below(3) > 0 {
            text += &format!(" that {} the {} {}", self.one(VERBS), self.one(ADJECTIVES), self.one(NOUNS));
        }
        text + "."
    }

    /// Two to five sentences.
    pub(super) fn paragraph(&mut self) -> String {
        let n = 2 + self.below(4);
        (0..n).map(|_| self.sentence()).collect::<Vec<_>>().join(" ")
    }
}
