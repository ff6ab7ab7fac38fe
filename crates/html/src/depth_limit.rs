//! The limit on the depth of a page, in front of a tree builder.
//!
//! A builder searches its stack of open elements for many tags, so a page of a million nested elements would take
//! quadratic time before any limit on the finished tree could apply. Start tags below the depth limit are dropped, and
//! their end tags. The contents of a dropped element are kept at the limit depth. Browsers do the same at depth 512.
//!
//! What an end tag closed is known only when the next element is added: error recovery puts elements elsewhere. After
//! an end tag one start tag passes as a probe. A probe that lands n levels too deep delays the next probe by n end
//! tags, so stray end tags cannot increase the depth.

use std::hash::Hash;

use rustc_hash::FxHashMap;

pub(super) struct DepthLimit<N> {
    max_depth: u32,
    /// End tags to wait for before a start tag may probe the depth again.
    wait: u32,
    /// Number of dropped start tags that are not yet closed, by name.
    dissolved: FxHashMap<N, u32>,
    pub(super) n_dissolved: usize,
}

impl<N: Eq + Hash + Clone> DepthLimit<N> {
    pub(super) fn new(max_depth: u16) -> DepthLimit<N> {
        DepthLimit { max_depth: u32::from(max_depth), wait: 1, dissolved: FxHashMap::default(), n_dissolved: 0 }
    }

    /// Whether a start tag is dropped. `open_depth` is the depth of the last added element, or of the parent of the
    /// last closed one. Tags that text follows (`reads_text`) must reach the builder, which switches the tokenizer's
    /// state for them.
    pub(super) fn drops_start(&mut self, name: &N, open_depth: u32, reads_text: bool, is_self_closing: bool) -> bool {
        let too_deep = open_depth.saturating_sub(self.max_depth);
        if too_deep == 0 || reads_text {
            return false;
        }
        if self.wait == 0 {
            self.wait = too_deep + 1;
            return false;
        }
        self.n_dissolved += 1;
        if !is_self_closing {
            *self.dissolved.entry(name.clone()).or_default() += 1;
        }
        true
    }

    /// Whether an end tag is dropped, because its start tag was.
    pub(super) fn drops_end(&mut self, name: &N) -> bool {
        if !self.dissolved.is_empty()
            && let Some(open) = self.dissolved.get_mut(name)
            && *open > 0
        {
            *open -= 1;
            return true;
        }
        self.wait = self.wait.saturating_sub(1);
        false
    }
}
