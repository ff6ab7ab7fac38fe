//! The sites that are worked on, with account of the memory that their pages and trees take.

use std::sync::Arc;
use std::time::Instant;

use dehusk_store::SiteId;
use rustc_hash::FxHashMap;

use super::site::SiteCrawl;
use super::workers::Tools;

/// A site that is worked on.
pub(super) struct ActiveSite {
    pub(super) site: SiteCrawl,
    /// Those of the host of its seed.
    pub(super) tools: Arc<Tools>,
    pub(super) begun: Instant,
    /// Bytes that the table has counted for it.
    counted: usize,
}

impl ActiveSite {
    pub(super) fn new(site: SiteCrawl, tools: Arc<Tools>, begun: Instant) -> ActiveSite {
        ActiveSite { site, tools, begun, counted: 0 }
    }
}

/// The sites that are worked on, by number.
#[derive(Default)]
pub(super) struct SiteTable {
    active: FxHashMap<SiteId, ActiveSite>,
    /// Bytes of pages and trees in memory, roughly.
    memory: usize,
}

impl SiteTable {
    pub(super) fn len(&self) -> usize {
        self.active.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    pub(super) fn contains(&self, id: SiteId) -> bool {
        self.active.contains_key(&id)
    }

    pub(super) fn ids(&self) -> Vec<SiteId> {
        self.active.keys().copied().collect()
    }

    pub(super) fn get(&self, id: SiteId) -> Option<&ActiveSite> {
        self.active.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: SiteId) -> Option<&mut SiteCrawl> {
        self.active.get_mut(&id).map(|active| &mut active.site)
    }

    pub(super) fn tools(&self, id: SiteId) -> Option<Arc<Tools>> {
        self.active.get(&id).map(|active| Arc::clone(&active.tools))
    }

    /// Bytes of pages and trees in memory, roughly.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Whether a site that is worked on has requested something of an origin.
    pub(super) fn uses_origin(&self, origin: &str) -> bool {
        self.active.values().any(|active| active.site.origins().iter().any(|other| other == origin))
    }

    /// Takes a site out for a moment. Its memory stays counted.
    pub(super) fn take(&mut self, id: SiteId) -> Option<ActiveSite> {
        self.active.remove(&id)
    }

    /// Puts a new site in, or one back that was taken, and counts its memory.
    pub(super) fn put(&mut self, id: SiteId, mut active: ActiveSite) {
        let now = active.site.memory();
        self.memory = (self.memory + now).saturating_sub(active.counted);
        active.counted = now;
        self.active.insert(id, active);
    }

    /// Removes a site that has ended.
    pub(super) fn remove(&mut self, id: SiteId) -> Option<ActiveSite> {
        let active = self.active.remove(&id)?;
        self.memory = self.memory.saturating_sub(active.counted);
        Some(active)
    }

    /// Gives a site another number. Returns whether it is worked on.
    pub(super) fn renumber(&mut self, before: SiteId, now: SiteId) -> bool {
        let Some(mut active) = self.active.remove(&before) else { return false };
        active.site.renumber(now);
        self.active.insert(now, active);
        true
    }
}
