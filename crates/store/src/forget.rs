//! Erasure, as the owner of a site or the person on a page may ask for it: every row that holds or names it, whatever
//! site it is filed under, and a list of what never comes back.

use rustc_hash::FxHashSet;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::read::bare_host;
use super::sql::{Value, params};
use super::strings::feeds_source;
use super::{SiteId, Store, StoreError};
use dehusk_html::PageUrl;

/// What an erasure removed, and what it cannot reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Versions of pages.
    pub pages: usize,
    /// URLs.
    pub urls: usize,
    /// Rows of the log of requests.
    pub visits: usize,
    /// Templates.
    pub templates: usize,
    /// Sites.
    pub sites: usize,
    /// Other rows that named it, and do not any more.
    pub mentions: usize,
    /// Folders of archives that were written, which may hold copies.
    pub archives: Vec<String>,
}

/// What is forgotten: conditions on columns, with the parameters from `?2` on.
struct Erased {
    /// Addresses: the URL, or the origins of a site.
    addresses: Vec<String>,
    is_site: bool,
}

impl Erased {
    fn values<'v>(&'v self, first: Value<'v>) -> Vec<Value<'v>> {
        std::iter::once(first).chain(self.addresses.iter().map(|address| Value::from(address.as_str()))).collect()
    }

    /// Whether a column holds an address of it.
    fn is_at(&self, column: &str) -> String {
        let one = |n: usize| {
            if self.is_site {
                format!("{column} = ?{n} OR substr({column}, 1, length(?{n}) + 1) = ?{n} || '/'")
            } else {
                format!("{column} = ?{n}")
            }
        };
        format!("({})", (2..2 + self.addresses.len()).map(one).collect::<Vec<_>>().join(" OR "))
    }
}

impl Store {
    /// Removes every trace of a site: pages, URLs, templates, strings, rules and the log of requests, and what names it
    /// elsewhere.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be written.
    pub fn forget_site(&self, host: &str) -> Result<Forgotten, StoreError> {
        let bare = bare_host(host);
        let origins = ["http://", "https://", "http://www.", "https://www."].map(|scheme| format!("{scheme}{bare}"));
        let erased = Erased { addresses: origins.to_vec(), is_site: true };
        self.in_transaction(|| {
            let mut forgotten = Forgotten { archives: self.archives()?, ..Forgotten::default() };
            let sites: Vec<SiteId> =
                self.rows("SELECT id FROM sites WHERE host IN (?1, 'www.' || ?1)", params![&bare], |row| row.get(0))?;
            for site in sites {
                self.forget_rows_of(site, &mut forgotten)?;
            }
            self.forget_at(&erased, &mut forgotten)?;
            self.forget_names(&bare)?;
            forgotten.mentions += self.forget_in_settings(&bare)?;
            Ok(forgotten)
        })
    }

    /// Removes every version of a page, the log of its requests, and what names it elsewhere.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be written.
    pub fn forget_url(&self, url: &str) -> Result<Forgotten, StoreError> {
        let erased = Erased { addresses: vec![url.to_owned()], is_site: false };
        self.in_transaction(|| {
            let mut forgotten = Forgotten { archives: self.archives()?, ..Forgotten::default() };
            self.forget_at(&erased, &mut forgotten)?;
            Ok(forgotten)
        })
    }

    fn forget_rows_of(&self, site: SiteId, forgotten: &mut Forgotten) -> Result<(), StoreError> {
        let delete = |sql: &str| self.execute(sql, params![site]);
        forgotten.visits += delete("DELETE FROM visits WHERE site_id = ?1")?;
        forgotten.urls += delete("DELETE FROM urls WHERE site_id = ?1")?;
        forgotten.pages += delete("DELETE FROM pages WHERE site_id = ?1")?;
        delete("DELETE FROM states WHERE site_id = ?1")?;
        delete(
            "UPDATE pages SET template_id = NULL WHERE template_id IN (SELECT id FROM templates WHERE site_id = ?1)",
        )?;
        forgotten.templates += delete("DELETE FROM templates WHERE site_id = ?1")?;
        delete("UPDATE sites SET moved_to = NULL WHERE moved_to = ?1")?;
        forgotten.sites += delete("DELETE FROM sites WHERE id = ?1")?;
        Ok(())
    }

    /// Rows of any site that hold an address, and texts that name one.
    fn forget_at(&self, erased: &Erased, forgotten: &mut Forgotten) -> Result<(), StoreError> {
        let values = erased.values(Value::Null);
        let at = |column: &str| format!("(CAST(?1 AS TEXT) IS NULL AND {})", erased.is_at(column));
        let sql = format!("SELECT DISTINCT site_id FROM urls WHERE {}", at("url"));
        let sites: Vec<SiteId> = self.rows(&sql, &values, |row| row.get(0))?;
        for site in sites {
            self.forget_in_templates(site, erased)?;
        }
        forgotten.visits += self.execute(&format!("DELETE FROM visits WHERE {}", at("url")), &values)?;
        forgotten.urls += self.execute(&format!("DELETE FROM urls WHERE {}", at("url")), &values)?;
        forgotten.pages += self.execute(&format!("DELETE FROM pages WHERE {}", at("url")), &values)?;
        self.execute(&format!("DELETE FROM states WHERE {}", at("url")), &values)?;
        self.execute(&format!("UPDATE states SET moved_to = NULL WHERE {}", at("moved_to")), &values)?;
        if erased.is_site {
            self.execute(&format!("DELETE FROM robots WHERE {}", at("origin")), &values)?;
        }
        let key = format!("UPDATE sites SET key_url = 'http://' || host || '/' WHERE {}", at("key_url"));
        let seed = format!("UPDATE sites SET seed_url = NULL WHERE {}", at("seed_url"));
        forgotten.mentions += self.execute(&key, &values)? + self.execute(&seed, &values)?;
        for address in &erased.addresses {
            forgotten.mentions += self.forget_in_rights(address)?;
            // Lists of seeds are read once more where their name is not known any more.
            for (table, column, instead) in [
                ("visits", "reason", "NULL"),
                ("visits", "redirect_to", "NULL"),
                ("sites", "reason", "NULL"),
                ("site_runs", "reason", "NULL"),
                ("domains", "reason", "''"),
                ("runs", "seeds", "NULL"),
                ("runs", "settings", "'{}'"),
            ] {
                let names = self.connection.contains(column, "?1");
                let sql = format!("UPDATE {table} SET {column} = {instead} WHERE {names}");
                forgotten.mentions += self.execute(&sql, params![address])?;
            }
        }
        Ok(())
    }

    /// Removes the erased addresses from the training pages that the templates of a site name.
    fn forget_in_templates(&self, site: SiteId, erased: &Erased) -> Result<(), StoreError> {
        let is_erased = |url: &String| {
            erased.addresses.iter().any(|address| {
                url.strip_prefix(address.as_str()).is_some_and(|rest| {
                    if erased.is_site { rest.is_empty() || rest.starts_with('/') } else { rest.is_empty() }
                })
            })
        };
        let sql = "SELECT id FROM templates WHERE site_id = ?1";
        for id in self.rows::<i64>(sql, params![site], |row| row.get(0))? {
            self.change_template(id, |template| {
                let before = template.voters.len() + template.feeds.len();
                template.voters.iter_mut().filter(|url| is_erased(url)).for_each(String::clear);
                template.feeds.retain(|url| !is_erased(url));
                let is_key = is_erased(&template.key_url);
                if is_key {
                    template.key_url = format!("http://{}/", template.host);
                }
                is_key || before > 0
            })?;
        }
        let named = erased.is_at("key_url");
        let sql = format!("UPDATE templates SET key_url = '' WHERE site_id = ?1 AND {named}");
        self.execute(&sql, &erased.values(Value::from(site))).map(drop)
    }

    /// What is stored by the name of a host.
    fn forget_names(&self, bare: &str) -> Result<(), StoreError> {
        for name in [bare.to_owned(), format!("www.{bare}")] {
            for source in [name.clone(), feeds_source(&name)] {
                let sql = "DELETE FROM string_sources WHERE source_id IN (SELECT id FROM strings WHERE source = ?1)";
                self.execute(sql, params![&source])?;
                self.execute("DELETE FROM strings WHERE source = ?1", params![&source])?;
            }
            self.execute("DELETE FROM domains WHERE name = ?1", params![&name])?;
            if self.is_shared() {
                self.execute("DELETE FROM hosts WHERE key = ?1", params![&name])?;
            }
        }
        Ok(())
    }

    /// Clears the stored settings of runs that name a host.
    fn forget_in_settings(&self, bare: &str) -> Result<usize, StoreError> {
        let settings: Vec<(i64, String)> =
            self.rows("SELECT id, settings FROM runs", params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut n_changed = 0;
        for (run, _) in settings.iter().filter(|(_, settings)| names_host(settings, bare)) {
            n_changed += self.execute("UPDATE runs SET settings = '{}' WHERE id = ?1", params![*run])?;
        }
        Ok(n_changed)
    }

    /// Whether the template of a site was learned from this page.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be read.
    pub fn is_training_page(&self, url: &str) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM templates WHERE key_url = ?1)";
        self.row(sql, params![url], |row| row.get(0))
    }

    /// Folders of the archives that pages were written to.
    fn archives(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT warc FROM pages WHERE warc IS NOT NULL ORDER BY warc";
        self.rows(sql, params![], |row| row.get(0))
    }

    /// Keeps a host or a URL from being stored or requested again. Only its hash is noted, which names nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be written.
    pub fn keep_out(&self, hash: u64) -> Result<(), StoreError> {
        let sql = "INSERT INTO never (hash) VALUES (?1) ON CONFLICT DO NOTHING";
        self.execute(sql, params![hash as i64]).map(drop)
    }

    /// The hashes of what was kept out.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be read.
    pub fn kept_out(&self) -> Result<FxHashSet<u64>, StoreError> {
        let hashes: Vec<i64> = self.rows("SELECT hash FROM never", params![], |row| row.get(0))?;
        Ok(hashes.into_iter().map(|hash| hash as u64).collect())
    }
}

/// Whether a text names this host. A longer name that contains it (`banana.org` for `a.org`) is another host.
fn names_host(text: &str, bare: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.');
    text.match_indices(bare).any(|(at, _)| {
        let before = text[..at].strip_suffix("www.").unwrap_or(&text[..at]);
        !before.ends_with(is_of_name) && !text[at + bare.len()..].starts_with(is_of_name)
    })
}

/// The hash that a host is kept out by.
pub fn host_hash(host: &str) -> u64 {
    xxh3_64(bare_host(host).as_bytes())
}

/// Whether a URL, or its host, is among these hashes.
pub fn is_kept_out(url: &PageUrl, hashes: &FxHashSet<u64>) -> bool {
    !hashes.is_empty() && (hashes.contains(&host_hash(&url.authority())) || hashes.contains(&url.fingerprint()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunRequest;
    use crate::seed::Seed;
    use dehusk_core::rights::{Form, Place, Rights, Statement, Use, Verdict};

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    #[test]
    fn what_is_forgotten_leaves_no_trace_whatever_it_is_filed_under() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.db");
        let store = Store::create(&path, 3).unwrap();
        let run =
            store.begin_run(&RunRequest { settings: "{\"seeds\":\"a.org\"}", ..RunRequest::default() }).unwrap().id;
        let seeds = ["http://a.org/", "http://b.org/", "http://a.org/more"].map(|text| Seed::from(url(text)));
        store.queue_seeds(run, &mut seeds.into_iter(), 1).unwrap();
        store.mark_seeds(run, "http://a.org/ 1 2").unwrap();
        for (site, at) in
            [(1, "http://a.org/"), (2, "http://b.org/"), (2, "http://www.a.org/moved"), (2, "http://b.org/x")]
        {
            let sql = "INSERT INTO pages (run_id, site_id, url, fetched_at, status, digest, warc)
                VALUES (?1, ?2, ?3, 1, 200, '', 'archive')";
            store.execute(sql, params![run, site, at]).unwrap();
            let sql = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank) VALUES (?1, ?2, ?3, 1, 0, 0)";
            store.execute(sql, params![site, at.len() as i64, at]).unwrap();
            let sql = "INSERT INTO visits (run_id, site_id, url, kind, outcome, reason, redirect_to)
                VALUES (?1, ?2, ?3, 'page', 'redirected', 'from http://a.org/', 'http://a.org/there')";
            store.execute(sql, params![run, site, at]).unwrap();
            let sql = "INSERT INTO states (run_id, site_id, url, at, state, moved_to)
                VALUES (?1, ?2, ?3, 1, 'moved', 'http://a.org/there')";
            store.execute(sql, params![run, site, at]).unwrap();
        }
        let said = |words: &str| Statement::new(Form::Rsl, Place::Robots, words, vec![(Use::Train, Verdict::Deny)]);
        let [own, others] = ["http://a.org/l.xml", "http://a.org/of-b.xml"].map(|words| Rights::new([said(words)]));
        for (site, rights) in [(1, &own), (2, &others)] {
            let id = store.rights_id(rights).unwrap();
            let sql = "UPDATE pages SET rights_id = ?2 WHERE site_id = ?1 AND url LIKE 'http://_.org/'";
            store.execute(sql, params![site, id]).unwrap();
        }
        store.save_deferral("org", 9, "http://a.org/ answered 503").unwrap();
        store
            .execute(
                "UPDATE sites SET reason = 'leads to http://a.org/', seed_url = 'https://a.org' WHERE id = 2",
                params![],
            )
            .unwrap();
        let page = store.forget_url("http://b.org/x").unwrap();
        assert_eq!((page.pages, page.urls, page.visits), (1, 1, 1));
        assert_eq!(page.archives, ["archive"]);
        let site = store.forget_site("WWW.A.org").unwrap();
        assert_eq!((site.pages, site.sites), (2, 1), "the page of a moved host, too");
        assert!(site.mentions > 0);
        let left: Vec<String> = store.rows("SELECT statements FROM rights", params![], |row| row.get(0)).unwrap();
        let left = Rights::from_text(left.first().map(String::as_str));
        assert_eq!(
            (left.verdict(Use::Train), left.lines()),
            (Some(Verdict::Deny), vec!["rsl (robots.txt): ".to_owned()])
        );
        store.compact().unwrap();
        drop(store);
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(5).position(|window| window == b"a.org");
        let around = found.map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(60)..at + 20]).into_owned());
        assert_eq!(around, None, "the name is still in the file");
        assert!(bytes.windows(5).any(|window| window == b"b.org"), "the other site is still there");
    }

    #[test]
    fn what_is_kept_out_is_not_queued_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("n.db"), 3).unwrap();
        store.keep_out(host_hash("www.a.org")).unwrap();
        store.keep_out(url("http://b.org/x").fingerprint()).unwrap();
        let run = store.begin_run(&RunRequest::default()).unwrap().id;
        let seeds = ["http://a.org/", "https://www.a.org/y", "http://b.org/x", "http://b.org/z"];
        store.queue_seeds(run, &mut seeds.map(|text| Seed::from(url(text))).into_iter(), 1).unwrap();
        let sites = store.next_sites(run, 0, 9, false).unwrap();
        assert_eq!(sites.iter().map(|site| site.key_url.as_str()).collect::<Vec<_>>(), ["http://b.org/z"]);
    }
}
