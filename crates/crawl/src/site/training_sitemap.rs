//! A sitemap for a site whose key page has no usable link.

use dehusk_html::PageUrl;

use super::{Command, Context, Phase, SiteCrawl};
use crate::request::{QueueEnd, Request, RequestKind};
use crate::workers::{SiteLearner, TrainingMemory, Work};
use dehusk_store::SiteOutcome;

impl SiteCrawl {
    /// No link of the key page gave a page: the sitemaps that robots.txt names may, or the one at the usual place.
    pub(super) fn request_sitemap(&mut self, mut learner: Box<SiteLearner>, cx: &Context<'_>, out: &mut Vec<Command>) {
        if cx.is_stopping {
            return self.end(SiteOutcome::Interrupted, cx, out);
        }
        let site = learner.learner.site();
        let named: Vec<PageUrl> = (cx.sitemaps)(&self.origins).into_iter().filter_map(|url| site.claim(url)).collect();
        let usual = || site.key().join("/sitemap.xml").into_iter().collect();
        let first = if named.is_empty() { usual() } else { named };
        match learner.sitemaps.get_or_insert_with(|| first.into()).pop_front() {
            Some(url) => {
                learner.n_sitemaps += 1;
                let request = Request::new(url, RequestKind::Sitemap { site: self.id });
                self.phase = Phase::Training(learner);
                out.push(Command::Fetch(request, QueueEnd::Back));
            }
            None => self.compute(Work::Learn(learner, None, TrainingMemory::default()), out),
        }
    }
}
