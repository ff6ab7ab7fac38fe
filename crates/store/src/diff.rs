//! Pages whose state differs between the ends of two runs.

use rustc_hash::FxHashSet;
use serde::Serialize;

use super::sql::{Row, SqlResult, params};
use super::{Store, StoreError};
use dehusk_html::{ParseOptions, parse, write_text};

/// A page that differs between the ends of two runs.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct UrlChange {
    /// `new`, `changed`, `same_text`, `recleaned`, `gone`, `moved`, `blocked` (by robots.txt), `failed`, or `returned`.
    pub change: String,
    /// Host.
    pub host: String,
    /// The page.
    pub url: String,
    /// Where it has moved to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// Run that found it so.
    pub run: i64,
}

/// A version of a page.
#[derive(Clone, Debug)]
struct Version {
    page: i64,
    run: i64,
    digest: String,
}

/// What was known of a page after a run.
#[derive(Clone, Debug)]
struct After {
    version: Option<Version>,
    /// The last turn, and its run.
    turn: Option<(String, i64)>,
}

impl After {
    fn read(row: &Row<'_>, at: usize) -> SqlResult<After> {
        let page: Option<i64> = row.get(at)?;
        let version = match page {
            Some(page) => Some(Version { page, run: row.get(at + 1)?, digest: row.get(at + 2)? }),
            None => None,
        };
        let state: Option<String> = row.get(at + 3)?;
        let turn = match state {
            Some(state) => Some((state, row.get(at + 4)?)),
            None => None,
        };
        Ok(After { version, turn })
    }

    /// `None` where nothing was known. A turn of the same run is the later one.
    fn state(&self) -> Option<&str> {
        match (&self.version, &self.turn) {
            (version, Some((state, run))) if version.as_ref().is_none_or(|version| version.run <= *run) => Some(state),
            (Some(_), _) => Some("alive"),
            (None, None) => None,
            (None, Some((state, _))) => Some(state),
        }
    }
}

/// A page of which the runs between say something.
struct Touched {
    host: String,
    url: String,
    moved_to: Option<String>,
    before: After,
    after: After,
    /// What the first version between says of the one before it.
    first_change: Option<String>,
    n_changed: i64,
    n_recleaned: i64,
}

impl Touched {
    fn read(row: &Row<'_>) -> SqlResult<Touched> {
        Ok(Touched {
            host: row.get(0)?,
            url: row.get(1)?,
            before: After::read(row, 2)?,
            after: After::read(row, 7)?,
            moved_to: row.get(12)?,
            first_change: row.get(13)?,
            n_changed: row.get(14)?,
            n_recleaned: row.get(15)?,
        })
    }

    /// The state before. A version that was deleted since has left its mark on the next one, which is not new.
    fn state_before(&self) -> Option<&str> {
        let was_known = self.first_change.as_deref().is_some_and(|change| change != "new");
        self.before.state().or(was_known.then_some("alive"))
    }
}

impl Store {
    /// Pages that differ between the end of run `from` and the end of run `to`, by host and URL. A page whose new
    /// address is new is told once, as moved.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be read.
    pub fn diff_runs(&self, from: i64, to: i64) -> Result<Vec<UrlChange>, StoreError> {
        let version = |column: &str, upto: &str| {
            format!(
                "(SELECT {column} FROM pages p WHERE p.site_id = u.site_id AND p.url = u.url AND p.run_id <= {upto}
                ORDER BY p.run_id DESC LIMIT 1)"
            )
        };
        let turn = |column: &str, upto: &str| {
            format!(
                "(SELECT {column} FROM states t WHERE t.url = u.url AND t.run_id <= {upto}
                ORDER BY t.run_id DESC LIMIT 1)"
            )
        };
        let after = |upto: &str| {
            let columns = [
                version("p.id", upto),
                version("p.run_id", upto),
                version("p.digest", upto),
                turn("t.state", upto),
                turn("t.run_id", upto),
            ];
            columns.join(", ")
        };
        let between = "p.site_id = u.site_id AND p.url = u.url AND p.run_id > ?1 AND p.run_id <= ?2";
        let sql = format!(
            "SELECT s.host, u.url, {}, {}, {},
                (SELECT p.change FROM pages p WHERE {between} ORDER BY p.run_id LIMIT 1),
                (SELECT count(*) FROM pages p WHERE {between} AND p.change = 'changed'),
                (SELECT count(*) FROM pages p WHERE {between} AND p.change = 'recleaned')
            FROM (SELECT site_id, url FROM pages WHERE run_id > ?1 AND run_id <= ?2
                UNION SELECT site_id, url FROM states WHERE run_id > ?1 AND run_id <= ?2) AS u
            JOIN sites s ON s.id = u.site_id ORDER BY s.host, u.url",
            after("?1"),
            after("?2"),
            turn("t.moved_to", "?2"),
        );
        let touched: Vec<Touched> = self.rows(&sql, params![from, to], Touched::read)?;
        let mut changes = Vec::new();
        for page in &touched {
            if let Some(change) = self.change_of(page)? {
                let run = match (&page.after.version, &page.after.turn) {
                    (_, Some((_, run))) if page.after.state() != Some("alive") || change == "returned" => *run,
                    (Some(version), _) => version.run,
                    (None, turn) => turn.as_ref().map_or(to, |(_, run)| *run),
                };
                let moved_to = page.moved_to.clone().filter(|_| change == "moved");
                let (host, url) = (page.host.clone(), page.url.clone());
                changes.push(UrlChange { change: change.to_owned(), host, url, moved_to, run });
            }
        }
        let targets: FxHashSet<String> = changes.iter().filter_map(|change| change.moved_to.clone()).collect();
        let says_nothing = |change: &UrlChange| matches!(change.change.as_str(), "new" | "same_text" | "recleaned");
        changes.retain(|change| !(says_nothing(change) && targets.contains(&change.url)));
        Ok(changes)
    }

    fn change_of(&self, page: &Touched) -> Result<Option<&'static str>, StoreError> {
        let now = match page.after.state() {
            Some("gone") => "gone",
            Some("moved") => "moved",
            Some("blocked") => "blocked",
            Some("failed") => "failed",
            _ => "alive",
        };
        let before = page.state_before();
        Ok(match (before, now) {
            // What was never there cannot go.
            (None, "alive") => page.after.version.is_some().then_some("new"),
            (None, _) => None,
            (Some("alive"), "alive") => self.change_of_text(page)?,
            (Some(_), "alive") => Some("returned"),
            (Some(before), now) => (before != now).then_some(now),
        })
    }

    /// How two versions differ. By what each run has said, where no text has changed; else by their texts.
    fn change_of_text(&self, page: &Touched) -> Result<Option<&'static str>, StoreError> {
        let after = page.after.version.as_ref();
        match (page.before.version.as_ref(), after) {
            (Some(before), Some(after)) if before.page == after.page || before.digest == after.digest => Ok(None),
            _ if page.n_changed == 0 && page.n_recleaned > 0 => Ok(Some("recleaned")),
            _ if page.n_changed == 0 => Ok(after.map(|_| "same_text")),
            (Some(before), Some(after)) if self.has_same_text(before.page, after.page)? => Ok(Some("same_text")),
            _ => Ok(Some("changed")),
        }
    }

    fn has_same_text(&self, one: i64, other: i64) -> Result<bool, StoreError> {
        let forms = [self.cleaned_of(one)?, self.cleaned_of(other)?];
        if forms[0] == forms[1] {
            return Ok(true);
        }
        let text = |form: &Option<Vec<u8>>| -> Result<Option<String>, StoreError> {
            let Some(form) = form else { return Ok(None) };
            let html = self.decompress("a stored page", form)?;
            Ok(Some(write_text(&parse(&String::from_utf8_lossy(&html), &ParseOptions::default()), |_| true)))
        };
        Ok(text(&forms[0])? == text(&forms[1])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack;

    /// A site with these versions (run, URL, body, text, change) and turns (run, URL, state, new URL).
    fn store(
        dir: &std::path::Path,
        versions: &[(i64, &str, &str, &str, &str)],
        turns: &[(i64, &str, &str, Option<&str>)],
    ) -> Store {
        let store = Store::create(&dir.join("d.db"), 3).unwrap();
        let begin = "INSERT INTO sites (id, host, key_url, updated_at) VALUES (1, 'a', 'http://a/', 0);
            INSERT INTO runs (id, started_at, settings) VALUES (1, 0, ''), (2, 0, ''), (3, 0, ''), (4, 0, '')";
        store.batch(begin).unwrap();
        for (run, url, body, text, change) in versions {
            let cleaned = store.body_id(&pack(format!("<p>{text}</p>").as_bytes(), 3)).unwrap();
            let sql = "INSERT INTO pages (run_id, site_id, url, fetched_at, status, digest, cleaned_id, change)
                VALUES (?1, 1, ?2, ?1, 200, ?3, ?4, ?5)";
            store.execute(sql, params![*run, *url, *body, cleaned, *change]).unwrap();
        }
        for (run, url, state, moved_to) in turns {
            let sql = "INSERT INTO states (run_id, site_id, url, at, state, moved_to) VALUES (?1, 1, ?2, ?1, ?3, ?4)";
            store.execute(sql, params![*run, *url, *state, *moved_to]).unwrap();
        }
        store
    }

    fn changes(store: &Store, from: i64, to: i64) -> Vec<String> {
        let told = |change: UrlChange| {
            let to = change.moved_to.map_or_else(String::new, |to| format!(" {to}"));
            format!("{} {} {}{to}", change.change, change.url, change.run)
        };
        store.diff_runs(from, to).unwrap().into_iter().map(told).collect()
    }

    #[test]
    fn versions_are_compared_by_their_texts_and_not_by_what_the_runs_between_said() {
        let dir = tempfile::tempdir().unwrap();
        let versions = [
            (1, "back", "one", "x", "new"),
            (2, "back", "two", "y", "changed"),
            (3, "back", "one", "x", "changed"),
            (1, "text", "one", "x", "new"),
            (2, "text", "two", "y", "changed"),
            (3, "text", "three", "x", "changed"),
            (1, "title", "one", "x", "new"),
            (2, "title", "two", "x", "same_text"),
            (1, "model", "one", "x", "new"),
            (2, "model", "two", "y", "recleaned"),
        ];
        let store = store(dir.path(), &versions, &[]);
        assert_eq!(changes(&store, 0, 1), ["new back 1", "new model 1", "new text 1", "new title 1"]);
        let second = ["changed back 2", "recleaned model 2", "changed text 2", "same_text title 2"];
        assert_eq!(changes(&store, 1, 2), second);
        assert_eq!(changes(&store, 2, 3), ["changed back 3", "changed text 3"]);
        assert_eq!(changes(&store, 1, 3), ["recleaned model 2", "same_text text 3", "same_text title 2"]);
        assert_eq!(changes(&store, 3, 4), [""; 0]);
    }

    #[test]
    fn turns_are_compared_by_the_states_after_the_runs() {
        let dir = tempfile::tempdir().unwrap();
        let versions = [
            (1, "gone", "one", "x", "new"),
            (1, "here", "one", "x", "new"),
            (3, "here", "two", "y", "changed"),
            (1, "old", "one", "x", "new"),
            (2, "target", "one", "x", "new"),
            (2, "other", "one", "x", "new"),
        ];
        let turns = [
            (2, "gone", "gone", None),
            (3, "gone", "alive", None),
            (2, "here", "failed", None),
            (3, "here", "alive", None),
            (2, "old", "moved", Some("target")),
            (2, "never", "blocked", None),
        ];
        let store = store(dir.path(), &versions, &turns);
        let second = ["gone gone 2", "failed here 2", "moved old 2 target", "new other 2"];
        assert_eq!(changes(&store, 1, 2), second, "what has moved is not new, and what was never there cannot go");
        assert_eq!(changes(&store, 2, 3), ["returned gone 3", "returned here 3"]);
        assert_eq!(changes(&store, 1, 3), ["changed here 3", "moved old 2 target", "new other 2"]);
        assert_eq!(changes(&store, 0, 3), ["new gone 1", "new here 3", "new other 2", "new target 2"]);
    }

    #[test]
    fn a_version_that_was_deleted_leaves_its_mark_on_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path(), &[(3, "pruned", "two", "y", "changed"), (3, "new", "one", "x", "new")], &[]);
        assert_eq!(changes(&store, 2, 3), ["new new 3", "changed pruned 3"]);
    }
}
