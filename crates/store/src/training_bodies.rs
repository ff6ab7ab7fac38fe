//! Templates whose training pages have the blocks by which main content is chosen.
//!
//! A crawl with `clean.keep = "own"` does not compute these blocks, because they would take a fifth of its CPU time.
//! They are computed from the stored bodies of the training pages when main content is first asked for.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rustc_hash::FxHashSet;

use super::read::bare_host;
use super::sql::{Row, params};
use super::{PackedPage, Store, StoreError, unpack, url_at};
use dehusk_content::{JudgedPage, PageBlocks};
use dehusk_html::{PageUrl, SameSite, Site};
use dehusk_html::{ParseOptions, parse_bytes};
use dehusk_template::template::Template;

/// A template, and the stored bodies of its training pages without blocks.
pub struct TemplateWithBodies {
    template: Template,
    /// With the numbers of their URLs.
    bodies: Vec<(u64, PackedPage)>,
}

impl TemplateWithBodies {
    /// The template with these blocks.
    pub fn with_blocks(self, options: &ParseOptions) -> Template {
        let TemplateWithBodies { mut template, bodies } = self;
        let blocks = |(number, page): (u64, PackedPage)| {
            let body = unpack(&page.raw)
                .inspect_err(|e| tracing::warn!("{}: the stored page cannot be read back: {e}", page.url))
                .ok()?;
            let (tree, _) = parse_bytes(&body, page.content_type.as_deref(), options);
            Some((number, PageBlocks::new(&JudgedPage::new(&tree))))
        };
        let blocks: Vec<(u64, PageBlocks)> = bodies.into_par_iter().filter_map(blocks).collect();
        if let Some(set) = &mut template.training_set {
            blocks.iter().for_each(|(number, blocks)| set.add_blocks(*number, blocks));
        }
        template
    }
}

impl Store {
    /// The template of a host, as [`Store::load_template`] finds it, with the blocks of its training pages. A training
    /// page that is no longer stored has none.
    pub fn load_template_with_blocks(
        &self,
        host: &str,
        version: Option<i64>,
        options: &ParseOptions,
    ) -> Result<Option<Template>, StoreError> {
        let found = self.load_template_with_bodies(host, version)?;
        Ok(found.map(|found| found.with_blocks(options)))
    }

    /// The same with the bodies that the blocks are made of.
    pub fn load_template_with_bodies(
        &self,
        host: &str,
        version: Option<i64>,
    ) -> Result<Option<TemplateWithBodies>, StoreError> {
        let Some(template) = self.load_template(host, version)? else { return Ok(None) };
        let numbers = template.training_set.as_ref().map_or_else(Vec::new, |set| set.without_blocks());
        let bodies = self.bodies_of(host, &template, &numbers)?;
        Ok(Some(TemplateWithBodies { template, bodies }))
    }

    /// The stored bodies of the training pages of a template. One that is no longer stored is left out.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the database cannot be read.
    pub fn training_pages(&self, template: &Template) -> Result<Vec<PackedPage>, StoreError> {
        let numbers = template.training_set.as_ref().map_or_else(Vec::new, |set| set.page_numbers());
        let bodies = self.bodies_of(&template.host, template, &numbers)?;
        Ok(bodies.into_iter().map(|(_, page)| page).collect())
    }

    fn bodies_of(
        &self,
        host: &str,
        template: &Template,
        numbers: &[u64],
    ) -> Result<Vec<(u64, PackedPage)>, StoreError> {
        let mut pages = Vec::new();
        for (number, page) in self.newest_pages(host, &template.key_url, numbers)? {
            pages.extend(self.load_packed(page)?.map(|page| (number, page)));
        }
        Ok(pages)
    }

    /// The rows of the newest versions of the pages of a host whose URLs have these numbers.
    fn newest_pages(&self, host: &str, key_url: &str, numbers: &[u64]) -> Result<Vec<(u64, i64)>, StoreError> {
        let host = bare_host(host);
        let numbers: FxHashSet<u64> = numbers.iter().copied().collect();
        let (mut found, mut missing) = (Vec::new(), FxHashSet::default());
        let sql = "SELECT u.page_id FROM urls u JOIN sites s ON s.id = u.site_id
            WHERE s.host IN (?1, 'www.' || ?1) AND u.fingerprint = ?2 AND u.page_id IS NOT NULL
            ORDER BY u.checked_at DESC LIMIT 1";
        for number in numbers {
            match self.find(sql, params![&host, number as i64], |row| row.get(0))? {
                Some(page) => found.push((number, page)),
                None => drop(missing.insert(number)),
            }
        }
        let Some(key) = PageUrl::parse(key_url).ok().filter(|_| !missing.is_empty()) else { return Ok(found) };
        // A page that was found under another scheme or host has the number of its URL on the origin of the key page.
        let names = [SameSite::Host, SameSite::Registrable].map(|same| Site::new(&key, same));
        let sql = "SELECT u.url, u.page_id FROM urls u JOIN sites s ON s.id = u.site_id
            WHERE s.host IN (?1, 'www.' || ?1) AND u.page_id IS NOT NULL ORDER BY u.checked_at DESC";
        self.rows(sql, params![&host], |row: &Row<'_>| {
            // A URL that cannot be read is that of no training page.
            let Ok(url) = url_at(row, 0) else { return Ok(()) };
            let page = row.get(1)?;
            let numbers = names.iter().filter_map(|site| site.claim(url.clone())).map(|url| url.fingerprint());
            found.extend(numbers.filter(|number| missing.remove(number)).map(|number| (number, page)));
            Ok(())
        })?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_by_the_url_that_the_site_gives_them() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("b.db"), 3).unwrap();
        let url = |text: &str| PageUrl::parse(text).unwrap();
        let number = |text: &str| url(text).fingerprint();
        let insert = "INSERT INTO runs (id, started_at, settings) VALUES (1, 0, '{}');
            INSERT INTO sites (id, host, key_url, run_id, updated_at)
                VALUES (1, 'www.a.org', 'https://www.a.org/', 1, 0), (2, 'b.org', 'http://b.org/', 1, 0);";
        store.sqlite().execute_batch(insert).unwrap();
        let stored =
            [(1, "https://www.a.org/x"), (1, "http://www.a.org/y"), (1, "https://a.org/z"), (2, "http://b.org/x")];
        for (page, (site, text)) in (1_i64..).zip(stored) {
            let sql = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank, page_id, checked_at)
                VALUES (?1, ?2, ?3, 'done', 0, 0, ?4, ?4)";
            store.execute(sql, params![site, number(text) as i64, text, page]).unwrap();
        }
        // A damaged row.
        let sql = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank, page_id, checked_at)
            VALUES (1, 7, 'no URL', 'done', 0, 0, 9, 9)";
        store.execute(sql, params![]).unwrap();
        let wanted =
            ["https://www.a.org/x", "https://www.a.org/y", "https://www.a.org/gone", "http://b.org/x"].map(number);
        let mut found = store.newest_pages("a.org", "https://www.a.org/", &wanted).unwrap();
        found.sort_by_key(|(_, page)| *page);
        assert_eq!(found, [(wanted[0], 1), (wanted[1], 2)], "neither one that is not stored nor one of another site");
        assert_eq!(store.newest_pages("b.org", "http://b.org/", &wanted).unwrap(), [(wanted[3], 4)]);
    }
}
