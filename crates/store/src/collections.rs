//! Templates that TEXT has found in collections of mixed pages (`dehusk cluster --store`).

use super::sql::params;

use super::{Store, StoreError};
use dehusk_template::text_mdl::TextTemplates;

impl Store {
    /// Saves the templates of a collection in the place of those that it had.
    pub fn save_collection(
        &self,
        name: &str,
        at: i64,
        n_pages: usize,
        templates: &TextTemplates,
    ) -> Result<(), StoreError> {
        let body = self.compress(&templates.to_json());
        let sql = "INSERT INTO collections (name, learned_at, n_pages, n_templates, body) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (name) DO UPDATE SET learned_at = ?2, n_pages = ?3, n_templates = ?4, body = ?5";
        let row = params![name, at, n_pages as i64, templates.templates.len() as i64, body];
        self.execute(sql, row).map(drop)
    }

    /// The templates of a collection.
    pub fn load_collection(&self, name: &str) -> Result<Option<TextTemplates>, StoreError> {
        if !self.has_collections()? {
            return Ok(None);
        }
        let sql = "SELECT body FROM collections WHERE name = ?1";
        let body: Option<Vec<u8>> = self.find(sql, params![name], |row| row.get(0))?;
        let what = format!("collection {name}");
        let read = |body: Vec<u8>| {
            let json = self.decompress(&what, &body)?;
            TextTemplates::from_json(&json).map_err(|e| self.damaged(&what, &e))
        };
        body.map(read).transpose()
    }

    /// The names of all collections.
    pub fn list_collections(&self) -> Result<Vec<String>, StoreError> {
        if !self.has_collections()? {
            return Ok(Vec::new());
        }
        self.rows("SELECT name FROM collections ORDER BY name", params![], |row| row.get(0))
    }

    /// A file that is only read may be from before there were collections.
    fn has_collections(&self) -> Result<bool, StoreError> {
        self.row(self.connection.has_table(), params!["collections"], |row| row.get(0))
    }
}
