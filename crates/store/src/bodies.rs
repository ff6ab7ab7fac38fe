//! What pages are made of: each packed body is stored once, however many pages have it. Triggers of the schema delete a
//! body with the last page that has it.

use super::sql::params;
use sha2::{Digest, Sha256};

use super::{Store, StoreError};

impl Store {
    /// The number of a packed body, which is stored if it is new.
    pub(super) fn body_id(&self, packed: &[u8]) -> Result<i64, StoreError> {
        let digest = Sha256::digest(packed);
        let sql = "INSERT INTO bodies (digest, body) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING RETURNING id";
        if let Some(new) = self.find(sql, params![digest.as_slice(), packed], |row| row.get(0))? {
            return Ok(new);
        }
        let sql = "SELECT id FROM bodies WHERE digest = ?1";
        self.row(sql, params![digest.as_slice()], |row| row.get(0))
    }

    /// The packed body of a page that was rendered, as it was fetched.
    pub(super) fn fetched_of(&self, page: i64) -> Result<Option<Vec<u8>>, StoreError> {
        self.row("SELECT fetched FROM page_bodies WHERE id = ?1", params![page], |row| row.get(0))
    }

    /// The packed body of a page: as fetched, or as its scripts have built it.
    pub(super) fn raw_of(&self, page: i64) -> Result<Vec<u8>, StoreError> {
        self.row("SELECT raw FROM page_bodies WHERE id = ?1", params![page], |row| row.get(0))
    }

    /// The packed cleaned form of a page, if it was cleaned.
    pub(super) fn cleaned_of(&self, page: i64) -> Result<Option<Vec<u8>>, StoreError> {
        self.row("SELECT cleaned FROM page_bodies WHERE id = ?1", params![page], |row| row.get(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(store: &Store) -> i64 {
        store.sqlite().query_row("SELECT count(*) FROM bodies", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_body_is_stored_once_and_goes_with_its_last_page() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("b.db"), 3).unwrap();
        let run = store.begin_run(&crate::RunRequest::default()).unwrap().id;
        let seed = dehusk_html::PageUrl::parse("http://a.org/").unwrap();
        store.queue_seeds(run, &mut std::iter::once(seed.into()), 1).unwrap();
        let insert = |id: i64, raw: &[u8], cleaned: &[u8]| {
            let (raw, cleaned) = (store.body_id(raw).unwrap(), store.body_id(cleaned).unwrap());
            let sql = "INSERT INTO pages (id, run_id, site_id, url, fetched_at, status, digest, raw_id, cleaned_id)
                VALUES (?1, ?2, 1, ?1, 0, 200, '', ?3, ?4)";
            store.execute(sql, params![id, run, raw, cleaned]).unwrap();
        };
        insert(1, b"body", b"text");
        insert(2, b"body", b"text");
        insert(3, b"body of today", b"text");
        assert_eq!(count(&store), 3);
        assert_eq!(store.raw_of(3).unwrap(), b"body of today");
        assert_eq!(store.cleaned_of(2).unwrap().as_deref(), Some(b"text".as_slice()));
        store.sqlite().execute("DELETE FROM pages WHERE id = 1", []).unwrap();
        assert_eq!(count(&store), 3);
        let other = store.body_id(b"other text").unwrap();
        store.sqlite().execute("UPDATE pages SET cleaned_id = ?1 WHERE id IN (2, 3)", [other]).unwrap();
        assert_eq!(count(&store), 3, "the former text has gone");
        store.sqlite().execute("DELETE FROM pages", []).unwrap();
        assert_eq!(count(&store), 0);
    }
}
