//! Values that most pages of a site state: a title, an address or a day that is on all of them is of none.

use rustc_hash::{FxHashMap, FxHashSet};

use super::found::{Fact, FoundFacts};
use super::site::{FEWEST_PAGES, LEAST_SHARE};
use super::{MetadataInput, found_facts};
use dehusk_html::{PageUrl, Tree};

/// A field that differs from page to page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Field {
    Title,
    Canonical,
    Description,
    Published,
    Modified,
}

const FIELDS: [Field; 5] = [Field::Title, Field::Canonical, Field::Description, Field::Published, Field::Modified];

/// The values that most pages of a site have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Constants {
    values: FxHashSet<(Field, String)>,
}

impl Constants {
    pub(super) fn of(pages: &[(Tree, Option<PageUrl>)]) -> Constants {
        let mut counts: FxHashMap<(Field, String), usize> = FxHashMap::default();
        for (tree, url) in pages {
            let mut found = found_facts(&MetadataInput::new(tree, url.as_ref()));
            for field in FIELDS {
                let mut values: Vec<String> = field.of(&mut found).drain(..).map(|fact| fact.value).collect();
                values.sort_unstable();
                values.dedup();
                values.into_iter().for_each(|value| *counts.entry((field, value)).or_default() += 1);
            }
        }
        let needed = ((pages.len() as f64 * LEAST_SHARE).ceil() as usize).max(FEWEST_PAGES);
        Constants { values: counts.into_iter().filter(|(_, n)| *n >= needed).map(|(value, _)| value).collect() }
    }

    /// Takes from what a page states what all pages do. A page whose own address is named as that of all keeps it.
    pub(super) fn remove_from(&self, found: &mut FoundFacts, url: Option<&PageUrl>) {
        let is_own = |field, value: &str| {
            field == Field::Canonical && url.is_some_and(|url| url.join(value).is_some_and(|named| named == *url))
        };
        for field in FIELDS.into_iter().filter(|_| !self.values.is_empty()) {
            field
                .of(found)
                .retain(|Fact { value, .. }| is_own(field, value) || !self.values.contains(&(field, value.clone())));
        }
    }
}

impl Field {
    fn of(self, found: &mut FoundFacts) -> &mut Vec<Fact> {
        match self {
            Field::Title => &mut found.titles,
            Field::Canonical => &mut found.canonical,
            Field::Description => &mut found.descriptions,
            Field::Published => &mut found.published,
            Field::Modified => &mut found.modified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::{Metadata, SiteMetadata};
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn what_all_pages_state_is_of_none() {
        let page = |n: usize| {
            let html = format!(
                "<title>Rye {n}</title><meta property=og:title content='Grains'><link rel=canonical href=/1>\
                 <meta name=description content='All on grains'><meta name=date content=2020-01-01><p>Text {n}"
            );
            let url = PageUrl::parse(&format!("https://s.example/{n}")).unwrap();
            (parse(&html, &ParseOptions::default()), Some(url))
        };
        let pages: Vec<_> = (1..6).map(page).collect();
        let site = SiteMetadata::learn(&pages);
        let read = |n: usize| {
            let (tree, url) = &pages[n - 1];
            Metadata::read(&MetadataInput { site: Some(&site), ..MetadataInput::new(tree, url.as_ref()) })
        };
        let second = read(2);
        assert_eq!(second.title.map(|title| title.value).as_deref(), Some("Rye 2"));
        assert_eq!((second.canonical_url, second.description, second.published), (None, None, None));
        assert_eq!(read(1).canonical_url.map(|url| url.value).as_deref(), Some("https://s.example/1"));
    }
}
