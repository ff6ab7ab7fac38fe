//! The target of a redirect.

use super::Response;
use dehusk_html::PageUrl;

/// The target of a redirect, or `None` if the response is not a redirect or its target is not an http(s) URL.
pub fn redirect_target(response: &Response) -> Option<PageUrl> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    response.url.join(response.location.as_deref()?)
}

/// Where a page leads: by a redirect, or by an element of the page that browsers follow at once.
pub fn page_target(response: &Response) -> Option<PageUrl> {
    redirect_target(response).or_else(|| response.refresh.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_resolved_and_other_schemes_lead_nowhere() {
        let answer = |status, location: &str| {
            redirect_target(&Response {
                location: Some(location.to_owned()),
                ..Response::empty(PageUrl::parse("http://s.com/a/b").unwrap(), status)
            })
            .map(|url| url.to_string())
        };
        assert_eq!(answer(301, "../c#x").as_deref(), Some("http://s.com/c"));
        assert_eq!(answer(308, "//t.com").as_deref(), Some("http://t.com/"));
        assert_eq!(answer(302, "file:///etc/passwd"), None);
        assert_eq!(answer(200, "/c"), None);
    }
}
