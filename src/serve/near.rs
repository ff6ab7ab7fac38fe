//! Groups of pages of a site whose cleaned texts are the same, or nearly.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rayon::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::layout::{MenuEntry, document, site_link};
use super::site::page_address;
use super::words::count;
use super::{Inspector, Refusal};
use dehusk_corpus::export::minhash_bands;
use dehusk_html::{parse, write_text};
use dehusk_store::{Store, StoreError};

/// Pages of a site that are compared: each is read and parsed.
const MOST_PAGES: usize = 1000;
/// Pages that are read at once: each may have the size of a body that was fetched.
const BATCH: usize = 16;

/// The groups of a site, the largest first.
#[derive(Serialize)]
pub(super) struct Near {
    schema: u32,
    host: String,
    /// Pages that were compared.
    compared: usize,
    /// Whether the site has more pages than were compared.
    has_more: bool,
    groups: Vec<Group>,
}

/// Pages that say nearly the same.
#[derive(Serialize)]
struct Group {
    pages: Vec<Member>,
}

#[derive(Serialize)]
struct Member {
    url: String,
    /// Whether its text is that of the first page of the group.
    is_equal: bool,
    words: usize,
}

/// What is compared of a page. The text itself is not kept.
struct Compared {
    url: String,
    /// Hash of its text.
    text: u64,
    words: usize,
    bands: Vec<u64>,
}

impl Near {
    pub(super) fn load(inspector: &Inspector, store: &Store, host: &str) -> Result<Near, Refusal> {
        let Some(site) = store.site(host)? else {
            return Err(Refusal::Nothing(format!("no site {host} in this database")));
        };
        let (mut texts, mut after, mut has_more) = (Vec::new(), String::new(), false);
        loop {
            let rows = store.pages_after(&site.host, &after, BATCH)?;
            let Some(last) = rows.last() else { break };
            if texts.len() >= MOST_PAGES {
                has_more = true;
                break;
            }
            after.clone_from(&last.url);
            let read = rows.into_iter().map(|row| Ok((store.load_cleaned(&row)?, row.url)));
            let read = read.collect::<Result<Vec<_>, StoreError>>()?;
            let compared = |(html, url): (Option<String>, String)| {
                let text = write_text(&parse(&html?, &inspector.settings.core.parse), |_| true);
                let bands = minhash_bands(&text, inspector.settings.export.near);
                Some(Compared { url, text: xxh3_64(text.as_bytes()), words: text.split_whitespace().count(), bands })
            };
            texts.par_extend(read.into_par_iter().filter_map(compared));
        }
        Ok(Near { schema: 1, host: site.host, compared: texts.len(), has_more, groups: groups(&texts) })
    }

    pub(super) fn render(&self) -> Markup {
        let title = format!("Near-duplicates of {}", self.host);
        let n: usize = self.groups.iter().map(|group| group.pages.len()).sum();
        let body = html! {
            nav.crumbs aria-label="Place" { (site_link(&self.host)) " › near-duplicates" }
            h1 { "Near-duplicates" }
            p.lead {
                (count(n as i64)) " of " (count(self.compared as i64)) " pages say nearly the same as another one"
                @if self.has_more { "; the site has more pages, which were not compared" } "."
            }
            @if self.groups.is_empty() {
                section.empty { p { "No two cleaned texts of this site are alike." } }
            }
            @for (at, group) in self.groups.iter().enumerate() {
                h2 { "Group " (at + 1) ", " (count(group.pages.len() as i64)) " pages" }
                ul.nights { @for page in &group.pages { li {
                    a.url href=(page_address(&page.url)) { (page.url) } " "
                    span.dim { (count(page.words as i64)) " words" @if page.is_equal { ", equal" } @else { ", nearly equal" } }
                } } }
            }
            p.dim { "MinHash over the words, with the settings " code { "export.shingle" } ", " code { "export.bands" } " and " code { "export.rows" } "." }
        };
        document(&title, MenuEntry::Sites, &body)
    }
}

/// Texts that share a band, or are equal, are in one group.
fn groups(texts: &[Compared]) -> Vec<Group> {
    let mut first_of: Vec<usize> = (0..texts.len()).collect();
    let mut of_band: BTreeMap<u64, usize> = BTreeMap::new();
    let mut of_text: BTreeMap<u64, usize> = BTreeMap::new();
    for (at, compared) in texts.iter().enumerate().filter(|(_, compared)| compared.words > 0) {
        let equal = *of_text.entry(compared.text).or_insert(at);
        let near = compared.bands.iter().map(|band| *of_band.entry(*band).or_insert(at));
        for other in std::iter::once(equal).chain(near) {
            let (one, other) = (root(&first_of, at), root(&first_of, other));
            first_of[one.max(other)] = one.min(other);
        }
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..texts.len()).for_each(|at| members.entry(root(&first_of, at)).or_default().push(at));
    let mut groups: Vec<Group> = members
        .into_values()
        .filter(|members| members.len() > 1)
        .map(|members| {
            let first = texts[members[0]].text;
            let member = |at: usize| Member {
                url: texts[at].url.clone(),
                is_equal: texts[at].text == first,
                words: texts[at].words,
            };
            Group { pages: members.into_iter().map(member).collect() }
        })
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.pages.len()));
    groups
}

/// The first text of the group that a text is in.
fn root(first_of: &[usize], mut at: usize) -> usize {
    while first_of[at] != at {
        at = first_of[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_a_band_or_are_equal_are_one_group() {
        let texts: Vec<Compared> =
            [(1, &[1, 2][..], 9), (2, &[3], 9), (3, &[2, 3], 9), (4, &[], 2), (4, &[], 2), (5, &[], 0), (5, &[], 0)]
                .into_iter()
                .enumerate()
                .map(|(at, (text, bands, words))| Compared { url: at.to_string(), text, words, bands: bands.to_vec() })
                .collect();
        let found: Vec<Vec<(String, bool)>> = groups(&texts)
            .into_iter()
            .map(|group| group.pages.into_iter().map(|page| (page.url, page.is_equal)).collect())
            .collect();
        let page = |at: usize, is_equal| (at.to_string(), is_equal);
        assert_eq!(found, [vec![page(0, true), page(1, false), page(2, false)], vec![page(3, true), page(4, true)]]);
    }
}
