//! The main content of a page by all that is known of its site: what the training pages say about each block.
//!
//! Each training page keeps hashes of its blocks and the page model's logit of each (`PageBlocks`), made when it
//! becomes a training page, or later of its stored body. A small net reads, for each block of a page, the page model's
//! logit, the mean logit of the blocks in the same slot of the layout, the shares of training pages with the same text,
//! slot and pattern, and those of its neighbors. With one training page it falls back on the page model; it gets better
//! with each further page.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::amount::Favor;
use super::features::Facts;
use super::numbers::ln1p;
use super::page_model::JudgedPage;
use super::slot_means::with_slot_means;
use super::taught::TaughtSlots;
use super::weights::Weights;
use crate::Labels;
use dehusk_html::mix;

/// The inputs of the net: the length of the block, then these. `scripts/content/site_features.py` has the same.
pub(super) const NAMES: [&str; 13] = [
    "logit",
    "slot_logit",
    "same_text",
    "same_slot",
    "same_text_in_slot",
    "same_pattern",
    "repeated_near",
    "same_text_before",
    "same_text_behind",
    "logit_before",
    "logit_behind",
    "repeated_on_page",
    "ln_pages",
];

const WIDTH: usize = 1 + NAMES.len();

/// Blocks of a page that are kept. Others of a very long page are not known to the site.
const MOST_BLOCKS: usize = 2000;

/// Logits are kept in steps of this size.
const STEP: f32 = 1.0 / 12.0;

/// Logits beyond this one say no more: probability 1e-4.
const MOST_LOGIT: f32 = 9.21;

/// Words of a block beyond which it weighs no more in the mean of its slot.
const MOST_WORDS: f32 = 40.0;

/// Blocks on either side that count as near.
const NEAR: usize = 5;

/// Training pages beyond which their number says no more.
const MANY: f32 = 8.0;

/// Training pages that are read: one bit each.
const MOST_PAGES: usize = 64;

/// How much a block of so many words weighs among those of its slot.
pub(super) fn weight_in_slot(words: f32) -> f32 {
    (words + 1.0).min(MOST_WORDS)
}

/// What a training page keeps of its blocks. Numbers only: nothing of the page can be read from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageBlocks {
    /// Place of each block in the layout.
    pub(super) slots: Vec<u32>,
    /// Text of each block.
    pub(super) texts: Vec<u32>,
    /// Blocks with digits, and their text with digits as 0.
    pub(super) patterns: Vec<(u32, u32)>,
    /// Logit of the page model, in twelfths.
    pub(super) logits: Vec<i8>,
    /// Words, at most 255.
    pub(super) words: Vec<u8>,
}

impl PageBlocks {
    /// Replaces the hashes of texts.
    pub fn replace_hashes(&mut self, mut by: impl FnMut(u32) -> u32) {
        let patterns = self.patterns.iter_mut().map(|(_, pattern)| pattern);
        self.texts.iter_mut().chain(patterns).for_each(|text| *text = by(*text));
    }

    /// The blocks of a judged page.
    pub fn new(page: &JudgedPage<'_>) -> PageBlocks {
        let Some(facts) = &page.facts else { return PageBlocks::default() };
        let n = facts.measures.list.len().min(MOST_BLOCKS);
        let mut blocks = PageBlocks {
            slots: Vec::with_capacity(n),
            texts: Vec::with_capacity(n),
            patterns: Vec::new(),
            logits: Vec::with_capacity(n),
            words: Vec::with_capacity(n),
        };
        for (at, m) in facts.measures.list.iter().enumerate().take(MOST_BLOCKS) {
            blocks.slots.push(facts.slot(at) as u32);
            blocks.texts.push(m.text as u32);
            if m.pattern != m.text {
                blocks.patterns.push((at as u32, m.pattern as u32));
            }
            blocks.logits.push((page.logits[at].clamp(-MOST_LOGIT, MOST_LOGIT) / STEP).round() as i8);
            blocks.words.push(m.n_words().min(255.0) as u8);
        }
        blocks
    }

    /// Whether what was read from outside fits together.
    pub fn is_sound(&self) -> bool {
        let n = self.slots.len();
        n <= MOST_BLOCKS
            && [self.texts.len(), self.logits.len(), self.words.len()].iter().all(|len| *len == n)
            && self.patterns.iter().all(|(at, _)| (*at as usize) < n)
    }

    /// A number for the content.
    pub fn number(&self) -> u64 {
        let texts = self.slots.iter().zip(&self.texts).map(|(slot, text)| u64::from(*slot) << 32 | u64::from(*text));
        let judged =
            self.logits.iter().zip(&self.words).map(|(logit, n)| u64::from(logit.cast_unsigned()) << 8 | u64::from(*n));
        texts.chain(judged).fold(self.slots.len() as u64, mix)
    }

    fn logit(&self, at: usize) -> f32 {
        f32::from(self.logits[at]) * STEP
    }

    fn patterns(&self) -> Vec<u32> {
        let mut patterns = self.texts.clone();
        self.patterns.iter().for_each(|(at, pattern)| patterns[*at as usize] = *pattern);
        patterns
    }

    /// The mean logit of each slot, longer blocks weighing more.
    fn slot_means(&self) -> FxHashMap<u32, f32> {
        self.slot_sums(MOST_LOGIT).into_iter().map(|(slot, (sum, total))| (slot, sum / total)).collect()
    }

    /// Of each slot, the sum of its logits, limited to `most` and weighted by words, and of these weights.
    pub(super) fn slot_sums(&self, most: f32) -> FxHashMap<u32, (f32, f32)> {
        let mut sums: FxHashMap<u32, (f32, f32)> = FxHashMap::default();
        for (at, slot) in self.slots.iter().enumerate() {
            let weight = weight_in_slot(f32::from(self.words[at]));
            let (sum, total) = sums.entry(*slot).or_default();
            (*sum, *total) = (*sum + self.logit(at).clamp(-most, most) * weight, *total + weight);
        }
        sums
    }
}

/// The blocks of the training pages, ready to be looked up. A set of pages is a number with one bit each.
#[derive(Clone, Debug, Default)]
pub struct SiteBlocks {
    n_pages: usize,
    texts: FxHashMap<u32, u64>,
    patterns: FxHashMap<u32, u64>,
    in_slot: FxHashMap<(u32, u32), u64>,
    /// The pages that have a slot, ascending, with its mean logit there.
    slots: FxHashMap<u32, Vec<(u8, f32)>>,
}

impl SiteBlocks {
    /// Reads the training pages.
    pub fn new(pages: impl Iterator<Item = PageBlocks>) -> SiteBlocks {
        let mut site = SiteBlocks::default();
        for (number, page) in pages.filter(|page| page.is_sound()).take(MOST_PAGES).enumerate() {
            let bit = 1 << number;
            for (slot, text) in page.slots.iter().zip(&page.texts) {
                *site.texts.entry(*text).or_default() |= bit;
                *site.in_slot.entry((*slot, *text)).or_default() |= bit;
            }
            page.patterns().into_iter().for_each(|pattern| *site.patterns.entry(pattern).or_default() |= bit);
            for (slot, mean) in page.slot_means() {
                site.slots.entry(slot).or_default().push((number as u8, mean));
            }
            site.n_pages = number + 1;
        }
        site
    }

    /// Labels everything but the main content. `None` where no other page of the site is known.
    pub fn labels(&self, page: &JudgedPage<'_>, favor: Favor, taught: &TaughtSlots) -> Option<Labels> {
        let net = &Weights::of_site()?.net;
        let own = PageBlocks::new(page);
        let others = self.others(&own);
        let facts = page.facts.as_ref().filter(|_| others != 0 && !own.slots.is_empty())?;
        let mut blocks = net.page(own.slots.len());
        self.rows(facts, &own, others).iter().for_each(|row| blocks.add(row));
        let mut logits = blocks.logits();
        // Blocks of a very long page beyond those that are kept.
        logits.extend_from_slice(&page.logits[own.slots.len()..]);
        let mut logits = with_slot_means(facts, &logits);
        taught.apply(page, &mut logits);
        Some(page.labels_by(&logits, favor))
    }

    /// The training pages that are no version of this page. One is when it lacks hardly any of its words, and no other
    /// comes near: it knows what the page says, and not what is template.
    fn others(&self, own: &PageBlocks) -> u64 {
        /// Share of the words that another version lacks, at most; also as a part of what any other page lacks.
        const MAX_LACKING: f32 = 0.1;
        const MAX_LACKING_OF_OTHERS: f32 = 0.2;
        let all = if self.n_pages == MOST_PAGES { u64::MAX } else { (1 << self.n_pages) - 1 };
        let mut shared = vec![0.0_f32; self.n_pages];
        for (text, words) in own.texts.iter().zip(&own.words) {
            let pages = self.texts.get(text).copied().unwrap_or(0);
            bits(pages).for_each(|page| shared[page] += f32::from(*words));
        }
        let total = own.words.iter().map(|words| f32::from(*words)).sum::<f32>().max(1.0);
        let lacking: Vec<f32> = shared.iter().map(|shared| 1.0 - shared / total).collect();
        let Some(version) = (0..lacking.len()).min_by(|a, b| lacking[*a].total_cmp(&lacking[*b])) else { return 0 };
        // Copies of one content are one version.
        let least = lacking[version];
        let versions = (0..lacking.len()).filter(|page| lacking[*page] <= least).fold(0, |set, page| set | 1 << page);
        let nearest = (0..lacking.len()).filter(|page| lacking[*page] > least).map(|page| lacking[page]);
        let nearest = nearest.fold(f32::INFINITY, f32::min);
        let is_version = least == 0.0 || (least < MAX_LACKING && least < MAX_LACKING_OF_OTHERS * nearest);
        if is_version { all & !versions } else { all }
    }

    /// The inputs of the net for each block.
    fn rows(&self, facts: &Facts<'_>, own: &PageBlocks, others: u64) -> Vec<[f32; WIDTH]> {
        let k = others.count_ones() as f32;
        let share = |pages: Option<&u64>| (pages.copied().unwrap_or(0) & others).count_ones() as f32 / k;
        let patterns = own.patterns();
        let means = own.slot_means();
        let n = own.slots.len();
        let same_text: Vec<f32> = own.texts.iter().map(|text| share(self.texts.get(text))).collect();
        let (mut repeated, mut words) = (vec![0.0_f64], vec![0.0_f64]);
        for (share, n) in same_text.iter().zip(&own.words) {
            repeated.push(repeated[repeated.len() - 1] + f64::from(*share) * f64::from(*n));
            words.push(words[words.len() - 1] + f64::from(*n));
        }
        let between =
            |low: usize, high: usize| ((repeated[high] - repeated[low]) / (words[high] - words[low]).max(1.0)) as f32;
        let whole = between(0, n);
        let mut rows = Vec::with_capacity(n);
        for at in 0..n {
            let (slot, text) = (own.slots[at], own.texts[at]);
            let (before, behind) = (at.saturating_sub(1), (at + 1).min(n - 1));
            let (with_slot, slot_logit) = self.slot(slot, others, means.get(&slot).copied().unwrap_or(0.0));
            rows.push([
                ln1p(facts.measures.list[at].len),
                own.logit(at),
                slot_logit,
                same_text[at],
                with_slot / k,
                share(self.in_slot.get(&(slot, text))),
                share(self.patterns.get(&patterns[at])),
                between(at.saturating_sub(NEAR), (at + NEAR + 1).min(n)),
                same_text[before],
                same_text[behind],
                own.logit(before),
                own.logit(behind),
                whole,
                ln1p(k.min(MANY)),
            ]);
        }
        rows
    }

    /// How many of the pages have a slot, and its mean logit there and on the page itself.
    fn slot(&self, slot: u32, others: u64, own: f32) -> (f32, f32) {
        let (mut n, mut sum) = (0.0, 0.0);
        for (_, mean) in self.slots.get(&slot).into_iter().flatten().filter(|(page, _)| others >> page & 1 == 1) {
            (n, sum) = (n + 1.0, sum + mean);
        }
        (n, (sum + own) / (n + 1.0))
    }
}

/// The numbers of the bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, Tree, parse};

    fn page(name: &str) -> Tree {
        let html = format!(
            "<title>{name}</title><div class=top>Everything about grain, and where it grows, since 1990.</div>
            <div class=text><h1>{name}</h1><p>{name} is a grass, which is grown as a grain. It is used for bread, and for
            beer, in {name} country.</p></div><div class=box>Our newsletter comes every week, and it is free.</div>"
        );
        parse(&html, &ParseOptions::default())
    }

    fn blocks(names: &[&str]) -> Vec<PageBlocks> {
        names.iter().map(|name| PageBlocks::new(&JudgedPage::new(&page(name)))).collect()
    }

    fn text(site: &[PageBlocks], name: &str) -> Option<String> {
        let tree = page(name);
        let labels = SiteBlocks::new(site.iter().cloned()).labels(
            &JudgedPage::new(&tree),
            Favor::Balanced,
            &TaughtSlots::default(),
        )?;
        Some(labels.text(&tree))
    }

    #[test]
    fn what_other_pages_repeat_is_left_out() {
        let site = blocks(&["Rye", "Oats", "Barley", "Millet", "Rice"]);
        let text = text(&site, "Maize").unwrap();
        assert!(text.contains("Maize is a grass") && !text.contains("newsletter"), "{text}");
    }

    #[test]
    fn a_page_is_not_judged_by_its_own_version() {
        let site = blocks(&["Rye", "Oats", "Barley", "Millet"]);
        let known = text(&site, "Rye").unwrap();
        assert!(known.contains("Rye is a grass") && !known.contains("newsletter"), "{known}");
        assert_eq!(text(&site[..1], "Rye"), None, "nothing else is known");
    }

    #[test]
    fn what_was_stored_is_read_and_damage_is_seen() {
        let page = blocks(&["Rye 1990"]).remove(0);
        let json = serde_json::to_string(&page).unwrap();
        let read: PageBlocks = serde_json::from_str(&json).unwrap();
        assert!(read == page && read.is_sound() && read.number() == page.number());
        let damaged = PageBlocks { texts: Vec::new(), ..page.clone() };
        assert!(!damaged.is_sound());
        assert!(!PageBlocks { patterns: vec![(999, 1)], ..page }.is_sound());
    }
}
