//! The HTML pages of any WARC file.

use std::path::Path;

use super::http::decoded_body;
use super::{Reader, WarcError};
use dehusk_core::internals::page_url::PageUrl;

/// An HTML page of an archive.
#[derive(Clone, Debug)]
pub struct WarcPage {
    /// `WARC-Target-URI`.
    pub url: PageUrl,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Decoded body.
    pub body: Vec<u8>,
}

/// The successful HTML responses of a file, in order. At most `most` bytes of each body are decoded. A broken record
/// ends the iteration with an error.
pub fn pages(path: &Path, most: usize) -> Result<impl Iterator<Item = Result<WarcPage, WarcError>>, WarcError> {
    Ok(Reader::open(path)?.filter_map(move |member| {
        let member = match member {
            Ok(member) => member,
            Err(error) => return Some(Err(error)),
        };
        if member.kind() != "response" {
            return None;
        }
        // Some writers put the URI in angle brackets.
        let uri = member.header("WARC-Target-URI")?.trim_matches(['<', '>']);
        let url = PageUrl::parse(uri).ok()?;
        let (status, content_type, body) = decoded_body(&member.block, most)?;
        let essence = content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let is_html = matches!(essence.to_ascii_lowercase().as_str(), "text/html" | "application/xhtml+xml");
        let is_page = (200..300).contains(&status) && is_html && !body.is_empty();
        is_page.then_some(Ok(WarcPage { url, content_type, body }))
    }))
}
