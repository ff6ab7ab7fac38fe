//! The lists of classes of the elements of a site.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::names::class_token;
use super::vocabulary::Vocabulary;
use dehusk_html::ValueMemo;

/// The distinct lists of classes, ascending, and the values of `class` that have them.
#[derive(Default)]
pub(super) struct ClassLists {
    lists: Vec<Vec<u32>>,
    by_list: FxHashMap<Vec<u32>, u32>,
    by_value: ValueMemo<u32>,
    /// Number of classes of all lists.
    n_classes: usize,
}

/// Number of values, of their bytes and of classes above which lists are dropped instead of kept for the next page.
const MOST_VALUES: usize = 1 << 12;
const MOST_BYTES: usize = 1 << 18;
const MOST_CLASSES: usize = 1 << 14;

thread_local! {
    /// The lists that were kept last, and the version of their vocabulary.
    static KEPT: RefCell<(u64, ClassLists)> = RefCell::default();
}

impl ClassLists {
    /// The number of the list without classes.
    pub(super) const EMPTY: u32 = u32::MAX;

    /// The lists of classes of this vocabulary. Pages of a site have the same values for the most part: a thread keeps
    /// what it read of the last site.
    pub(super) fn kept(vocabulary: &Vocabulary) -> ClassLists {
        let (version, lists) = KEPT.take();
        if version == vocabulary.version() { lists } else { ClassLists::default() }
    }

    /// Keeps the lists for the next page, unless there are too many. They must be those of this vocabulary.
    pub(super) fn keep(self, vocabulary: &Vocabulary) {
        let has_few_values = self.by_value.n_values() <= MOST_VALUES && self.by_value.n_bytes() <= MOST_BYTES;
        if has_few_values && self.n_classes <= MOST_CLASSES {
            KEPT.set((vocabulary.version(), self));
        }
    }

    /// The number of the list of the classes that are kept of a value.
    pub(super) fn number(&mut self, value: &str, keeps: impl Fn(u32) -> bool) -> u32 {
        let ClassLists { lists, by_list, by_value, n_classes } = self;
        by_value.get_or_read(value, |value| {
            let tokens = value.split_ascii_whitespace().map(class_token);
            let mut list: Vec<u32> = tokens.filter(|class| keeps(*class)).collect();
            list.sort_unstable();
            list.dedup();
            if list.is_empty() {
                return Self::EMPTY;
            }
            *by_list.entry(list).or_insert_with_key(|list| {
                *n_classes += list.len();
                lists.push(list.clone());
                lists.len() as u32 - 1
            })
        })
    }

    /// The classes of a list, by its number.
    pub(super) fn list(&self, number: u32) -> &[u32] {
        self.lists.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// The classes of all lists.
    pub(super) fn classes(&self) -> impl Iterator<Item = u32> + '_ {
        self.lists.iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_kept_for_the_same_vocabulary_only() {
        let vocabulary: Vocabulary = ["a", "b"].map(class_token).into_iter().collect();
        let mut lists = ClassLists::kept(&vocabulary);
        let number = lists.number("b a x", |class| vocabulary.contains(class));
        assert_eq!(lists.list(number).len(), 2);
        assert_eq!(lists.number("x", |class| vocabulary.contains(class)), ClassLists::EMPTY);
        lists.keep(&vocabulary);
        let mut lists = ClassLists::kept(&vocabulary);
        assert_eq!(lists.number("b a x", |_| unreachable!("the value was read before")), number);
        lists.keep(&vocabulary);
        let mut more = vocabulary.clone();
        more.insert(class_token("x"));
        let mut lists = ClassLists::kept(&more);
        let number = lists.number("b a x", |class| more.contains(class));
        assert_eq!(lists.list(number).len(), 3);
    }

    #[test]
    fn too_many_values_and_too_long_lists_are_dropped() {
        let vocabulary = |n: usize| (0..n).map(|at| class_token(&at.to_string())).collect::<Vocabulary>();
        let is_kept = |vocabulary: &Vocabulary, values: &[String]| {
            let mut lists = ClassLists::default();
            values.iter().for_each(|value| {
                lists.number(value, |class| vocabulary.contains(class));
            });
            lists.keep(vocabulary);
            ClassLists::kept(vocabulary).by_value.n_values() > 0
        };
        let values: Vec<String> = (0..=MOST_VALUES).map(|at| format!("x{at}")).collect();
        let few = vocabulary(1);
        assert!(is_kept(&few, &values[1..]) && !is_kept(&few, &values));
        let long = |n: usize| [" ".repeat(n)];
        assert!(is_kept(&few, &long(MOST_BYTES)) && !is_kept(&few, &long(MOST_BYTES + 1)));
        let names: Vec<String> = (0..=MOST_CLASSES).map(|at| at.to_string()).collect();
        let many = vocabulary(names.len());
        assert!(is_kept(&many, &[names[1..].join(" ")]) && !is_kept(&many, &[names.join(" ")]));
    }
}
