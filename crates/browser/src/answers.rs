//! What becomes of a request of a page: answered here, refused, or asked of the gate.

use serde_json::{Value, json};
use url::Url;

use crate::{Answer, Wanted};

/// A request that the browser has handed over.
pub(crate) struct Paused {
    pub(crate) id: String,
    url: String,
    method: String,
    kind: String,
    frame: String,
    headers: Vec<(String, String)>,
}

/// What becomes of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The page itself, or where a script leads the page to.
    Navigation(Url),
    /// A response without a request: status, type, body.
    Known(u16, &'static str, &'static [u8]),
    /// Asked of the gate.
    Ask(Url),
    /// A failure.
    Refuse,
}

/// A picture of one transparent pixel. Scripts wait for pictures; text needs none.
const PIXEL: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

impl Paused {
    /// Reads the parameters of `Fetch.requestPaused`.
    pub(crate) fn new(params: &Value) -> Option<Paused> {
        let text = |value: &Value| Some(value.as_str()?.to_owned());
        let request = &params["request"];
        let headers = request["headers"].as_object().into_iter().flatten();
        Some(Paused {
            id: text(&params["requestId"])?,
            url: text(&request["url"])?,
            method: text(&request["method"])?,
            kind: text(&params["resourceType"])?,
            frame: text(&params["frameId"]).unwrap_or_default(),
            headers: headers.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect(),
        })
    }

    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    /// What becomes of it. `page` is the frame of the page.
    ///
    /// Text needs the scripts of the page and what they read. It needs no styles and pictures; both are answered with
    /// empty ones, so that scripts which wait for them go on. Frames stay empty. Fonts, media, what is fetched ahead, streams of
    /// events, and all that is no GET request fails.
    pub(crate) fn verdict(&self, page: &str) -> Verdict {
        let Ok(mut url) = Url::parse(&self.url) else { return Verdict::Refuse };
        if !matches!(url.scheme(), "http" | "https") {
            return Verdict::Refuse;
        }
        url.set_fragment(None);
        let asks_first = self.method == "OPTIONS" && !self.header("Access-Control-Request-Method").is_empty();
        let is_of_use = self.method == "GET" && !self.header("Sec-Purpose").contains("prefetch");
        match self.kind.as_str() {
            "Document" if self.frame == page && self.method == "GET" => Verdict::Navigation(url),
            "Document" if self.method == "GET" => Verdict::Known(204, "text/plain", b""),
            _ if asks_first => Verdict::Known(204, "text/plain", b""),
            "Stylesheet" => Verdict::Known(200, "text/css", b""),
            "Image" => Verdict::Known(200, "image/gif", PIXEL),
            "Script" | "XHR" | "Fetch" | "Other" if is_of_use => match self.header("Accept") {
                accept if accept.starts_with("image/") || accept.starts_with("text/event-stream") => Verdict::Refuse,
                _ => Verdict::Ask(url),
            },
            _ => Verdict::Refuse,
        }
    }

    /// The request for the gate.
    pub(crate) fn wanted(&self, url: Url, is_foreign: bool) -> Wanted {
        let headers = self.headers.iter().filter(|(name, _)| is_of_page(name));
        Wanted { url, headers: headers.cloned().collect(), is_foreign }
    }

    /// Header lines with which a script of any origin may read the answer to a question that is asked first (CORS).
    /// The request that follows is answered by its host, which decides who reads it.
    pub(crate) fn permission(&self) -> Vec<(String, String)> {
        let wanted = self.header("Access-Control-Request-Headers");
        let lines = [
            ("Access-Control-Allow-Origin", self.header("Origin")),
            ("Access-Control-Allow-Methods", "GET"),
            ("Access-Control-Allow-Headers", wanted),
            ("Access-Control-Allow-Credentials", "true"),
        ];
        let lines = lines.into_iter().filter(|(_, value)| !value.is_empty());
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// Whether a header line of a request says something that its answer depends on. What the crawl says itself is left
/// out, and so is what only says how the page came to it.
fn is_of_page(name: &str) -> bool {
    const NOT: [&str; 16] = [
        "accept-encoding",
        "accept-language",
        "cache-control",
        "connection",
        "content-length",
        "content-type",
        "cookie",
        "dnt",
        "host",
        "if-modified-since",
        "if-none-match",
        "pragma",
        "range",
        "referer",
        "upgrade-insecure-requests",
        "user-agent",
    ];
    let name = name.to_ascii_lowercase();
    !(NOT.contains(&name.as_str()) || name.starts_with("sec-") || name.starts_with("proxy-"))
}

/// Header lines of an answer that are for the browser. Cookies, encodings and what makes it send something are not.
fn is_for_browser(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("access-control-")
        || name.starts_with("x-")
        || matches!(name.as_str(), "content-type" | "content-language" | "etag" | "last-modified" | "location")
        || (name == "link")
}

/// Parameters of `Fetch.fulfillRequest`.
pub(crate) fn fulfilled(id: &str, answer: &Answer) -> Value {
    use base64::Engine as _;
    let headers = answer.headers.iter().filter(|(name, _)| is_for_browser(name));
    let headers: Vec<Value> = headers.map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let body = base64::engine::general_purpose::STANDARD.encode(&answer.body);
    json!({ "requestId": id, "responseCode": answer.status, "responseHeaders": headers, "body": body })
}

/// Parameters of `Fetch.failRequest`.
pub(crate) fn failed(id: &str) -> Value {
    json!({ "requestId": id, "errorReason": "BlockedByClient" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paused(kind: &str, method: &str, url: &str, headers: &Value) -> Paused {
        let request = json!({ "url": url, "method": method, "headers": headers });
        let params = json!({ "requestId": "1", "resourceType": kind, "frameId": "page", "request": request });
        Paused::new(&params).unwrap()
    }

    #[test]
    fn text_needs_scripts_and_what_they_read() {
        let none = json!({});
        let ask = |url: &str| Verdict::Ask(Url::parse(url).unwrap());
        for (kind, method, headers, expected) in [
            ("Script", "GET", &none, ask("https://s.test/a")),
            ("XHR", "GET", &json!({ "Accept": "application/json" }), ask("https://s.test/a")),
            ("Other", "GET", &none, ask("https://s.test/a")),
            ("Other", "GET", &json!({ "Accept": "image/avif,*/*" }), Verdict::Refuse),
            ("XHR", "GET", &json!({ "accept": "text/event-stream" }), Verdict::Refuse),
            ("Fetch", "GET", &json!({ "Sec-Purpose": "prefetch" }), Verdict::Refuse),
            ("XHR", "POST", &none, Verdict::Refuse),
            ("Ping", "POST", &none, Verdict::Refuse),
            ("Font", "GET", &none, Verdict::Refuse),
            ("Stylesheet", "GET", &none, Verdict::Known(200, "text/css", b"")),
            ("Image", "GET", &none, Verdict::Known(200, "image/gif", PIXEL)),
        ] {
            let verdict = paused(kind, method, "https://s.test/a#top", headers).verdict("page");
            assert_eq!(verdict, expected, "{kind} {method}");
        }
        let file = paused("Script", "GET", "file:///etc/passwd", &none);
        assert_eq!(file.verdict("page"), Verdict::Refuse);
        let frame = paused("Document", "GET", "https://s.test/frame", &none);
        assert_eq!(frame.verdict("other"), Verdict::Known(204, "text/plain", b""));
        assert_eq!(frame.verdict("page"), Verdict::Navigation(Url::parse("https://s.test/frame").unwrap()));
    }

    #[test]
    fn headers_of_scripts_go_with_a_request_and_those_of_the_browser_do_not() {
        let headers = json!({ "Accept": "application/json", "Cookie": "a=1", "User-Agent": "x", "X-Api": "7",
            "sec-ch-ua": "y", "Referer": "https://s.test/", "Authorization": "Bearer public" });
        let wanted =
            paused("XHR", "GET", "https://s.test/a", &headers).wanted(Url::parse("https://s.test/a").unwrap(), false);
        let mut names: Vec<&str> = wanted.headers.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["Accept", "Authorization", "X-Api"]);
        let lines =
            [("Set-Cookie", "a=1"), ("Content-Type", "text/plain"), ("Content-Encoding", "gzip"), ("Refresh", "1")];
        let headers = lines.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let told = fulfilled("1", &Answer { status: 200, headers, body: bytes::Bytes::from_static(b"Rye") });
        assert_eq!(told["responseHeaders"], json!([{ "name": "Content-Type", "value": "text/plain" }]));
        assert_eq!(told["body"], "Unll");
    }
}
