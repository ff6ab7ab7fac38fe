//! The sites of a run that have not begun: those that the store has given, and what is still to be asked of it.

use std::collections::VecDeque;

use dehusk_html::PageUrl;
use dehusk_store::seed::Seed;
use dehusk_store::{SiteId, SiteWork};
use rustc_hash::{FxHashMap, FxHashSet};

use super::seed_stream::SeedStream;

/// Sites asked of the store at once.
pub(super) const SITES: usize = 64;

/// The sites to come.
pub(super) struct SiteQueue {
    /// Seeds that are still to come.
    seeds: SeedStream,
    /// Seeds of the stream so far.
    n_streamed: i64,
    /// Sites that the store has given and that wait for room.
    waiting: VecDeque<SiteWork>,
    /// The last site that the store has given; `None` when there are no more.
    last_site: Option<SiteId>,
    /// Whether a question for sites is out.
    is_asking: bool,
    /// Sites that redirects have led to; they are worked on from there.
    led_to: FxHashSet<SiteId>,
    /// Sites that seeds of a stream were for while they were worked on, with a URL of each.
    late: FxHashMap<SiteId, PageUrl>,
    /// Sites that have ended, where a later seed may open them again.
    ended: Option<FxHashSet<SiteId>>,
}

impl SiteQueue {
    pub(super) fn new(seeds: SeedStream) -> SiteQueue {
        SiteQueue {
            ended: seeds.is_open().then(FxHashSet::default),
            seeds,
            n_streamed: 0,
            waiting: VecDeque::new(),
            last_site: Some(0),
            is_asking: false,
            led_to: FxHashSet::default(),
            late: FxHashMap::default(),
        }
    }

    /// Whether nothing is left to begin.
    pub(super) fn is_over(&self) -> bool {
        self.last_site.is_none() && self.waiting.is_empty() && !self.seeds.is_open()
    }

    pub(super) fn n_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The next site that waits.
    pub(super) fn pop(&mut self) -> Option<SiteWork> {
        self.waiting.pop_front()
    }

    /// Whether a redirect has led to this site before its turn came.
    pub(super) fn was_led_to(&self, site: SiteId) -> bool {
        self.led_to.contains(&site)
    }

    /// A redirect has led to a site.
    pub(super) fn lead_to(&mut self, site: SiteId) {
        self.led_to.insert(site);
        self.waiting.retain(|waiting| waiting.id != site);
    }

    /// The site after which the store should be asked for more; `None` if none are wanted yet or there are no more.
    pub(super) fn ask_after(&self) -> Option<SiteId> {
        self.last_site.filter(|_| !self.is_asking && self.waiting.len() < SITES / 2)
    }

    /// Notes that a question for sites is out.
    pub(super) fn asked(&mut self) {
        self.is_asking = true;
    }

    /// The store has given the sites that follow.
    pub(super) fn add(&mut self, found: Vec<SiteWork>) {
        self.is_asking = false;
        // The store gives less than was asked for only when there is no more.
        self.last_site = found.last().filter(|_| found.len() == SITES).map(|site| site.id);
        self.waiting.extend(found);
    }

    /// The store has leased sites; `is_over` when it has none that another worker may give back.
    pub(super) fn add_leased(&mut self, leased: Vec<SiteWork>, is_over: bool) {
        self.is_asking = false;
        self.waiting.extend(leased);
        if is_over {
            self.last_site = None;
        }
    }

    /// The store has given the sites of some seeds. Returns the number of those that are new in this run.
    pub(super) fn add_streamed(&mut self, found: Vec<SiteWork>, is_active: impl Fn(SiteId) -> bool) -> usize {
        self.is_asking = false;
        let mut n_new = 0;
        for work in found {
            if is_active(work.id) {
                // It may have asked for its last URLs already.
                self.late.insert(work.id, work.key_url);
            } else if self.waiting.iter().all(|other| other.id != work.id) {
                n_new += usize::from(self.ended.as_ref().is_none_or(|ended| !ended.contains(&work.id)));
                self.waiting.push_back(work);
            }
        }
        n_new
    }

    /// A site has ended. Returns whether it had not ended before: one that seeds have opened again counts once.
    pub(super) fn end(&mut self, site: SiteId) -> bool {
        self.ended.as_mut().is_none_or(|ended| ended.insert(site))
    }

    /// A URL of a site for which seeds came while it was worked on.
    pub(super) fn take_late(&mut self, site: SiteId) -> Option<PageUrl> {
        self.late.remove(&site)
    }

    /// Whether seeds of the stream are wanted: every known site has begun. `none_to_lease` where other workers have all
    /// that are left.
    pub(super) fn wants_seeds(&self, none_to_lease: bool) -> bool {
        let has_none = self.last_site.is_none() || none_to_lease;
        self.seeds.is_open() && has_none && !self.is_asking && self.waiting.is_empty()
    }

    /// The next seeds of the stream, at least one; none once it has ended.
    pub(super) async fn next_seeds(&mut self) -> Vec<Seed> {
        self.seeds.next().await
    }

    /// Numbers seeds that were read while the run goes on. Returns the number of the first of them.
    pub(super) fn number_seeds(&mut self, n: usize) -> i64 {
        let first = self.n_streamed + 1;
        self.n_streamed += n as i64;
        first
    }

    /// Sites may be opened again by seeds that a list on the network names.
    pub(super) fn expect_seeds(&mut self) {
        self.ended.get_or_insert_default();
    }

    /// The store has sites again, which a worker may lease.
    pub(super) fn ask_again(&mut self) {
        self.last_site = Some(0);
    }

    /// Begins no site any more.
    pub(super) fn close(&mut self) {
        self.seeds.close();
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use dehusk_store::seed::SeedKind;

    use super::*;

    fn work(id: SiteId) -> SiteWork {
        SiteWork {
            id,
            host: format!("h{id}.org"),
            key_url: PageUrl::parse(&format!("http://h{id}.org/")).unwrap(),
            template: None,
            template_is_settled: false,
            template_is_new: false,
            failure: None,
            key: None,
            robots: Vec::new(),
            past: Vec::new(),
            seeds: Vec::new(),
            seed_kind: SeedKind::default(),
            is_rendered: false,
        }
    }

    fn ids(queue: &mut SiteQueue) -> Vec<SiteId> {
        std::iter::from_fn(|| queue.pop()).map(|work| work.id).collect()
    }

    #[test]
    fn the_store_is_asked_until_it_gives_less_than_a_full_answer() {
        let mut queue = SiteQueue::new(SeedStream::default());
        assert_eq!(queue.ask_after(), Some(0));
        queue.asked();
        assert_eq!(queue.ask_after(), None, "one question at a time");
        queue.add((1..=SITES as SiteId).map(work).collect());
        assert_eq!(queue.ask_after(), None, "enough of them wait");
        assert_eq!(ids(&mut queue).len(), SITES);
        assert_eq!((queue.ask_after(), queue.is_over()), (Some(SITES as SiteId), false));
        queue.asked();
        queue.add(vec![work(99)]);
        assert_eq!((queue.ask_after(), queue.is_over()), (None, false));
        assert_eq!((ids(&mut queue), queue.is_over()), (vec![99], true));
    }

    #[test]
    fn a_site_that_a_redirect_has_led_to_does_not_wait_any_more() {
        let mut queue = SiteQueue::new(SeedStream::default());
        queue.add(vec![work(1), work(2)]);
        queue.lead_to(2);
        assert!(queue.was_led_to(2) && !queue.was_led_to(1));
        assert_eq!(ids(&mut queue), [1]);
    }

    #[test]
    fn seeds_open_sites_again_and_each_site_counts_once() {
        let mut queue = SiteQueue::new(SeedStream::default());
        queue.add(Vec::new());
        queue.expect_seeds();
        assert_eq!((queue.number_seeds(2), queue.number_seeds(1)), (1, 3));
        assert_eq!(queue.add_streamed(vec![work(1), work(1), work(2)], |id| id == 2), 1);
        assert_eq!(queue.take_late(2).map(|url| url.to_string()).as_deref(), Some("http://h2.org/"));
        assert_eq!((queue.take_late(2), ids(&mut queue)), (None, vec![1]));
        assert!(queue.end(1) && !queue.end(1));
        assert_eq!(queue.add_streamed(vec![work(1)], |_| false), 0, "it has ended once");
        queue.close();
        assert!(queue.is_over());
    }

    #[test]
    fn the_stream_waits_for_sites_that_are_known() {
        let seeds = SeedStream::read(Box::new(std::iter::empty())).unwrap();
        let mut queue = SiteQueue::new(seeds);
        assert!(!queue.wants_seeds(false), "the store was not asked yet");
        assert!(queue.wants_seeds(true), "other workers have all sites");
        queue.add(vec![work(1)]);
        assert!(!queue.wants_seeds(false) && !queue.is_over(), "a site waits");
        assert_eq!(ids(&mut queue), [1]);
        assert!(queue.wants_seeds(false));
        queue.asked();
        assert!(!queue.wants_seeds(false), "their sites are asked for");
        queue.add_leased(Vec::new(), true);
        queue.ask_again();
        assert_eq!(queue.ask_after(), Some(0));
    }
}
