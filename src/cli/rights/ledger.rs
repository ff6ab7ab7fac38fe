//! The ledger of rights: each statement of a site once, with the runs that first and last heard it.

use serde_json::{Value, json};

use dehusk_core::calendar::iso_8601;
use dehusk_core::rights::{Statement, Use};
use dehusk_store::RightsOfRun;

/// The uses that have a column.
pub(super) const COLUMNS: [Use; 3] = [Use::Search, Use::Input, Use::Train];

/// A run, and the time at which a site was visited in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) run: i64,
    /// Unix milliseconds.
    pub(super) at: i64,
}

/// A statement of a site.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) host: String,
    pub(super) statement: Statement,
    /// The first run that heard it, without a break since.
    pub(super) since: Moment,
    /// The first run after it that did not; `None`: it holds.
    pub(super) until: Option<Moment>,
    /// Visits of the last run that heard it.
    pub(super) visits: i64,
}

impl Entry {
    /// What follows for a use.
    pub(super) fn verdict(&self, of: Use) -> Option<&'static str> {
        self.statement.uses.iter().find(|(one, _)| *one == of).map(|(_, verdict)| verdict.name())
    }

    pub(super) fn to_json(&self) -> Value {
        let Statement { form, place, words, .. } = &self.statement;
        let moment = |moment: Moment| json!({"run": moment.run, "at": iso_8601(moment.at)});
        let mut line = json!({
            "host": self.host, "form": form.name(), "place": place.name(), "words": words,
            "since": moment(self.since), "until": self.until.map(moment), "pages": self.visits,
        });
        for of in Use::ALL {
            line[of.name()] = self.verdict(of).into();
        }
        line
    }
}

/// The ledger of what was said, site by site and run by run in this order. A statement that was withdrawn and made
/// again is there twice.
pub(super) fn ledger(rows: &[RightsOfRun]) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    for site in rows.chunk_by(|a, b| a.host == b.host) {
        let begin = all.len();
        for run in site.chunk_by(|a, b| a.run == b.run) {
            let Some(first) = run.first() else { continue };
            let moment = Moment { run: first.run, at: run.iter().map(|row| row.at).min().unwrap_or_default() };
            let heard = |statement: &Statement| -> i64 {
                let says = |row: &&RightsOfRun| row.rights.statements.contains(statement);
                run.iter().filter(says).map(|row| row.visits).sum()
            };
            let has_pages = run.iter().any(|row| row.has_pages);
            for entry in all[begin..].iter_mut().filter(|entry| entry.until.is_none()) {
                match heard(&entry.statement) {
                    // What pages say is not withdrawn while none was asked for.
                    0 if !has_pages && !entry.statement.place.is_of_site() => {}
                    0 => entry.until = Some(moment),
                    visits => entry.visits = visits,
                }
            }
            for statement in run.iter().flat_map(|row| &row.rights.statements) {
                let is_open = |entry: &Entry| entry.until.is_none() && entry.statement == *statement;
                if !all[begin..].iter().any(is_open) {
                    let (host, statement, visits) = (first.host.clone(), statement.clone(), heard(statement));
                    all.push(Entry { host, statement, since: moment, until: None, visits });
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_core::rights::{Form, Place, Rights, Verdict};

    fn row(host: &str, run: i64, words: &[&str], visits: i64) -> RightsOfRun {
        let statement =
            |words: &&str| Statement::new(Form::ContentUsage, Place::Robots, *words, vec![(Use::Train, Verdict::Deny)]);
        RightsOfRun {
            host: host.to_owned(),
            run,
            at: run * 1000,
            rights: Rights::new(words.iter().map(statement)),
            visits,
            has_pages: true,
        }
    }

    #[test]
    fn statements_come_go_and_come_again() {
        let rows = [
            row("a.org", 1, &["x"], 3),
            row("a.org", 1, &["x", "y"], 2),
            row("a.org", 2, &["x"], 4),
            row("a.org", 2, &[], 1),
            row("a.org", 3, &["x", "y"], 1),
            row("b.org", 1, &["x"], 1),
            row("b.org", 3, &[], 1),
        ];
        let told: Vec<String> = ledger(&rows)
            .iter()
            .map(|one| {
                let until = one.until.map_or(0, |until| until.run);
                format!("{} {} {}-{until} {}", one.host, one.statement.words, one.since.run, one.visits)
            })
            .collect();
        assert_eq!(told, ["a.org x 1-0 1", "a.org y 1-2 2", "a.org y 3-0 1", "b.org x 1-3 1"]);
        let denied = [row("a.org", 1, &["x"], 1), RightsOfRun { has_pages: false, ..row("a.org", 2, &[], 1) }];
        let [mut page, site] = [denied.clone(), denied];
        page[0].rights.statements[0].place = Place::Page;
        assert!(ledger(&page)[0].until.is_none() && ledger(&site)[0].until.is_some());
        assert_eq!(ledger(&rows)[0].to_json()["train"], "deny");
        assert_eq!(ledger(&rows)[0].to_json()["search"], Value::Null);
    }
}
