//! Writes and reads templates. Every version of a site's template is kept.

use std::borrow::Cow;

use super::sql::{Row, params};
use xxhash_rust::xxh3::xxh3_64;

use super::read::bare_host;
use super::{SiteId, Store, StoreError};
use dehusk_content::TaughtPages;
use dehusk_template::serialized::json_of;
use dehusk_template::site_model::StoredTrainingSet;
use dehusk_template::template::Template;

impl Store {
    /// Saves a template as the newest version of its site; the same template again is the same version. What was taught
    /// of the site is kept, unless the template has labels of its own.
    pub fn save_template(&self, site: i64, run: Option<i64>, at: i64, template: &Template) -> Result<i64, StoreError> {
        let newest = self.newest_version(site)?;
        let mut version = 1;
        let mut template = Cow::Borrowed(template);
        if let Some((id, number, body)) = newest {
            let former = self.read_template("a site", &body).ok().map(|former| former.taught());
            if let Some(taught) = former.filter(|taught| !taught.is_empty() && template.taught().is_empty()) {
                template.to_mut().teach(taught);
            }
            // One that cannot be read back is another one.
            if self.decompress(&format!("template {id}"), &body).is_ok_and(|body| body == template.to_bytes()) {
                return Ok(id);
            }
            version = number + 1;
        }
        let parameters = json_of(&template.learn);
        let sql = "INSERT INTO templates
            (site_id, version, run_id, learned_at, method, parameters, key_url, n, m, t, loads, n_nodes, schema, body)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) RETURNING id";
        let row = params![
            site,
            version,
            run,
            at,
            template.method.name(),
            format!("{:016x}", xxh3_64(&parameters)),
            &template.key_url,
            template.n_wanted as i64,
            template.n_voters as i64,
            template.min_votes as i64,
            template.loads as i64,
            template.n_nodes() as i64,
            template.schema,
            self.compress(&template.to_bytes())
        ];
        let id = self.row(sql, row, |row| row.get(0))?;
        template.training_set.as_ref().map_or(Ok(()), |set| self.save_kinds(id, set))?;
        Ok(id)
    }

    /// Saves the kinds of the training pages of a template in the place of those it had.
    fn save_kinds(&self, template: i64, set: &StoredTrainingSet) -> Result<(), StoreError> {
        self.execute("DELETE FROM template_kinds WHERE template_id = ?1", params![template])?;
        let sql = "INSERT INTO template_kinds (template_id, fingerprint, kind) VALUES (?1, ?2, ?3)
            ON CONFLICT (template_id, fingerprint) DO NOTHING";
        set.page_kinds()
            .try_for_each(|(url, kind)| self.execute(sql, params![template, url as i64, kind as i64 + 1]).map(drop))
    }

    /// Saves a template that no crawl learned, with its site when that is new.
    pub fn import_template(&self, template: &Template, at: i64) -> Result<i64, StoreError> {
        let sql = "INSERT INTO sites (host, key_url, updated_at) VALUES (?1, ?2, ?3)
            ON CONFLICT (host) DO UPDATE SET updated_at = ?3 RETURNING id";
        let row = params![&template.host, &template.key_url, at];
        let site = self.row(sql, row, |row| row.get(0))?;
        self.save_template(site, None, at, template)
    }

    /// Replaces the training pages of the newest template of a site. The version stays the same, and so does what was
    /// taught of the site, perhaps while it was crawled.
    pub(super) fn save_training_set(&self, site: SiteId, mut set: StoredTrainingSet) -> Result<(), StoreError> {
        let Some((id, _, body)) = self.newest_version(site)? else { return Ok(()) };
        let mut template = self.read_template(&format!("site {site}"), &body)?;
        if template.training_set.is_some() {
            self.save_kinds(id, &set)?;
            set.taught = template.taught();
            template.training_set = Some(set);
            let body = self.compress(&template.to_bytes());
            self.execute("UPDATE templates SET body = ?2 WHERE id = ?1", params![id, body])?;
        }
        Ok(())
    }

    /// Changes a stored template, where `change` says that it did.
    pub(super) fn change_template(
        &self,
        id: i64,
        change: impl FnOnce(&mut Template) -> bool,
    ) -> Result<(), StoreError> {
        let body: Vec<u8> = self.row("SELECT body FROM templates WHERE id = ?1", params![id], |row| row.get(0))?;
        let mut template = self.read_template(&format!("template {id}"), &body)?;
        if change(&mut template) {
            let body = self.compress(&template.to_bytes());
            self.execute("UPDATE templates SET body = ?2 WHERE id = ?1", params![id, body])?;
        }
        Ok(())
    }

    /// Replaces what was taught of a site, in the newest version of its template. `None` where there is no template;
    /// whether it can be kept, otherwise.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the database cannot be read or written.
    pub fn teach(&self, host: &str, taught: TaughtPages) -> Result<Option<bool>, StoreError> {
        let sql = "SELECT t.id FROM templates t JOIN sites s ON s.id = t.site_id
            WHERE s.host IN (?1, 'www.' || ?1) ORDER BY t.learned_at DESC, t.version DESC LIMIT 1";
        let Some(id) = self.find(sql, params![bare_host(host)], |row| row.get(0))? else { return Ok(None) };
        let mut is_kept = false;
        self.change_template(id, |template| {
            is_kept = template.teach(taught);
            is_kept
        })?;
        Ok(Some(is_kept))
    }

    fn newest_version(&self, site: i64) -> Result<Option<(i64, i64, Vec<u8>)>, StoreError> {
        let sql = "SELECT id, version, body FROM templates WHERE site_id = ?1 ORDER BY version DESC LIMIT 1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        self.find(sql, params![site], row)
    }

    /// The template of a host: its newest version, or the one asked for. `www.` does not matter.
    pub fn load_template(&self, host: &str, version: Option<i64>) -> Result<Option<Template>, StoreError> {
        let bare = bare_host(host);
        let sql = "SELECT t.body FROM templates t JOIN sites s ON s.id = t.site_id
            WHERE s.host IN (?1, 'www.' || ?1) AND (CAST(?2 AS BIGINT) IS NULL OR t.version = ?2)
            ORDER BY t.learned_at DESC, t.version DESC LIMIT 1";
        let body: Option<Vec<u8>> = self.find(sql, params![bare, version], |row| row.get(0))?;
        body.map(|body| self.read_template(host, &body)).transpose()
    }

    /// The newest template of every site.
    pub fn load_newest_templates(&self) -> Result<Vec<Template>, StoreError> {
        let sql = "SELECT s.host, t.body FROM templates t JOIN sites s ON s.id = t.site_id
            WHERE t.version = (SELECT max(version) FROM templates WHERE site_id = t.site_id) ORDER BY s.host";
        let rows: Vec<_> = self.rows(sql, params![], |row| Ok((row.get::<String>(0)?, row.get::<Vec<u8>>(1)?)))?;
        // One that cannot be read must not hide the others.
        let read = |(host, body): &(String, Vec<u8>)| match self.read_template(host, body) {
            Ok(template) => Some(template),
            Err(e) => {
                tracing::warn!("{e}, skipped");
                None
            }
        };
        Ok(rows.iter().filter_map(read).collect())
    }

    /// The newest template of a site, and the run that learned it.
    pub(super) fn site_template(
        &self,
        site: SiteId,
        host: &str,
    ) -> Result<Option<(Option<i64>, Template)>, StoreError> {
        let sql = "SELECT run_id, body FROM templates WHERE site_id = ?1 ORDER BY version DESC LIMIT 1";
        let row = |row: &Row<'_>| Ok((row.get::<Option<i64>>(0)?, row.get::<Vec<u8>>(1)?));
        let newest = self.find(sql, params![site], row)?;
        // A site whose template cannot be read back learns anew.
        Ok(newest.and_then(|(run, body)| {
            let read = self.read_template(host, &body).map_err(|e| tracing::warn!("{e}"));
            Some((run, read.ok()?))
        }))
    }

    /// Row of the newest template of a site.
    pub(super) fn newest_template(&self, site: SiteId) -> Result<Option<i64>, StoreError> {
        Ok(self.newest_version(site)?.map(|(id, _, _)| id))
    }

    fn read_template(&self, host: &str, body: &[u8]) -> Result<Template, StoreError> {
        let what = format!("template of {host}");
        let bytes = self.decompress(&what, body)?;
        Template::from_bytes(&bytes).map_err(|e| self.damaged(what, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_content::JudgedPage;
    use dehusk_html::{ParseOptions, Tree, parse};
    use dehusk_template::learn_options::LearnOptions;
    use dehusk_template::site_model::{SiteModelOptions, TrainingSet};
    use dehusk_template::template::Provenance;

    #[test]
    fn what_is_taught_while_a_site_is_crawled_stays() {
        let page = |name: &str| {
            let html = format!("<nav><a href=/>Home</a><a href=/x>Grain</a></nav><h1>{name}</h1><p>{name} is a grass.");
            parse(&html, &ParseOptions::default())
        };
        let trees = ["Rye", "Oats", "Barley"].map(page);
        let numbered: Vec<(u64, &Tree)> = (0..).zip(&trees).collect();
        let (set, labels) = TrainingSet::learn(&numbered, &SiteModelOptions::default()).unwrap();
        let template =
            Template::from_training_set(&trees[0], Provenance::default(), &labels[0], &set, &LearnOptions::default());
        let template = Template { host: "a.org".to_owned(), key_url: "http://a.org/".to_owned(), ..template };
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("t.db"), 3).unwrap();
        store.import_template(&template, 0).unwrap();
        let mut taught = TaughtPages::default();
        assert!(taught.set(7, &JudgedPage::new(&trees[0]), &[None, Some(true), Some(false)]));
        assert_eq!(store.teach("b.org", taught.clone()).unwrap(), None);
        assert_eq!(store.teach("www.a.org", taught.clone()).unwrap(), Some(true));
        // The crawl, which began before, stores its training pages; then the site is learned anew.
        let stored = || store.load_template("a.org", None).unwrap().unwrap().taught();
        store.save_training_set(1, set.store()).unwrap();
        assert_eq!(stored(), taught);
        store.import_template(&Template { loads: 9, ..template }, 1).unwrap();
        assert_eq!(stored(), taught);
    }
}
