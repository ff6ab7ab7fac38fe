//! The lists of classes of the elements of a page, each value of `class` read once.

use rustc_hash::FxHashMap;

use super::names::class_token;
use dehusk_html::ValueMemo;

/// The distinct lists of classes, ascending, and the values of `class` that have them.
#[derive(Default)]
pub(super) struct ClassLists {
    lists: Vec<Vec<u32>>,
    by_list: FxHashMap<Vec<u32>, u32>,
    by_value: ValueMemo<u32>,
}

impl ClassLists {
    /// The number of the list without classes.
    pub(super) const EMPTY: u32 = u32::MAX;

    /// The number of the list of the classes that are kept of a value.
    pub(super) fn number(&mut self, value: &str, keeps: impl Fn(u32) -> bool) -> u32 {
        let ClassLists { lists, by_list, by_value } = self;
        by_value.get_or_read(value, |value| {
            let tokens = value.split_ascii_whitespace().map(class_token);
            let mut list: Vec<u32> = tokens.filter(|class| keeps(*class)).collect();
            list.sort_unstable();
            list.dedup();
            if list.is_empty() {
                return Self::EMPTY;
            }
            *by_list.entry(list).or_insert_with_key(|list| {
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
    fn equal_lists_have_one_number() {
        let keeps = |class: u32| class != class_token("x");
        let mut lists = ClassLists::default();
        let number = lists.number("b a x", keeps);
        assert_eq!(lists.list(number).len(), 2);
        assert_eq!(lists.number("a  b a", keeps), number);
        assert_eq!(lists.number("x", keeps), ClassLists::EMPTY);
        assert_eq!(lists.number("b a x", |_| unreachable!("the value was read before")), number);
    }
}
