//! Pages that are left at once: `<meta http-equiv="refresh">` (HTML standard, shared declarative refresh steps).

use dehusk_core::suspicion::letters_of;
use dehusk_html::{NodeId, PageUrl, ParseOptions, ancestors, parse_bytes};
use memchr::memmem;

use super::Response;

/// Bytes of a page that may be nothing but such an element.
const LARGEST: usize = 64 * 1024;

/// Seconds after which a page with little text is still one that is left.
const SOON: u32 = 10;

/// Letters of a page with little text.
const LITTLE: usize = 400;

/// Where a page leads without a click: at once, or soon where it has little text of its own. `None` for a page that
/// loads itself again.
pub(super) fn refresh_target(response: &Response) -> Option<PageUrl> {
    let is_small = (200..300).contains(&response.status) && response.body.len() <= LARGEST;
    let may_have = |word: &[u8]| memmem::find(&response.body, word).is_some();
    if !is_small || ![&b"refresh"[..], b"Refresh", b"REFRESH"].into_iter().any(may_have) {
        return None;
    }
    let (tree, _) = parse_bytes(&response.body, response.content_type.as_deref(), &ParseOptions::default());
    let is_refresh = |meta: &NodeId| {
        let is_named = tree.attr(*meta, "http-equiv").is_some_and(|name| name.trim().eq_ignore_ascii_case("refresh"));
        // What is there for browsers without scripts is no move.
        is_named && !ancestors(&tree, *meta).any(|node| tree.name(node) == "noscript")
    };
    let meta = tree.all("meta").find(is_refresh)?;
    let (seconds, address) = delay_and_address(tree.attr(meta, "content")?)?;
    let is_left = seconds == 0 || (seconds <= SOON && letters_of(&tree, |_| true) < LITTLE);
    let target = response.url.join_in(address, tree.charset()).filter(|_| is_left)?;
    (target.fingerprint() != response.url.fingerprint()).then_some(target)
}

/// `0; url=/new`: the seconds, and the address, if there is one.
fn delay_and_address(content: &str) -> Option<(u32, &str)> {
    let content = content.trim_start();
    let digits = content.len() - content.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let seconds = content[..digits].parse().ok()?;
    let rest = content[digits..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start();
    let named = rest.get(..3).filter(|name| name.eq_ignore_ascii_case("url")).and_then(|_| {
        let value = rest[3..].trim_start().strip_prefix('=')?;
        Some(value.trim_start())
    });
    let address = named.unwrap_or(rest);
    let address = match address.chars().next() {
        Some(quote @ ('"' | '\'')) => address[1..].split(quote).next().unwrap_or_default(),
        _ => address,
    };
    let address = address.trim();
    (!address.is_empty()).then_some((seconds, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(html: &str) -> Option<String> {
        let url = PageUrl::parse("http://s.com/a/b").unwrap();
        let response = Response { body: html.as_bytes().to_vec(), ..Response::empty(url, 200) };
        refresh_target(&response).map(|url| url.to_string())
    }

    fn of_content(content: &str) -> Option<String> {
        target(&format!("<meta http-equiv=Refresh content=\"{content}\"><p>Moved"))
    }

    #[test]
    fn addresses_are_read_as_the_standard_says() {
        for content in
            ["0; url=../c", "0;URL='../c'", " 0 , url = ../c", "0 ../c", "3; url=http://s.com/c", "0.5;url=../c"]
        {
            assert_eq!(of_content(content).as_deref(), Some("http://s.com/c"), "{content}");
        }
        for content in ["0", "0; url=", "0; url=/a/b#x", "60; url=/c", "x; url=/c", "5; url=javascript:x()", "5"] {
            assert_eq!(of_content(content), None, "{content}");
        }
    }

    #[test]
    fn pages_with_text_and_pages_for_browsers_without_scripts_stay() {
        let text = "Rye grows on poor soil where nothing else does. ".repeat(12);
        assert_eq!(target(&format!("<meta http-equiv=refresh content='5;url=/c'><p>{text}")), None);
        assert!(target(&format!("<meta http-equiv=refresh content='0;url=/c'><p>{text}")).is_some());
        assert_eq!(target("<head><noscript><meta http-equiv=refresh content='0;url=/c'></noscript></head><p>x"), None);
        assert_eq!(target("<p>Refresh yourself"), None);
    }
}
