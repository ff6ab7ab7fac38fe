//! Parts of pages that change from visit to visit without news: counters, clocks, dates, tokens, rotating teasers.
//!
//! Two versions of a page are compared by their texts, each at its place: the names of the elements around it up to the
//! first that has classes or an id, and these, digits as 0. What differs is explained by parts of two kinds:
//!
//! - a *pattern* (Foschini 2007, section 3.3, mutable patterns): a text at a place that is the same but for numbers,
//!   such as "3 people are reading";
//! - a *slot*: a place of which at least half of the texts differ, such as a box of teasers.
//!
//! A part that differed on nearly every page of its site that was compared, night after night, says nothing when it
//! differs again. Who keeps count of the nights decides when that is so; a difference beyond the parts is a change.

use std::hash::{Hash, Hasher};

use dehusk_html::{NodeId, Tree, ancestors, normalized};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::metadata::month;

/// Elements around a text that tell its place, where none of them has a class or an id.
const NEAR: usize = 6;

/// Parts of one comparison that are told. A page in which more differs has changed.
const MOST_PARTS: usize = 64;

/// A text of a page at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Unit {
    slot: u64,
    /// The text with numbers as 0.
    pattern: u64,
    text: u64,
    has_number: bool,
    letters: u32,
}

/// The texts of a version of a page.
#[derive(Clone, Debug, Default)]
pub struct PageParts {
    units: Vec<Unit>,
    /// Places and patterns of the other texts of the page.
    others: FxHashSet<(u64, u64)>,
}

/// What differs between two versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The parts that differ.
    pub changed: Vec<u64>,
    /// Parts that are in both versions and do not differ.
    pub steady: Vec<u64>,
    /// Whether something differs beyond these parts.
    pub is_more: bool,
}

impl Difference {
    /// Whether everything that differs is one of these parts.
    pub fn is_within(&self, parts: &FxHashSet<u64>) -> bool {
        !self.is_more && self.changed.iter().all(|part| parts.contains(part))
    }
}

impl PageParts {
    /// The texts that `keeps` selects. Those that `is_ignored` are not compared.
    pub fn new(tree: &Tree, keeps: impl Fn(NodeId) -> bool, is_ignored: impl Fn(&str) -> bool) -> PageParts {
        let mut parts = PageParts::default();
        let mut slots = FxHashMap::default();
        for node in tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node)) {
            let text = normalized(tree.text(node));
            if text.is_empty() || is_ignored(&text) {
                continue;
            }
            let slot = *slots.entry(tree.shape.parent[node.index()]).or_insert_with(|| slot_of(tree, node));
            let (pattern, has_number) = pattern_of(&text);
            if !keeps(node) {
                parts.others.insert((slot, pattern));
                continue;
            }
            let letters = text.chars().filter(|c| c.is_alphanumeric()).count() as u32;
            parts.units.push(Unit { slot, pattern, text: hash(&text), has_number, letters });
        }
        parts
    }

    /// The texts without these parts: a digest of them in any order, and their letters and digits.
    pub fn beyond(&self, parts: &FxHashSet<u64>) -> (u64, usize) {
        let is_beyond = |unit: &&Unit| !parts.contains(&slot_part(unit.slot)) && !parts.contains(&pattern_part(unit));
        let mut units: Vec<(u64, u32)> =
            self.units.iter().filter(is_beyond).map(|unit| (unit.text, unit.letters)).collect();
        units.sort_unstable();
        (hash(&units), units.iter().map(|(_, letters)| *letters as usize).sum())
    }

    /// What differs between this version and a later one.
    pub fn compare(&self, now: &PageParts) -> Difference {
        let (before, after) = (counted(&self.units), counted(&now.units));
        let (mut totals, mut patterns) = (FxHashMap::<u64, [usize; 2]>::default(), FxHashMap::default());
        for (side, units) in [&before, &after].into_iter().enumerate() {
            for (unit, n) in units {
                totals.entry(unit.slot).or_default()[side] += n;
            }
        }
        let mut found = Difference::default();
        for (side, (units, others)) in [(&before, &after), (&after, &before)].into_iter().enumerate() {
            for (unit, n) in units {
                let n_same = others.get(unit).map_or(0, |other| (*other).min(*n));
                if n_same > 0 && side == 0 && unit.has_number {
                    found.steady.push(pattern_part(unit));
                }
                let entry: &mut (Unit, [usize; 2]) =
                    patterns.entry((unit.slot, unit.pattern)).or_insert((*unit, [0, 0]));
                entry.1[side] += n - n_same;
            }
        }
        // Texts that are the same but for numbers explain each other.
        let mut left = FxHashMap::<u64, [usize; 2]>::default();
        for (unit, [gone, come]) in patterns.into_values() {
            // What is no text of its own in the other version differs by its label, not by the page.
            let is_other = |parts: &PageParts| parts.others.contains(&(unit.slot, unit.pattern));
            let gone = if is_other(now) { gone.min(come) } else { gone };
            let come = if is_other(self) { come.min(gone) } else { come };
            let n_pairs = gone.min(come);
            if n_pairs > 0 {
                found.changed.push(pattern_part(&unit));
            }
            let slot = left.entry(unit.slot).or_default();
            (slot[0], slot[1]) = (slot[0] + gone - n_pairs, slot[1] + come - n_pairs);
        }
        for (slot, [gone, come]) in left {
            let [n_before, n_after] = totals.get(&slot).copied().unwrap_or_default();
            let n_left = gone.max(come);
            if n_left * 2 >= n_before.max(n_after) && n_left > 0 {
                found.changed.push(slot_part(slot));
            } else {
                found.is_more |= n_left > 0;
                found.steady.push(slot_part(slot));
            }
        }
        found.is_more |= found.changed.len() > MOST_PARTS;
        found.changed.truncate(MOST_PARTS);
        found.changed.sort_unstable();
        found.steady.sort_unstable();
        found.steady.dedup();
        found
    }
}

fn counted(units: &[Unit]) -> FxHashMap<Unit, usize> {
    let mut counts = FxHashMap::default();
    for unit in units {
        *counts.entry(*unit).or_default() += 1;
    }
    counts
}

fn pattern_part(unit: &Unit) -> u64 {
    hash(&("pattern", unit.slot, unit.pattern))
}

fn slot_part(slot: u64) -> u64 {
    hash(&("slot", slot))
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The elements around a text, up to the first with a class or an id: names, classes and ids, digits as 0.
///
/// What is further out differs from page to page: a counter has the same class below an article and below a list.
fn slot_of(tree: &Tree, text: NodeId) -> u64 {
    let mut hasher = FxHasher::default();
    for node in ancestors(tree, text).take(NEAR) {
        tree.name(node).hash(&mut hasher);
        let mut is_named = false;
        for attribute in ["id", "class"] {
            let value = tree.attr(node, attribute).unwrap_or_default();
            for word in value.split_ascii_whitespace() {
                without_numbers(word).hash(&mut hasher);
                is_named = true;
            }
        }
        if is_named {
            break;
        }
    }
    hasher.finish()
}

/// A text with numbers, words that have digits, and months as 0; and whether there were any.
fn pattern_of(text: &str) -> (u64, bool) {
    let (mut hasher, mut has_number) = (FxHasher::default(), false);
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if word.chars().any(|c| c.is_numeric()) || month(&word.to_lowercase()).is_some() {
            has_number = true;
            0_u8.hash(&mut hasher);
        } else {
            word.hash(&mut hasher);
        }
    }
    (hasher.finish(), has_number)
}

/// A word with each run of digits as 0.
fn without_numbers(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.chars() {
        if !c.is_numeric() {
            out.push(c);
        } else if !out.ends_with('0') {
            out.push('0');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    fn parts(html: &str) -> PageParts {
        PageParts::new(&parse(html, &ParseOptions::default()), |_| true, |_| false)
    }

    fn difference(before: &str, after: &str) -> Difference {
        parts(before).compare(&parts(after))
    }

    fn page(reading: usize, teasers: &str, text: &str) -> String {
        format!(
            "<main><p>{reading} people are reading</p><p>{text}</p><p>The end.</p></main><ul class=hot>{teasers}</ul>"
        )
    }

    #[test]
    fn numbers_and_boxes_are_parts_and_words_are_not() {
        let (old, new) = ("<li>Rye<li>Oats", "<li>Spelt<li>Wheat");
        let counter = difference(&page(3, old, "Rye"), &page(17, old, "Rye"));
        assert!(!counter.is_more && counter.changed.len() == 1, "{counter:?}");
        let both = difference(&page(3, old, "Rye"), &page(17, new, "Rye"));
        assert!(!both.is_more && both.changed.len() == 2, "{both:?}");
        let known: FxHashSet<u64> = both.changed.iter().copied().collect();
        assert!(counter.is_within(&known) && both.is_within(&known));
        let real = difference(&page(3, old, "Rye"), &page(17, new, "Rye grows on poor soil"));
        assert!(real.is_more && !real.is_within(&known), "{real:?}");
        assert_eq!(difference(&page(3, old, "Rye"), &page(3, old, "Rye")).changed, Vec::<u64>::new());
    }

    #[test]
    fn another_number_at_another_place_is_another_part() {
        let counter = difference("<p class=n>3 here<p class=price>7 euros", "<p class=n>4 here<p class=price>7 euros");
        let price = difference("<p class=n>3 here<p class=price>7 euros", "<p class=n>3 here<p class=price>8 euros");
        assert!(!price.is_within(&counter.changed.iter().copied().collect()));
        assert!(counter.steady.iter().any(|part| price.changed.contains(part)));
    }

    #[test]
    fn a_class_tells_the_place_wherever_it_is() {
        let difference = |page: [&str; 2]| {
            let of = |views: usize| format!("{}<span class=views>{views} views</span>{}", page[0], page[1]);
            difference(&of(3), &of(4)).changed
        };
        let article = difference(["<div class=post><p>Rye ", "</div>"]);
        assert_eq!(article.len(), 1);
        assert_eq!(difference(["<ul class=list><li>Oats ", "</ul>"]), article);
    }

    #[test]
    fn a_text_that_is_template_in_one_version_is_no_difference() {
        let page = |date: &str| parse(&format!("<p>Rye<footer>Today is {date}</footer>"), &ParseOptions::default());
        let (before, after) = (page("27 November"), page("28 November"));
        let is_rye = |tree: &Tree| tree.counted().map(NodeId::new).find(|node| tree.text(*node) == "Rye");
        let all = PageParts::new(&before, |_| true, |_| false);
        let without = PageParts::new(&after, |node| is_rye(&after) == Some(node), |_| false);
        for difference in [all.compare(&without), without.compare(&all)] {
            assert!(difference.changed.is_empty() && !difference.is_more, "{difference:?}");
        }
    }

    #[test]
    fn dates_differ_as_numbers_do() {
        let date = difference("<time>27 November 2026</time>", "<time>1 December 2026</time>");
        assert!(!date.is_more && date.changed.len() == 1, "{date:?}");
    }

    #[test]
    fn texts_that_match_are_not_compared() {
        let is_ignored = |text: &str| text.starts_with("Served by ");
        let of = |html: &str| PageParts::new(&parse(html, &ParseOptions::default()), |_| true, is_ignored);
        let difference = of("<p>Rye<p>Served by web-a").compare(&of("<p>Rye<p>Served by web-b"));
        assert!(difference.changed.is_empty() && !difference.is_more);
    }
}
