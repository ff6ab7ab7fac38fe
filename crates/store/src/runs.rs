//! Writes runs, visits and put-off domains.

use super::sql::params;
use dehusk_core::rights::Rights;

use super::{Store, StoreError};
use crate::reason::Reason;

/// One request, as it is recorded.
#[derive(Clone, Debug)]
pub struct NewVisit {
    /// The site it was made for.
    pub site_id: Option<i64>,
    /// What was asked for.
    pub url: String,
    /// `robots`, `page` or `sitemap`.
    pub kind: &'static str,
    /// When it was sent, Unix milliseconds; `None` when nothing was.
    pub sent_at: Option<i64>,
    /// How long it took, milliseconds.
    pub took_ms: Option<i64>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Body bytes as sent.
    pub raw_bytes: Option<usize>,
    /// What came of it.
    pub outcome: VisitOutcome,
    /// Why it gave no page.
    pub reason: Option<String>,
    /// Where it leads, if the outcome is `Redirected`.
    pub redirect_to: Option<String>,
    /// What is said about the use of the page. Where it was not sent again, only what its site says.
    pub rights: Rights,
}

/// What came of a visit (after StormCrawler's status).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitOutcome {
    /// A page or robots.txt within the limits.
    Fetched,
    /// It leads elsewhere.
    Redirected,
    /// No usable answer now; it may be asked for again.
    FetchError,
    /// No usable answer, and none is expected.
    Failed,
    /// robots.txt forbids it; nothing was sent.
    Forbidden,
    /// The server says that it is as it was.
    NotModified,
    /// The server says that it is no more.
    Gone,
    /// The settings of the crawl forbid it; nothing was sent.
    Refused,
}

impl VisitOutcome {
    const ALL: [VisitOutcome; 8] = [
        VisitOutcome::Fetched,
        VisitOutcome::Redirected,
        VisitOutcome::FetchError,
        VisitOutcome::Failed,
        VisitOutcome::Forbidden,
        VisitOutcome::NotModified,
        VisitOutcome::Gone,
        VisitOutcome::Refused,
    ];

    /// The outcome with this word in the table.
    pub fn from_word(word: &str) -> Option<VisitOutcome> {
        VisitOutcome::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }

    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            VisitOutcome::Fetched => "fetched",
            VisitOutcome::Redirected => "redirected",
            VisitOutcome::FetchError => "error",
            VisitOutcome::Failed => "failed",
            VisitOutcome::Forbidden => "forbidden",
            VisitOutcome::NotModified => "not_modified",
            VisitOutcome::Gone => "gone",
            VisitOutcome::Refused => "refused",
        }
    }
}

/// How the work on a site ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteOutcome {
    /// A template was learned.
    Learned,
    /// The stored template still fits.
    Kept,
    /// Its pages show no template, for this reason. They are stored, each cleaned by itself.
    NoTemplate(Reason),
    /// It gave no page, for this reason.
    Failed(Reason),
    /// Its links were followed; no template was looked for.
    Walked,
    /// Nothing of it was due.
    NotDue,
    /// The crawl was stopped before.
    Interrupted,
    /// A redirect led to a site that is worked on under its own name.
    Moved,
}

impl SiteOutcome {
    /// The word in the table, and the reason of a failure.
    pub fn words(&self) -> (&'static str, Option<&Reason>) {
        match self {
            SiteOutcome::Learned => ("learned", None),
            SiteOutcome::Kept => ("kept", None),
            SiteOutcome::NoTemplate(reason) => ("no_template", Some(reason)),
            SiteOutcome::Failed(reason) => ("failed", Some(reason)),
            SiteOutcome::Walked => ("walked", None),
            SiteOutcome::NotDue => ("not_due", None),
            SiteOutcome::Interrupted => ("interrupted", None),
            SiteOutcome::Moved => ("moved", None),
        }
    }
}

/// The run that a crawl works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its number.
    pub id: i64,
    /// Was it begun before and not finished?
    pub resumed: bool,
}

/// Which run a crawl works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunChoice {
    /// The unfinished run of the same seeds and settings, else a new one.
    #[default]
    Same,
    /// The unfinished run of this number.
    Number(i64),
    /// The newest unfinished run, whatever it was asked for.
    Resume,
    /// A new one. Unfinished runs stay as they are.
    New,
}

/// What a run is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunRequest<'a> {
    /// Now, Unix milliseconds.
    pub at: i64,
    /// Unfinished runs that began before this time are abandoned.
    pub since: i64,
    /// The settings, JSON.
    pub settings: &'a str,
    /// Hash of the seeds and the settings.
    pub asked: &'a str,
    /// Which run is meant.
    pub choice: RunChoice,
}

impl Store {
    /// Takes up an unfinished run, or begins one. Unfinished runs that began too long ago are abandoned.
    ///
    /// # Errors
    ///
    /// [`StoreError::NothingToResume`] when a run is to be taken up and there is none.
    pub fn begin_run(&self, request: &RunRequest<'_>) -> Result<Run, StoreError> {
        let RunRequest { at, since, settings, asked, choice } = *request;
        // A run that was killed had no time to say that it was interrupted.
        let sql = format!(
            "UPDATE runs SET outcome = CASE WHEN started_at < ?1 THEN 'abandoned' ELSE 'interrupted' END
            WHERE (outcome IS NULL AND NOT ({is_worked_on})) OR (outcome = 'interrupted' AND started_at < ?1)
            RETURNING CASE WHEN outcome = 'abandoned' THEN id END",
            is_worked_on = self.connection.is_worked_on()
        );
        let abandoned: Vec<Option<i64>> = self.rows(&sql, params![since], |row| row.get(0))?;
        // Nobody takes such a run up, so what it has counted is kept before anything of it is deleted.
        abandoned.into_iter().flatten().try_for_each(|run| self.keep_counts(run))?;
        let sql = "SELECT id, coalesce(asked = ?1, TRUE) FROM runs WHERE outcome IS NULL OR outcome = 'interrupted'
            ORDER BY id DESC";
        let open: Vec<(i64, bool)> = self.rows(sql, params![asked], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found = match choice {
            RunChoice::Same => open.iter().find(|(_, is_same)| *is_same),
            RunChoice::Resume | RunChoice::Number(_) => {
                let is_meant = |(id, _): &&(i64, bool)| !matches!(choice, RunChoice::Number(wanted) if wanted != *id);
                Some(open.iter().find(is_meant).ok_or(StoreError::NothingToResume { path: self.path.clone() })?)
            }
            RunChoice::New => None,
        };
        if let Some((id, _)) = found {
            let sql = "UPDATE runs SET outcome = NULL, ended_at = NULL, counts = NULL, settings = ?2 WHERE id = ?1";
            self.execute(sql, params![id, settings])?;
            let sql = "UPDATE sites SET outcome = NULL WHERE run_id = ?1 AND outcome = 'interrupted'";
            self.execute(sql, params![id])?;
            return Ok(Run { id: *id, resumed: true });
        }
        let sql = "INSERT INTO runs (started_at, settings, asked) VALUES (?1, ?2, ?3) RETURNING id";
        let id: i64 = self.row(sql, params![at, settings, asked], |row| row.get(0))?;
        if let (Some((other, _)), RunChoice::Same) = (open.first(), choice) {
            tracing::warn!(
                "run {other} is unfinished, and was begun with other seeds or settings; it stays as it is, and run {id} is \
                 begun. `dehusk crawl --resume` takes run {other} up"
            );
        }
        Ok(Run { id, resumed: false })
    }

    /// Whether another run was begun after this one.
    pub fn has_later_run(&self, run: i64) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE id > ?1)";
        self.row(sql, params![run], |row| row.get(0))
    }

    /// Ends a run.
    pub fn end_run(&self, run: i64, at: i64, outcome: &str) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET ended_at = ?2, outcome = ?3 WHERE id = ?1";
        self.execute(sql, params![run, at, outcome])?;
        self.keep_counts(run)
    }

    /// When the last request of any run was sent, Unix milliseconds.
    pub fn last_sent(&self) -> Result<Option<i64>, StoreError> {
        // Visits are written as they end, so the newest thousand hold the last one sent.
        let sql = "SELECT max(sent_at + coalesce(took_ms, 0)) FROM (SELECT * FROM visits ORDER BY id DESC LIMIT 1000) AS newest";
        self.row(sql, params![], |row| row.get(0))
    }

    /// Records a visit; `page` is the snapshot that it gave.
    pub fn save_visit(
        &self,
        run: i64,
        visit: &NewVisit,
        page: Option<i64>,
        change: Option<&str>,
    ) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO visits (run_id, site_id, url, kind, sent_at, took_ms, status, raw_bytes, outcome, reason,
                redirect_to, change, page_id, rights_id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        let rights = self.rights_id(&visit.rights)?;
        let row = params![
            run,
            visit.site_id,
            &visit.url,
            visit.kind,
            visit.sent_at,
            visit.took_ms,
            visit.status,
            visit.raw_bytes.map(|n| n as i64),
            visit.outcome.as_str(),
            &visit.reason,
            &visit.redirect_to,
            change,
            page,
            rights
        ];
        self.execute(sql, row).map(drop)
    }

    /// Records that a politeness key is deferred until a time.
    pub fn save_deferral(&self, name: &str, next_fetch: i64, reason: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO domains (name, next_fetch, reason) VALUES (?1, ?2, ?3)
            ON CONFLICT (name) DO UPDATE SET next_fetch = ?2, reason = ?3";
        self.execute(sql, params![name, next_fetch, reason]).map(drop)
    }

    /// Politeness keys that are deferred to a time after `now`. Those whose time has passed are deleted.
    pub fn load_deferrals(&self, now: i64) -> Result<Vec<(String, i64)>, StoreError> {
        self.execute("DELETE FROM domains WHERE next_fetch <= ?1", params![now])?;
        self.rows("SELECT name, next_fetch FROM domains", params![], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}
