//! A page of the web that a program names: fetched as politely as a crawl would, where robots.txt allows it, and
//! cleaned.

use std::sync::Arc;

use serde::Deserialize;

use super::clean::Cleaned;
use super::{EXTRACT_WITHIN, Form, Given, cleaned};
use crate::serve::{Inspector, Refusal};
use dehusk_crawl::SingleError;
use dehusk_html::PageUrl;
use dehusk_settings::NoindexPages;

/// What is wanted of a page.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::serve) struct Wanted {
    pub(in crate::serve) url: String,
    #[serde(default)]
    pub(in crate::serve) form: Form,
    /// Whether the template of its site is not used.
    #[serde(default)]
    pub(in crate::serve) alone: bool,
}

/// Fetches a page, and cleans it.
pub(in crate::serve) async fn extracted(inspector: &Arc<Inspector>, wanted: Wanted) -> Result<Cleaned, Refusal> {
    let url = PageUrl::parse(&wanted.url).map_err(|e| Refusal::Wrong(e.to_string()))?;
    let programs = Arc::clone(inspector.programs.as_ref().ok_or(Refusal::Failed)?);
    let _waiting = Arc::clone(&programs.fetching).try_acquire_owned().map_err(|_| Refusal::Busy)?;
    let fetched = tokio::time::timeout(EXTRACT_WITHIN, programs.network.fetch(&url)).await;
    let late = || Refusal::Upstream(format!("{url}: no answer within {} s", EXTRACT_WITHIN.as_secs()));
    let (response, said) = fetched.map_err(|_| late())?.map_err(refusal)?;
    let given = Given {
        url: Some(response.url.clone()),
        content_type: response.content_type.clone(),
        headers: response.rights.clone(),
        body: response.body,
        site: None,
        alone: wanted.alone,
        said,
        fetched_at: Some(dehusk_store::unix_ms()),
    };
    let of = Arc::clone(inspector);
    let hides = inspector.settings.store.noindex == NoindexPages::Hide;
    programs
        .work(move || {
            let answer = of.readers.with(|store| cleaned(&of, store, given, wanted.form))?;
            if hides && answer.noindex {
                let url = wanted.url;
                return Err(Refusal::Forbidden(format!("{url}: its owner wants it in no collection (noindex)")));
            }
            Ok(answer)
        })
        .await
}

fn refusal(error: SingleError) -> Refusal {
    match error {
        SingleError::Forbidden { .. } => Refusal::Forbidden(error.to_string()),
        error => Refusal::Upstream(error.to_string()),
    }
}
