//! The end of a site: every page that the run has visited gets the text of one model.
//!
//! Pages are cleaned as they come, while the model still grows. When the walk is over, those that an earlier state of
//! the model cleaned are cleaned again, except for training pages whose labels are the same. So are pages and their
//! last versions that two models have cleaned: a change of the model is no change of the page.

use super::{Command, Context, Phase, SiteCrawl, Walk};
use crate::workers::Work;
use dehusk_store::{ConfirmedPage, Query, SiteOutcome, StalePages, Write};

/// Pages in memory at once.
const BATCH: usize = 8;

impl SiteCrawl {
    /// The walk is over: its model has a number, and these training pages keep their text.
    pub(super) fn on_model(
        &mut self,
        walk: Box<Walk>,
        model: u64,
        confirmed: Vec<ConfirmedPage>,
        out: &mut Vec<Command>,
    ) {
        if !confirmed.is_empty() {
            out.push(Command::Write(Write::Confirmed { site: self.id, model, pages: confirmed }));
        }
        self.ask_stale(walk, model, i64::MIN, out);
    }

    pub(super) fn ask_stale(&mut self, walk: Box<Walk>, model: u64, after: i64, out: &mut Vec<Command>) {
        out.push(Command::Ask(Query::StalePages { site: self.id, model, after, n: BATCH }));
        self.phase = Phase::Recleaning(walk, model);
    }

    pub(super) fn on_stale(
        &mut self,
        mut walk: Box<Walk>,
        model: u64,
        stale: StalePages,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let StalePages { pages, changing, n_bodies } = stale;
        if pages.is_empty() {
            let n_visited = self.fetched.len() + self.n_unchanged;
            let parts = walk.comparisons.changing_parts(n_visited, n_bodies);
            if !parts.is_empty() {
                out.push(Command::Write(Write::ChangingParts(self.id, parts)));
            }
            return self.leave_walk(walk, cx, out);
        }
        if cx.is_stopping {
            walk.outcome = SiteOutcome::Interrupted;
            return self.leave_walk(walk, cx, out);
        }
        walk.comparisons.known = changing.into_iter().collect();
        self.compute(Work::Reclean(walk, model, pages), out);
    }
}
