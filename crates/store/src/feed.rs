//! New and changed pages, and pages that went, moved or returned, in the order in which they were found so: what a feed
//! is made of. Triggers of the schema write the table with the pages themselves, `states.rs` with their states, so that
//! no crash separates them.

use super::sql::params;

use super::read::{PAGE_COLUMN_COUNT, PAGE_COLUMNS, page};
use super::{PageRow, Store, StoreError};

/// A page of a feed.
#[derive(Clone, Debug)]
pub struct FeedRow {
    /// Number: later ones are greater, and none is given twice.
    pub seq: i64,
    /// `new`, `changed`, `gone`, `moved`, `blocked` or `returned`.
    pub change: String,
    /// Where it has moved to.
    pub moved_to: Option<String>,
    /// The page.
    pub page: PageRow,
}

impl Store {
    /// Number of the last page of the feed; 0 if there is none.
    pub fn last_of_feed(&self) -> Result<i64, StoreError> {
        self.wait_for_pages()?;
        self.row("SELECT COALESCE(max(seq), 0) FROM feed", params![], |row| row.get(0))
    }

    /// The next pages of the feed.
    pub fn feed_after(&self, seq: i64, limit: usize) -> Result<Vec<FeedRow>, StoreError> {
        let sql = format!(
            "SELECT {PAGE_COLUMNS}, f.seq, f.change, CASE WHEN f.change = 'moved' THEN
                (SELECT t.moved_to FROM states t WHERE t.url = p.url ORDER BY t.run_id DESC LIMIT 1) END FROM feed f JOIN pages p ON p.id = f.page_id
            JOIN sites s ON s.id = p.site_id WHERE f.seq > ?1 AND f.seq <= ?2 ORDER BY f.seq LIMIT ?3"
        );
        self.rows(&sql, params![seq, self.last_of_feed()?, limit as i64], |row| {
            let (seq, change) = (row.get(PAGE_COLUMN_COUNT)?, row.get(PAGE_COLUMN_COUNT + 1)?);
            Ok(FeedRow { seq, change, moved_to: row.get(PAGE_COLUMN_COUNT + 2)?, page: page(row)? })
        })
    }
}
