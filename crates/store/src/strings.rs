//! Template strings of sources, and on how many of them each is found.

use super::sql::params;
use rustc_hash::FxHashSet;

use super::{Store, StoreError};
use dehusk_template::strings::StringTemplate;

/// The source of the strings that a crawl learns from the feeds of a host. No host has a slash, so no source that a
/// user has named after a host is replaced.
pub fn feeds_source(host: &str) -> String {
    format!("{host}/feeds")
}

/// A source whose strings are stored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct StringsRow {
    /// Its name: a host, or what a user called it.
    pub source: String,
    /// Unix time, milliseconds.
    pub learned_at: i64,
    /// Documents that it was learned from.
    pub documents: i64,
    /// Template strings.
    pub strings: i64,
}

impl Store {
    /// Saves the strings of a source in the place of those that it had.
    pub fn save_strings(&self, source: &str, at: i64, template: &StringTemplate) -> Result<(), StoreError> {
        self.in_transaction(|| self.write_strings(source, at, template))
    }

    /// Does what [`Store::save_strings`] does, within a transaction.
    pub(super) fn write_strings(&self, source: &str, at: i64, template: &StringTemplate) -> Result<(), StoreError> {
        let body = self.compress(&template.to_json());
        let hashes: FxHashSet<u64> = template.strings.iter().map(|string| template.hash(string)).collect();
        let sql = "INSERT INTO strings (source, learned_at, n_documents, n_strings, body) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (source) DO UPDATE SET learned_at = ?2, n_documents = ?3, n_strings = ?4, body = ?5
            RETURNING id";
        let row = params![source, at, template.n_documents as i64, template.strings.len() as i64, body];
        let id: i64 = self.row(sql, row, |row| row.get(0))?;
        self.execute("DELETE FROM string_sources WHERE source_id = ?1", params![id])?;
        let sql = "INSERT INTO string_sources (hash, source_id) VALUES (?1, ?2)";
        hashes.iter().try_for_each(|hash| self.execute(sql, params![*hash as i64, id]).map(drop))
    }

    /// The strings of a source.
    pub fn load_strings(&self, source: &str) -> Result<Option<StringTemplate>, StoreError> {
        if !self.has_strings()? {
            return Ok(None);
        }
        let sql = "SELECT body FROM strings WHERE source = ?1";
        let body: Option<Vec<u8>> = self.find(sql, params![source], |row| row.get(0))?;
        let what = format!("strings of {source}");
        let read = |body: Vec<u8>| {
            let json = self.decompress(&what, &body)?;
            StringTemplate::from_json(&json).map_err(|e| self.damaged(what.clone(), &e))
        };
        body.map(read).transpose()
    }

    /// Hashes of those strings of a source that are template of more than `max_share` of the other sources, and of more
    /// than two: idioms. Counted when it is asked for, so that it sharpens with every source that is learned.
    pub fn idioms(&self, source: &str, max_share: f64) -> Result<FxHashSet<u64>, StoreError> {
        if !self.has_strings()? {
            return Ok(FxHashSet::default());
        }
        let count = "SELECT count(*) FROM strings WHERE source <> ?1";
        let others: i64 = self.row(count, params![source], |row| row.get(0))?;
        let most = ((max_share * others as f64).floor() as i64).max(2);
        let sql = "SELECT own.hash FROM strings s JOIN string_sources own ON own.source_id = s.id
            WHERE s.source = ?1 AND ?2 < (SELECT count(*) FROM (SELECT 1 FROM string_sources other
                WHERE other.hash = own.hash AND other.source_id <> s.id LIMIT ?2 + 1))";
        let rows = self.rows(sql, params![source, most], |row| row.get::<i64>(0));
        Ok(rows?.into_iter().map(|hash| hash as u64).collect())
    }

    /// Hashes of the strings that are template of more than `max_share` of all sources, and of more than two.
    pub fn frequent_strings(&self, max_share: f64) -> Result<FxHashSet<u64>, StoreError> {
        if !self.has_strings()? {
            return Ok(FxHashSet::default());
        }
        let sources: i64 = self.row("SELECT count(*) FROM strings", params![], |row| row.get(0))?;
        let most = ((max_share * sources as f64).floor() as i64).max(2);
        let sql = "SELECT hash FROM string_sources GROUP BY hash HAVING count(*) > ?1";
        let rows = self.rows(sql, params![most], |row| row.get::<i64>(0));
        Ok(rows?.into_iter().map(|hash| hash as u64).collect())
    }

    /// All sources with strings, by name.
    pub fn list_strings(&self) -> Result<Vec<StringsRow>, StoreError> {
        if !self.has_strings()? {
            return Ok(Vec::new());
        }
        let sql = "SELECT source, learned_at, n_documents, n_strings FROM strings ORDER BY source";
        self.rows(sql, params![], |row| {
            let (source, learned_at) = (row.get(0)?, row.get(1)?);
            Ok(StringsRow { source, learned_at, documents: row.get(2)?, strings: row.get(3)? })
        })
    }

    /// A file that is only read may be from before there were strings.
    fn has_strings(&self) -> Result<bool, StoreError> {
        self.row(self.connection.has_table(), params!["strings"], |row| row.get(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_settings::Settings;
    use dehusk_template::strings::{Corpus, Document, Patterns};
    use dehusk_template::strings::{StringOptions, StringTokens};

    fn learn(texts: [&str; 2]) -> StringTemplate {
        let mut collection = Corpus::new(Patterns::none(), StringTokens::Ws);
        for text in texts {
            let prepared = collection.prepare(Document::Text(text));
            collection.add(prepared).unwrap();
        }
        StringTemplate::learn(collection, &StringOptions { max_idiom: 0, ..Settings::default().core.strings }).unwrap()
    }

    #[test]
    fn what_most_sources_say_is_an_idiom() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("a.db"), 3).unwrap();
        let template = |own: &str| {
            let texts = [format!("a {own} mark b of the house c"), format!("d {own} mark e of the house f")];
            learn([&texts[0], &texts[1]])
        };
        for source in ["one", "two", "three", "four"] {
            store.save_strings(source, 7, &template(source)).unwrap();
            store.save_strings(source, 8, &template(source)).unwrap();
        }
        let stored = store.load_strings("one").unwrap().unwrap();
        assert_eq!(stored, template("one"));
        let idioms_of = |store: &Store| store.idioms("one", 0.05).unwrap();
        let idioms = idioms_of(&store);
        let idioms: Vec<String> = stored
            .strings
            .iter()
            .filter(|string| idioms.contains(&stored.hash(string)))
            .map(|string| stored.text(string))
            .collect();
        assert_eq!(idioms, ["of the house"]);
        let frequent = store.frequent_strings(0.05).unwrap();
        assert_eq!(frequent, idioms_of(&store), "of the source that is asked about");
        assert!(store.idioms("one", 1.0).unwrap().is_empty(), "on no more than all others");
        assert!(store.load_strings("none").unwrap().is_none());
        let rows = store.list_strings().unwrap();
        assert_eq!(rows.iter().map(|row| row.source.as_str()).collect::<Vec<_>>(), ["four", "one", "three", "two"]);
        assert_eq!((rows[0].learned_at, rows[0].documents, rows[0].strings), (8, 2, 2));
    }
}
