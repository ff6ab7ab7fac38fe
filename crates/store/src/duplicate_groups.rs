//! Groups of pages with the same text, or nearly: which page of each is kept.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

/// The group of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The page that is kept.
    pub kept: i64,
    /// Whether it has the same words.
    pub is_exact: bool,
}

/// Groups of pages, on disk. The first page of a group is its leader; the one with the greatest measure is kept, the
/// earliest of those.
pub struct DuplicateGroups {
    connection: Connection,
    path: std::path::PathBuf,
}

impl DuplicateGroups {
    /// Opens or makes the file.
    ///
    /// # Errors
    ///
    /// What SQLite says, with the file.
    pub fn open(path: &Path) -> Result<DuplicateGroups, String> {
        let open = || {
            let connection = Connection::open(path)?;
            connection.execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                CREATE TABLE IF NOT EXISTS members (page INTEGER PRIMARY KEY, leader INTEGER, text INTEGER NOT NULL,
                    measure INTEGER NOT NULL);
                CREATE TABLE IF NOT EXISTS groups (leader INTEGER PRIMARY KEY, kept INTEGER NOT NULL,
                    measure INTEGER NOT NULL);
                CREATE TABLE IF NOT EXISTS reached (id INTEGER PRIMARY KEY CHECK (id = 0), page INTEGER NOT NULL);
                INSERT OR IGNORE INTO reached VALUES (0, 0);
                BEGIN",
            )?;
            Ok(DuplicateGroups { connection, path: path.to_owned() })
        };
        open().map_err(|e: rusqlite::Error| format!("{}: {e}", path.display()))
    }

    fn wrap<T>(&self, result: rusqlite::Result<T>) -> Result<T, String> {
        result.map_err(|e| format!("{}: {e}", self.path.display()))
    }

    /// The page up to which all are in.
    ///
    /// # Errors
    ///
    /// What SQLite says.
    pub fn reached(&self) -> Result<i64, String> {
        self.wrap(self.connection.query_row("SELECT page FROM reached", [], |row| row.get(0)))
    }

    /// Adds a page with the digest of its words. `of` is the earlier page that it repeats.
    ///
    /// # Errors
    ///
    /// What SQLite says.
    pub fn add(&self, page: i64, text: u64, measure: i64, of: Option<i64>) -> Result<(), String> {
        self.wrap(self.try_add(page, text as i64, measure, of))
    }

    fn try_add(&self, page: i64, text: i64, measure: i64, of: Option<i64>) -> rusqlite::Result<()> {
        let insert = "INSERT OR REPLACE INTO members VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.connection.prepare_cached(insert)?;
        let Some(of) = of else {
            return insert.execute(params![page, None::<i64>, text, measure]).map(drop);
        };
        let find = "SELECT COALESCE(leader, page) FROM members WHERE page = ?1";
        let leader = self.connection.prepare_cached(find)?.query_row([of], |row| row.get(0)).optional()?;
        let leader: i64 = leader.unwrap_or(of);
        insert.execute(params![page, leader, text, measure])?;
        let begin = "INSERT OR IGNORE INTO groups SELECT page, page, measure FROM members WHERE page = ?1";
        self.connection.prepare_cached(begin)?.execute([leader])?;
        let better = "UPDATE groups SET kept = ?2, measure = ?3 WHERE leader = ?1 AND measure < ?3";
        self.connection.prepare_cached(better)?.execute(params![leader, page, measure]).map(drop)
    }

    /// The group of a page; `None` if no other page is like it.
    ///
    /// # Errors
    ///
    /// What SQLite says.
    pub fn group_of(&self, page: i64) -> Result<Option<Group>, String> {
        let sql = "SELECT g.kept, m.text = k.text FROM members m
            JOIN groups g ON g.leader = COALESCE(m.leader, m.page) JOIN members k ON k.page = g.kept WHERE m.page = ?1";
        let found = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([page], |row| Ok(Group { kept: row.get(0)?, is_exact: row.get(1)? })).optional()
        };
        self.wrap(found())
    }

    /// Writes all pages up to this one to the disk.
    ///
    /// # Errors
    ///
    /// What SQLite says.
    pub fn commit(&self, reached: i64) -> Result<(), String> {
        self.wrap(self.connection.execute("UPDATE reached SET page = ?1", [reached]))?;
        self.wrap(self.connection.execute_batch("COMMIT; BEGIN"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_with_the_greatest_measure_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("groups.sqlite");
        let groups = DuplicateGroups::open(&path).unwrap();
        groups.add(1, 7, 10, None).unwrap();
        groups.add(2, 8, 30, None).unwrap();
        groups.add(3, 7, 20, Some(1)).unwrap();
        groups.add(4, 9, 20, Some(3)).unwrap();
        groups.commit(4).unwrap();
        groups.add(5, 7, 99, Some(1)).unwrap();
        drop(groups);
        // What was not committed before a kill is not there.
        let groups = DuplicateGroups::open(&path).unwrap();
        assert_eq!(groups.reached().unwrap(), 4);
        let kept = |page| groups.group_of(page).unwrap().map(|group| (group.kept, group.is_exact));
        assert_eq!([1, 2, 3, 4, 5].map(kept), [Some((3, true)), None, Some((3, true)), Some((3, false)), None]);
    }
}
