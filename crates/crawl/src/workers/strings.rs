//! The strings that the entries of a site's feeds repeat, such as "The post ... appeared first on ...".
//!
//! The template of pages is of no use for a feed or a plain text, which have none of its nodes. The entries of a feed
//! are documents of the site (Foschini 2007, chapter 3): what they repeat word by word is template. `dehusk strings
//! clean` removes it from feeds, mails and other texts of the site.

use dehusk_template::strings::{Corpus, Document, StringTemplate};
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::Tools;
use crate::feed_entries::{feed_entries, is_feed};

/// Entries below which nothing is learned: two that are alike may be one story.
const MIN_ENTRIES: usize = 3;

/// Bytes of the entries of a site's feeds that are kept. Further entries are left out.
const MAX_BYTES: usize = 1 << 20;

/// Feeds of a site that are learned from.
const MAX_FEEDS: usize = 10;

/// The entries of a site's feeds that were read, each once. They are dropped when its pages are walked.
#[derive(Default)]
pub(crate) struct FeedTexts {
    texts: Vec<String>,
    seen: FxHashSet<u64>,
    n_bytes: usize,
    n_feeds: usize,
}

impl FeedTexts {
    /// Adds the entries of a feed, and learns from all entries so far. `None` where the file is no feed, has no new
    /// entry, or nothing is repeated.
    pub(super) fn learn_from(&mut self, body: &[u8], tools: &Tools) -> Option<Box<StringTemplate>> {
        if self.n_feeds >= MAX_FEEDS || !is_feed(body) {
            return None;
        }
        self.n_feeds += 1;
        let n_before = self.texts.len();
        for entry in feed_entries(body) {
            if self.n_bytes + entry.text.len() <= MAX_BYTES && self.seen.insert(xxh3_64(entry.text.as_bytes())) {
                self.n_bytes += entry.text.len();
                self.texts.push(entry.text);
            }
        }
        if self.texts.len() < MIN_ENTRIES || self.texts.len() == n_before {
            return None;
        }
        let core = &tools.settings.core;
        let mut corpus = Corpus::new(core.string_patterns.clone(), core.strings.tokens);
        for text in &self.texts {
            let document = corpus.prepare(Document::Text(text));
            corpus.add(document).ok()?;
        }
        let template = StringTemplate::learn(corpus, &core.strings).ok()?;
        (!template.strings.is_empty()).then(|| Box::new(template))
    }
}
