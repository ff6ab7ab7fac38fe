//! Pages that try to run, to ask or to break out, in the inspector.

use std::path::Path;
use std::sync::Arc;

use dehusk::demo::server::{Reply, Server};
use html5ever::parse_document;
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{NodeData, RcDom};

use crate::cli::{dehusk, err};
use crate::serve::{Inspector, encoded};

/// Texts that run, ask a server at this port or break out where they are not escaped.
fn vectors(port: u16) -> Vec<String> {
    let runs = ["alert(1)", "fetch('http://127.0.0.1:9/leak')", "parent.document.title='x'"];
    let mut all = Vec::new();
    for run in runs {
        for form in [
            "<script>RUN</script>",
            "<img src=x onerror=RUN>",
            "<svg onload=RUN>",
            "<svg><script>RUN</script></svg>",
            "<a href='javascript:RUN'>a</a>",
            "<iframe srcdoc='<script>RUN</script>'></iframe>",
            "<body onload=RUN>",
            "\"><script>RUN</script>",
            "'><img src=x onerror=RUN>",
            "</title><script>RUN</script>",
            "</textarea><script>RUN</script>",
            "</style><script>RUN</script>",
            "<object data='javascript:RUN'>",
            "<embed src='javascript:RUN'>",
            "<form action='javascript:RUN'><button>b</button></form>",
            "<input onfocus=RUN autofocus>",
            "<details open ontoggle=RUN>",
            "<video><source onerror=RUN></video>",
            "<math href='javascript:RUN'>m</math>",
            "<style>@import 'http://127.0.0.1:9/x.css';</style>",
            "<p style=\"background:url('http://127.0.0.1:9/x.png')\">p</p>",
            "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
            "<base href='http://127.0.0.1:9/'>",
            "<link rel=stylesheet href='http://127.0.0.1:9/x.css'>",
            "<link rel=prefetch href='http://127.0.0.1:9/x'>",
            "<img src='http://127.0.0.1:9/x.png'>",
            "<img srcset='http://127.0.0.1:9/x.png 2x'>",
            "<audio src='http://127.0.0.1:9/x.mp3' autoplay></audio>",
            "<portal src='http://127.0.0.1:9/'></portal>",
            "<template><script>RUN</script></template>",
            "<noscript><p title=\"</noscript><script>RUN</script>\"></noscript>",
            "<svg><use href='http://127.0.0.1:9/x.svg#x'/></svg>",
            "<svg><a xlink:href='javascript:RUN'><text>t</text></a></svg>",
            "<svg><animate onbegin=RUN attributeName=x dur=1s></svg>",
            "<svg><style><img src=x onerror=RUN></style></svg>",
            "<math><mtext><table><mglyph><style><img src=x onerror=RUN></style></mglyph></table></mtext></math>",
            "<a href=' &#106;avascript:RUN'>b</a>",
            "<a href='data:text/html,<script>RUN</script>'>c</a>",
            "<p id=main>clobbers</p>",
            "<form id=find><input name=attributes></form>",
            "<marquee onstart=RUN>m</marquee>",
            "<x onclick=RUN tabindex=1 id=x>y</x>",
            "<frameset onload=RUN>",
            "<button formaction='javascript:RUN'>f</button>",
            "<isindex action='javascript:RUN'>",
            "<table background='http://127.0.0.1:9/t.png'><tr><td>t</table>",
            "<keygen onfocus=RUN autofocus>",
            "<applet code=x archive='http://127.0.0.1:9/x.jar'></applet>",
            "<bgsound src='http://127.0.0.1:9/x'>",
            "<layer src='http://127.0.0.1:9/x'></layer>",
            "<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='RUN'/>\">",
            "<dialog open onclose=RUN>d</dialog>",
            "<img/src=x/onerror=RUN>",
            "<IMG SRC=x OnErRoR=RUN>",
            "\u{0}<script>RUN</script>",
            "<scr\u{0}ipt>RUN</scr\u{0}ipt>",
            "<!--<img src='--><img src=x onerror=RUN>'>",
            "<![CDATA[<script>RUN</script>]]>",
            "<?xml-stylesheet href='javascript:RUN'?>",
            "<a ping='http://127.0.0.1:9/p' href=/>p</a>",
            "{{constructor.constructor('RUN')()}}",
            "<input type=image src='http://127.0.0.1:9/i.png'>",
            "`${RUN}`",
            "<area href='javascript:RUN'>",
            "<meter onclick=RUN>m</meter>",
            "<select onfocus=RUN autofocus></select>",
            "<video poster='http://127.0.0.1:9/v.png'></video>",
            "<track src='http://127.0.0.1:9/t.vtt'>",
        ] {
            all.push(form.replace("RUN", run).replace("127.0.0.1:9/", &format!("127.0.0.1:{port}/")));
        }
    }
    all
}

/// A site of which each page has a vector in its title, text, attributes, headers and address.
pub(crate) struct HostileSite {
    server: Server,
    /// The server that the vectors ask.
    asked: Server,
}

impl HostileSite {
    pub(crate) fn start() -> HostileSite {
        let asked = Server::start(Arc::new(|_: &str, _: &str| Reply::status(404))).unwrap();
        let all = vectors(asked.port());
        let server = Server::start(Arc::new(move |_: &str, path: &str| {
            if path == "/robots.txt" {
                return Reply::text("User-agent: *\n# <script>alert(1)</script>\nDisallow: /none\n");
            }
            let at: usize = path.trim_start_matches('/').split('?').next().unwrap().parse().unwrap_or(0);
            let Some(vector) = all.get(at) else { return Reply::status(404) };
            let links: String = (0..all.len())
                .map(|n| format!("<li><a href=\"/{n}?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E\">{n}</a>"))
                .collect();
            let attribute = vector.replace('"', "&quot;");
            let body = format!(
                "<html lang=\"{attribute}\"><title>{vector}</title><meta name=author content=\"{attribute}\">
                <nav><ul>{links}</ul></nav><main><h1 class=\"{attribute}\">{vector}</h1>
                <p title=\"{attribute}\">Rye is a grass that is grown as a grain, number {at}. {vector}
                <img alt=\"{attribute}\" src=\"{attribute}\"></main><footer>The footer of all pages</footer>"
            );
            Reply::typed("text/html; charset=utf-8; x=\"<script>alert(1)</script>\"", body)
        }))
        .unwrap();
        HostileSite { server, asked }
    }

    pub(crate) fn crawl(&self, dir: &Path) {
        let resolve = format!("fetch.resolve=[\"hostile.test=127.0.0.1:{}\"]", self.server.port());
        let pages = format!("crawl.pages_per_site={}", vectors(0).len() + 5);
        let url = "http://hostile.test/0";
        let sets = ["politeness.delay=0", "fetch.allow_private=true", "crawl.probe=false", &resolve, &pages];
        let mut args = vec!["crawl", url, "--quiet", "--db", "h.db"];
        sets.iter().for_each(|set| args.extend(["--set", set]));
        let crawled = dehusk(dir, &args);
        assert!(crawled.status.success(), "{}", err(&crawled));
    }

    /// Requests that the vectors have sent.
    pub(crate) fn leaks(&self) -> usize {
        self.asked.arrivals().len()
    }
}

/// What a document may hold, by the view that it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Nothing that loads.
    Nothing,
    /// Styles, whose loads are forbidden by the policy of the answer.
    Styles,
    /// Addresses of stylesheets and pictures, too.
    Addresses,
}

/// Everything in a document that could run or ask, as an independent parser sees it.
fn live_parts(html: &str, holds: Holds) -> Vec<String> {
    let document = parse_document(RcDom::default(), Default::default()).one(html);
    let mut found = Vec::new();
    let mut waiting = vec![document.document.clone()];
    while let Some(node) = waiting.pop() {
        waiting.extend(node.children.borrow().iter().cloned());
        let NodeData::Element { name, attrs, template_contents, .. } = &node.data else { continue };
        waiting.extend(template_contents.borrow().iter().cloned());
        let name = name.local.to_string();
        let attributes: Vec<(String, String)> =
            attrs.borrow().iter().map(|a| (a.name.local.to_string(), a.value.trim().to_ascii_lowercase())).collect();
        let value =
            |wanted: &str| attributes.iter().find(|(name, _)| name == wanted).map_or("", |(_, value)| value.as_str());
        let is_own = |address: &str| address.starts_with('/') && !address.starts_with("//");
        let is_ours = match name.as_str() {
            "script" => value("src") == "/assets/inspector.js",
            "link" if holds == Holds::Addresses => {
                value("rel") == "stylesheet"
                    && value("href").starts_with("http")
                    && value("referrerpolicy") == "no-referrer"
            }
            "link" => matches!(value("href"), "/assets/inspector.css" | "data:,"),
            "img" if holds == Holds::Addresses => value("src").is_empty() || value("src").starts_with("http"),
            "img" if holds == Holds::Styles => value("src").is_empty(),
            "iframe" => {
                attributes.contains(&("sandbox".to_owned(), String::new())) && value("src").starts_with("/frame?")
            }
            "meta" => value("http-equiv").is_empty(),
            "form" => is_own(value("action")),
            "a" => value("href").is_empty() || is_own(value("href")) || value("href") == "#main",
            "base" | "object" | "embed" | "math" | "video" | "audio" | "source" | "track" | "frame" | "frameset"
            | "template" | "img" | "image" | "use" | "animate" | "portal" | "applet" | "area" => false,
            _ => value("href").is_empty() && value("src").is_empty(),
        };
        let is_live = |name: &str| {
            name.starts_with("on")
                || (name == "style" && holds == Holds::Nothing)
                || ["srcdoc", "srcset", "ping", "formaction", "background", "poster"].contains(&name)
        };
        if !is_ours || attributes.iter().any(|(name, _)| is_live(name)) {
            found.push(format!("<{name} {attributes:?}>"));
        }
    }
    found
}

#[test]
fn nothing_of_a_hostile_page_runs_or_asks() {
    assert!(vectors(0).len() >= 200, "{}", vectors(0).len());
    let site = HostileSite::start();
    let dir = tempfile::tempdir().unwrap();
    site.crawl(dir.path());
    let inspector = Inspector::start(dir.path(), &["--db", "h.db"]);
    let mut urls = Vec::new();
    let mut after = String::new();
    loop {
        let answer = inspector.get(&format!("/api/site?host=hostile.test&after={}", encoded(&after)));
        let part: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        urls.extend(part["pages"].as_array().unwrap().iter().map(|page| page["url"].as_str().unwrap().to_owned()));
        match part["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => break,
        }
    }
    assert!(urls.len() >= 200, "{} hostile pages are stored", urls.len());
    let mut paths =
        vec!["/".to_owned(), "/run?id=1".to_owned(), "/sites".to_owned(), "/site?host=hostile.test".to_owned()];
    for url in &urls {
        let url = encoded(url);
        paths.push(format!("/page?url={url}"));
        paths.push(format!("/frame?url={url}&show=fetched"));
        paths.push(format!("/frame?url={url}&show=overlay"));
        paths.push(format!("/frame?url={url}&show=design"));
        paths.push(format!("/frame?url={url}&show=design&pictures=true"));
    }
    for url in urls.iter().step_by(7) {
        let url = encoded(url);
        ["markdown", "text", "source", "diff"]
            .iter()
            .for_each(|view| paths.push(format!("/page?url={url}&view={view}")));
    }
    for path in &paths {
        let answer = inspector.get(path);
        assert_eq!(answer.status, 200, "{path}");
        let holds = match (path.contains("show=design"), path.contains("pictures=true")) {
            (false, _) => Holds::Nothing,
            (true, false) => Holds::Styles,
            (true, true) => Holds::Addresses,
        };
        let found = live_parts(&answer.body, holds);
        assert!(found.is_empty(), "{path}: {found:?}\n{}", answer.body);
        let scripts: Vec<&str> = answer.body.split("<script").skip(1).collect();
        let is_frame = path.starts_with("/frame");
        // In the text of a `style` element a script is text: the parser above has found none.
        assert!(holds != Holds::Nothing || scripts.len() == usize::from(!is_frame), "{path}: {}", answer.body);
        let is_own = |script: &&str| script.starts_with(" src=\"/assets/inspector.js\"");
        assert!(holds != Holds::Nothing || scripts.iter().all(is_own), "{path}");
        let policy = answer.head.lines().find(|line| line.starts_with("content-security-policy:")).unwrap();
        let wanted = if is_frame { "; sandbox" } else { "script-src 'self'" };
        assert!(policy.contains("default-src 'none'") && policy.contains(wanted), "{path}: {policy}");
        assert_eq!(policy.contains("http:"), holds == Holds::Addresses, "{path}: {policy}");
    }
    let found = inspector.get("/sites?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E");
    assert!(!found.body.contains("<script>alert"), "{}", found.body);
}
