//! Pages in a real browser. They run with `BROWSER=1`, where Chromium is installed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use dehusk_browser::{Answer, Browser, BrowserOptions, Document, Gate, Limits, Origins, RenderError, Rendered, Wanted};
use url::Url;

/// A site that is a table of answers.
#[derive(Default)]
struct Table {
    answers: HashMap<&'static str, &'static str>,
    delay: Duration,
    asked: Mutex<Vec<Wanted>>,
}

impl Table {
    fn new(answers: &[(&'static str, &'static str)]) -> Table {
        Table { answers: answers.iter().copied().collect(), ..Table::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|wanted| wanted.url.to_string()).collect()
    }
}

impl Gate for Table {
    fn is_foreign(&self, url: &Url) -> bool {
        !url.host_str().unwrap_or_default().ends_with("grain.test")
    }

    async fn ask(&self, wanted: Wanted) -> Option<Answer> {
        let found = self.answers.get(wanted.url.as_str()).copied();
        self.asked.lock().unwrap().push(wanted);
        tokio::time::sleep(self.delay).await;
        let (status, headers, body) = match found?.split_once(' ') {
            Some(("->", target)) => (302, vec![("Location".to_owned(), target.to_owned())], ""),
            _ => {
                let kind = if found?.starts_with('{') { "application/json" } else { "text/javascript" };
                let open = ("Access-Control-Allow-Origin".to_owned(), "*".to_owned());
                (200, vec![("Content-Type".to_owned(), kind.to_owned()), open], found?)
            }
        };
        Some(Answer { status, headers, body: Bytes::from_static(body.as_bytes()) })
    }
}

fn options() -> BrowserOptions {
    // The sandbox does not work as root, which tests often run as.
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0);
    BrowserOptions { sandbox: !is_root, ..BrowserOptions::default() }
}

/// Whether tests with a browser are wanted.
fn is_wanted() -> bool {
    std::env::var_os("BROWSER").is_some()
}

async fn render(body: &'static str, gate: &Table, origins: Origins) -> Result<Rendered, RenderError> {
    render_in(&Browser::new(options()), body, gate, origins, Limits::default()).await
}

async fn render_in(
    browser: &Browser,
    body: &'static str,
    gate: &Table,
    origins: Origins,
    limits: Limits,
) -> Result<Rendered, RenderError> {
    let document = Document {
        url: Url::parse("https://grain.test/rye").unwrap(),
        content_type: Some("text/html".to_owned()),
        body: Bytes::from_static(body.as_bytes()),
    };
    browser.render(&document, origins, &limits, gate).await
}

const SHELL: &str = "<!DOCTYPE html><html lang=en><title>Rye</title><link rel=stylesheet href=/a.css>
    <noscript>Please enable JavaScript.</noscript><div id=root></div><script src=/a.js></script>";

#[tokio::test]
async fn a_shell_becomes_its_text_whatever_the_delay() {
    if !is_wanted() {
        return;
    }
    // Three seconds of its own clock, and an answer that takes longer than it would wait.
    let script = "const root = document.querySelector('#root');
        const stop = new AbortController();
        setTimeout(() => stop.abort(), 700);
        setTimeout(() => fetch('/rye.json', { signal: stop.signal, headers: { 'X-Version': '7' } })
            .then(answer => answer.json())
            .then(({ text }) => {
                root.innerHTML = `<h1>Rye</h1><p>${text}</p><rye-box></rye-box>`;
                root.lastChild.attachShadow({ mode: 'open' }).innerHTML = '<p>In a shadow';
                setTimeout(() => root.append('Later'), 1500);
            }), 500);
        setInterval(() => { document.title = 'Rye ' + Math.random() }, 100);";
    let answers = [("https://grain.test/a.js", script), ("https://grain.test/rye.json", r#"{"text":"A tall grass"}"#)];
    let gate = Table { delay: Duration::from_secs(1), ..Table::new(&answers) };
    let rendered = render(SHELL, &gate, Origins::Site).await.unwrap();
    let html = &rendered.html;
    assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\"><head>"), "{html}");
    assert!(html.contains("<h1>Rye</h1><p>A tall grass</p>") && html.contains("Later"), "{html}");
    assert!(html.contains("<template shadowrootmode=\"open\"><p>In a shadow</p></template>"), "{html}");
    assert!(!html.contains("enable JavaScript"), "{html}");
    // No style was asked for.
    assert_eq!(gate.asked(), ["https://grain.test/a.js", "https://grain.test/rye.json"]);
    let version = ("X-Version".to_owned(), "7".to_owned());
    assert!(gate.asked.lock().unwrap()[1].headers.contains(&version));
    assert_eq!((rendered.n_requests, rendered.asked_foreign, rendered.leads_to), (2, false, None));
}

#[tokio::test]
async fn what_waits_for_frames_and_idle_moments_is_waited_for() {
    if !is_wanted() {
        return;
    }
    let page = "<div id=root></div><div id=far style='margin-top: 3000px'></div><script>
        let n = 0;
        requestAnimationFrame(function next() { root.append('frame '); if (++n < 4) requestAnimationFrame(next) });
        requestIdleCallback(() => { root.append('idle ') });
        new IntersectionObserver(() => { root.append('view ') }).observe(far);
        new ResizeObserver(() => { root.append('size ') }).observe(far);
        </script>";
    let browser = Browser::new(options());
    let renders = (0..8).map(|_| async {
        let gate = Table::default();
        render_in(&browser, page, &gate, Origins::Site, Limits::default()).await.unwrap().html
    });
    // Side by side: there is less of the processor for each.
    for html in futures_util::future::join_all(renders).await {
        let (_, shown) = html.split_once("id=\"root\">").unwrap();
        let (shown, _) = shown.split_once('<').unwrap();
        let counts = ["frame ", "idle ", "view ", "size "].map(|what| shown.matches(what).count());
        assert_eq!(counts, [4, 1, 1, 1], "{shown}");
    }
}

#[tokio::test]
async fn other_hosts_are_asked_where_the_text_needs_them() {
    if !is_wanted() {
        return;
    }
    let page = "<div id=root></div><script src=https://cdn.test/lib.js></script><script src=/a.js></script>";
    let answers = [
        ("https://cdn.test/lib.js", "window.write = text => { document.querySelector('#root').textContent = text }"),
        ("https://grain.test/a.js", "write('A tall grass that bears cold and poor soil.')"),
    ];
    let gate = Table::new(&answers);
    let alone = render(page, &gate, Origins::Site).await.unwrap();
    assert!(alone.letters == 0 && !alone.asked_foreign);
    let needed = render(page, &gate, Origins::Needed).await.unwrap();
    assert!(needed.html.contains("A tall grass") && needed.asked_foreign, "{}", needed.html);
    assert_eq!(gate.asked().iter().filter(|url| url.contains("cdn")).count(), 1);
}

#[tokio::test]
async fn redirects_pass_the_gate_step_by_step_and_scripts_lead_nowhere() {
    if !is_wanted() {
        return;
    }
    let page = "<div id=root></div><script src=/old.js></script><script>setTimeout(() => { location.href = '/there' }, 100)</script>";
    let answers = [("https://grain.test/old.js", "-> /new.js"), ("https://grain.test/new.js", "root.append('Rye')")];
    let gate = Table::new(&answers);
    let rendered = render(page, &gate, Origins::Site).await.unwrap();
    assert_eq!(gate.asked(), ["https://grain.test/old.js", "https://grain.test/new.js"]);
    assert!(rendered.html.contains(">Rye</div>"), "{}", rendered.html);
    assert_eq!(rendered.leads_to.map(String::from).as_deref(), Some("https://grain.test/there"));
}

/// Pages that mean harm, what each leads to, and that the next page of the same browser is rendered all the same.
#[tokio::test]
async fn hostile_pages_end_and_the_next_page_is_rendered() {
    if !is_wanted() {
        return;
    }
    let limits = Limits { patience: Duration::from_secs(3), requests: 20, nodes: 5000, ..Limits::default() };
    let browser = Browser::new(BrowserOptions { memory: 400 << 20, ..options() });
    let gate = Table::new(&[("https://grain.test/a.js", "root.append('Rye')"), ("https://grain.test/e", "{}")]);
    let cases: [(&str, &str); 12] = [
        ("<script>for (;;) {}</script>", "have worked for 3 s"),
        ("<script>queueMicrotask(function again() { queueMicrotask(again) })</script>", "have worked"),
        ("<p>Rye<script>setInterval(() => {}, 0); setInterval(() => document.title += 'x', 1)</script>", "Rye"),
        (
            "<script>const all = []; for (;;) all.push(new ArrayBuffer(5e7).slice(0)), new Uint8Array(all.at(-1)).fill(1)</script>",
            "crashed",
        ),
        ("<script>let all = [{}]; for (;;) all = all.concat(all.map(x => ({ x })))</script>", "crashed"),
        (
            "<script>for (let n = 0; n < 9000; n++) document.documentElement.append(document.createElement('p'))</script>",
            "elements",
        ),
        (
            "<p>Rye<script>(function ask() { fetch('/e').finally(ask) })(); for (let n = 0; n < 3000; n++) fetch('/e?' + n)</script>",
            "Rye",
        ),
        ("<p>Rye<script>alert(1); confirm(2); prompt(3); print(); onbeforeunload = () => 'no'</script>", "Rye"),
        (
            "<p>Rye<script>for (let n = 0; n < 50; n++) open('/popup' + n)</script><a id=a href=/x target=_blank></a><script>a.click()</script>",
            "Rye",
        ),
        (
            "<p>Rye<script>document.body.innerHTML += '<a id=d download href=data:text/plain,x>'; d.click(); location = 'file:///etc/passwd'</script>",
            "Rye",
        ),
        (
            "<p>Rye<script>setInterval(() => location.reload(), 100)</script><meta http-equiv=refresh content='0;url=/elsewhere'>",
            "Rye",
        ),
        (
            "<p>Rye<script>Document.prototype.createTreeWalker = Element.prototype.getHTML = () => { throw 'mine' }; String.prototype.slice = null; document.write('<p>More')</script>",
            "More",
        ),
    ];
    for (page, expected) in cases {
        let outcome = render_in(&browser, page, &gate, Origins::All, limits).await;
        let told = outcome.map(|rendered| rendered.html).unwrap_or_else(|e| e.to_string());
        assert!(told.contains(expected), "{page}\n{}", &told[..told.len().min(500)]);
        let next = render_in(&browser, SHELL, &gate, Origins::Site, limits).await.unwrap();
        assert!(next.html.contains(">Rye</div>"), "after {page}");
    }
    assert!(gate.asked().len() < 200, "{}", gate.asked().len());
}

/// A page tries every way out that has no request which passes the gate. A server on this machine hears of none.
#[tokio::test]
async fn nothing_leaves_the_browser_beside_the_gate() {
    if !is_wanted() {
        return;
    }
    let server = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let datagrams = tokio::net::UdpSocket::bind(("127.0.0.1", 0)).await.unwrap();
    let (port, udp) = (server.local_addr().unwrap().port(), datagrams.local_addr().unwrap().port());
    let page = format!(
        "<p>Rye<link rel=preconnect href=http://127.0.0.1:{port}><link rel=dns-prefetch href=http://127.0.0.1:{port}>
        <link rel=prefetch href=http://127.0.0.1:{port}/p><link rel=prerender href=http://127.0.0.1:{port}/q>
        <link rel=preload as=fetch href=http://127.0.0.1:{port}/r><link rel=modulepreload href=http://127.0.0.1:{port}/s>
        <link rel=manifest href=http://127.0.0.1:{port}/m><link rel=icon href=http://127.0.0.1:{port}/i>
        <img src=http://127.0.0.1:{port}/img><img srcset='http://127.0.0.1:{port}/set 2x'><video src=http://127.0.0.1:{port}/v></video>
        <iframe src=http://127.0.0.1:{port}/f></iframe><iframe srcdoc='<img src=http://127.0.0.1:{port}/g><script>fetch(\"http://127.0.0.1:{port}/h\")</script>'></iframe>
        <object data=http://127.0.0.1:{port}/o></object><embed src=http://127.0.0.1:{port}/e>
        <style>@import url(http://127.0.0.1:{port}/css); @font-face {{ font-family: f; src: url(http://127.0.0.1:{port}/font) }} p {{ font-family: f; background: url(http://127.0.0.1:{port}/bg) }}</style>
        <form id=form action=http://127.0.0.1:{port}/post method=post target=_blank></form>
        <script type=speculationrules>{{\"prefetch\":[{{\"urls\":[\"http://127.0.0.1:{port}/spec\"]}}],\"prerender\":[{{\"urls\":[\"http://127.0.0.1:{port}/spec2\"]}}]}}</script>
        <script>
        const out = 'http://127.0.0.1:{port}/', tries = [
            () => navigator.sendBeacon(out + 'beacon', 'x'), () => fetch(out, {{ method: 'POST', keepalive: true, body: 'x' }}),
            () => fetch(out + 'k', {{ keepalive: true, mode: 'no-cors' }}),
            () => new WebSocket('ws://127.0.0.1:{port}/ws'), () => new EventSource(out + 'es'),
            () => form.submit(), () => open(out + 'window'), () => new Worker(out + 'w.js'),
            () => new Worker(URL.createObjectURL(new Blob([`fetch('${{out}}fw', {{ mode: 'no-cors' }}); new WebSocket('ws://127.0.0.1:{port}/ww'); importScripts('${{out}}is')`]))),
            () => {{ const pc = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:127.0.0.1:{udp}' }}] }}); pc.createDataChannel('x'); pc.createOffer().then(o => pc.setLocalDescription(o)) }},
            () => {{ const frame = document.body.appendChild(document.createElement('iframe')); const pc = new frame.contentWindow.RTCPeerConnection({{ iceServers: [{{ urls: 'stun:127.0.0.1:{udp}' }}] }}); pc.createDataChannel('x'); pc.createOffer().then(o => pc.setLocalDescription(o)) }},
            () => new WebTransport('https://127.0.0.1:{udp}/'), () => navigator.serviceWorker.register('/sw.js'),
            () => new SharedWorker(out + 'shared.js'), () => import(out + 'module.js'),
            () => {{ const a = document.createElement('a'); a.href = out + 'a'; a.ping = out + 'ping'; document.body.append(a); a.click() }},
            () => {{ location = out + 'location' }}, () => {{ const x = new XMLHttpRequest(); x.open('GET', out + 'sync', false); x.send() }},
        ];
        for (const attempt of tries) try {{ Promise.resolve(attempt()).catch(() => 0) }} catch {{}}
        </script>"
    );
    let gate = Table::default();
    let browser = Browser::new(options());
    let rendered = render_in(&browser, page.leak(), &gate, Origins::All, Limits::default()).await.unwrap();
    assert!(rendered.html.contains("<p>Rye"));
    // What scripts ask for has come to the gate, which has refused it.
    assert!(gate.asked().iter().any(|url| url.ends_with("/k")) && gate.asked().iter().any(|url| url.ends_with("/fw")));
    let connected = tokio::time::timeout(Duration::from_secs(1), server.accept()).await;
    assert!(connected.is_err(), "{:?}", connected.map(|c| c.map(|(_, from)| from)));
    let mut bytes = [0; 100];
    assert!(tokio::time::timeout(Duration::from_millis(200), datagrams.recv(&mut bytes)).await.is_err());
}
