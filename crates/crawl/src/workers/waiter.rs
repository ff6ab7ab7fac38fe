//! What waits for a page while it is rendered, or found to be none.

use std::sync::Arc;

use dehusk_content::TaughtPages;
use dehusk_html::PageUrl;
use dehusk_template::template::Template;

use super::SiteLearner;
use crate::site::Walk;

/// What waits for a page.
pub(crate) enum PageWaiter {
    /// The search for a key page, with what was handed over to it.
    Key { template: Option<Arc<Template>>, taught: TaughtPages, seeds: Vec<PageUrl> },
    /// The search for training pages.
    Training(Box<SiteLearner>),
    /// The walk.
    Walk(Box<Walk>),
}
