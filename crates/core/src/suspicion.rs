//! Answers that look like a page and are none: a challenge, an empty shell for scripts, a wall to log in at, a page
//! that says that it was not found (a soft 404), a parked domain.
//!
//! The server says 200, so only the page itself can tell. Each kind needs a mark and little text: an article about
//! error 404 has text of its own. What is a mark is a general form (a password field, a place for scripts to write to)
//! or a phrase in the title or the first heading, in some thirty languages; for challenges and parking also addresses
//! of the services that serve them.

use dehusk_html::{NodeId, Tree, normalized, write_text};

/// Letters of text beside the mark from which on a page is one.
pub const LITTLE: usize = 400;

/// Letters of text below which a page is empty.
const NEXT_TO_NOTHING: usize = 60;

/// Nodes above which a page is neither a challenge nor a shell.
const SMALL: usize = 600;

/// Bytes of a page in which marks of scripts are looked for.
const MOST_OF_SOURCE: usize = 300_000;

/// Characters of a title or heading that are read.
const MOST_OF_HEADING: usize = 200;

/// What an answer seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspicion {
    /// A check that a person looks at it.
    Challenge,
    /// There is no text without scripts.
    NeedsScripts,
    /// It asks to log in.
    LoginWall,
    /// It says that the page was not found.
    SoftNotFound,
    /// The domain is for sale, or has no site yet.
    Parked,
}

/// Titles of challenges.
const CHALLENGES: [&str; 8] = [
    "just a moment",
    "attention required! | cloudflare",
    "checking your browser",
    "ddos-guard",
    "verify you are human",
    "are you a robot",
    "security check",
    "please wait... | cloudflare",
];

/// Parts of addresses and scripts of challenges.
const CHALLENGE_MARKS: [&str; 7] = [
    "/cdn-cgi/challenge-platform/",
    "_incapsula_resource",
    "captcha-delivery.com",
    "px-captcha",
    "sucuri_cloudproxy",
    "/_sec/cp_challenge/",
    "awswafintegration",
];

/// Phrases of titles and headings of pages that were not found. A number stands alone.
#[rustfmt::skip]
const NOT_FOUND: [&str; 37] = [
    "not found", "page cannot be found", "page can't be found", "page doesn't exist", "page does not exist",
    "no longer available", "error 404", "404 error", "nicht gefunden", "existiert nicht", "page introuvable",
    "non trouvée", "n'existe pas", "no encontrada", "no encontrado", "no existe", "não encontrada", "não existe",
    "non trovata", "non esiste", "niet gevonden", "bestaat niet", "nie znaleziono", "nie istnieje", "nenalezena",
    "nem található", "hittades inte", "ikke fundet", "ikke funnet", "ei löydy", "не найдена", "не знайдено",
    "bulunamadı", "tidak ditemukan", "不存在", "見つかりません", "찾을 수 없",
];

/// Phrases of titles, headings and buttons that ask to log in.
#[rustfmt::skip]
const LOG_IN: [&str; 24] = [
    "log in", "login", "log on", "sign in", "signin", "anmelden", "anmeldung", "einloggen", "connexion", "se connecter",
    "identifiez-vous", "iniciar sesión", "acceder", "entrar", "accedi", "inloggen", "zaloguj", "přihlásit", "logga in",
    "log ind", "войти", "вход", "登录", "ログイン",
];

/// Phrases of parked domains.
#[rustfmt::skip]
const PARKED: [&str; 8] = [
    "domain is for sale", "buy this domain", "domain for sale", "domain may be for sale", "this domain is parked",
    "parked domain", "diese domain steht zum verkauf", "domain is registered",
];

/// Elements that scripts write a page to, by id.
const MOUNTS: [&str; 8] = ["root", "app", "__next", "__nuxt", "___gatsby", "svelte", "main-app", "application"];

/// What a page seems to be that the server calls one; `None` if it looks like a page. `body` is the page as it came: a
/// tree has no scripts. `own_letters` counts the letters of its text without template; it is asked only where a mark is
/// found.
pub fn suspicion(tree: &Tree, body: &[u8], own_letters: impl FnOnce() -> usize) -> Option<Suspicion> {
    if tree.len() <= SMALL
        && let Some(found) = of_small_page(tree, body)
    {
        return Some(found);
    }
    let headings = headings(tree);
    let says = |phrases: &[&str]| headings.iter().any(|text| phrases.iter().any(|phrase| text.contains(phrase)));
    let is_not_found = says(&NOT_FOUND) || headings.iter().any(|text| is_404(text));
    let asks = says(&LOG_IN) && has_password(tree);
    if !(is_not_found || asks) || own_letters() >= LITTLE {
        return None;
    }
    Some(if asks { Suspicion::LoginWall } else { Suspicion::SoftNotFound })
}

/// Whether scripts write the text of a page: it has none, or next to none beside an empty place for scripts to write
/// to.
pub fn needs_scripts(tree: &Tree, body: &[u8]) -> bool {
    tree.len() <= SMALL
        && (of_small_page(tree, body) == Some(Suspicion::NeedsScripts) || {
            let is_empty = |mount: NodeId| {
                let mut below = tree.shape.subtree(mount).map(NodeId::new);
                !below.any(|node| tree.is_text(node) && !normalized(tree.text(node)).is_empty())
            };
            let has_scripts = || source_of(body).contains("<script");
            let mut mounts = tree.all("div").filter(|node| is_mount(tree, *node)).chain(tree.all("app-root"));
            has_scripts() && letters_of(tree, |_| true) < 3 * LITTLE && mounts.any(is_empty)
        })
}

fn of_small_page(tree: &Tree, body: &[u8]) -> Option<Suspicion> {
    let text = write_text(tree, |_| true).to_lowercase();
    let n_letters = letters(&text);
    if n_letters >= 3 * LITTLE {
        return None;
    }
    let source = source_of(body);
    let is_challenge = headings(tree).iter().any(|text| CHALLENGES.iter().any(|title| text.starts_with(title)))
        || CHALLENGE_MARKS.iter().any(|mark| source.contains(mark));
    if is_challenge && n_letters < LITTLE {
        return Some(Suspicion::Challenge);
    }
    let is_bare = n_letters == 0 && tree.all("img").next().is_none() && tree.all("frame").next().is_none();
    if n_letters < NEXT_TO_NOTHING && source.contains("<script") && (is_bare || is_shell(tree, &source)) {
        return Some(Suspicion::NeedsScripts);
    }
    (n_letters < LITTLE && PARKED.iter().any(|phrase| text.contains(phrase))).then_some(Suspicion::Parked)
}

/// The beginning of a page as it came, in small letters.
fn source_of(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(MOST_OF_SOURCE)]).to_ascii_lowercase()
}

/// Title and first heading, in small letters.
fn headings(tree: &Tree) -> Vec<String> {
    let first = |name: &str| tree.all(name).next();
    let text = |element: NodeId| {
        let texts = tree.shape.subtree(element).map(NodeId::new).filter(|node| tree.is_text(*node)).take(20);
        let joined = texts.map(|node| tree.text(node)).collect::<String>();
        normalized(&joined).chars().take(MOST_OF_HEADING).collect::<String>().to_lowercase()
    };
    [first("title"), first("h1").or_else(|| first("h2"))].into_iter().flatten().map(text).collect()
}

/// Whether a heading is the number, or begins or ends with it: "404", "404 | My site".
fn is_404(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.next() == Some("404") || words.next_back() == Some("404")
}

fn has_password(tree: &Tree) -> bool {
    tree.all("input").any(|input| tree.attr(input, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("password")))
}

/// Whether scripts are to write the page: there is a place for it, or a note says that it needs them.
fn is_shell(tree: &Tree, source: &str) -> bool {
    let mut notes = source.split("<noscript").skip(1).filter_map(|rest| rest.split("</noscript").next());
    let says_so = notes.any(|note| note.contains("javascript"));
    says_so || tree.all("div").any(|node| is_mount(tree, node)) || tree.all("app-root").next().is_some()
}

/// Whether scripts write to an element.
fn is_mount(tree: &Tree, node: NodeId) -> bool {
    let id = tree.attr(node, "id").map(str::to_ascii_lowercase);
    id.is_some_and(|id| MOUNTS.contains(&id.as_str()))
}

/// Letters and digits of a text.
fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Letters and digits of the text that `keeps` selects.
pub fn letters_of(tree: &Tree, keeps: impl Fn(NodeId) -> bool) -> usize {
    letters(&write_text(tree, keeps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    fn of(html: &str) -> Option<Suspicion> {
        let tree = parse(html, &ParseOptions::default());
        suspicion(&tree, html.as_bytes(), || letters_of(&tree, |_| true))
    }

    const RYE: &str = "Rye grows on poor soil, and in cold places where nothing else does. I sow it in October. ";

    #[test]
    fn what_is_no_page_is_told_by_its_kind() {
        let cases = [
            (Suspicion::Challenge, "<title>Just a moment...</title><script>x()</script><p>Checking your browser"),
            (Suspicion::Challenge, "<title>x</title><script src=/cdn-cgi/challenge-platform/h/b.js></script>"),
            (Suspicion::NeedsScripts, "<title>Shop</title><div id=root></div><script src=a.js></script>"),
            (
                Suspicion::NeedsScripts,
                "<title>S</title><body><noscript>Please enable JavaScript.</noscript><script src=a.js></script>",
            ),
            (Suspicion::NeedsScripts, "<script>location.href = '/p1'</script><body></body>"),
            (Suspicion::LoginWall, "<title>Sign in</title><form><input name=u><input type=password></form>"),
            (Suspicion::LoginWall, "<h1>Anmelden</h1><p>Bitte melden Sie sich an<form><input type=PASSWORD></form>"),
            (Suspicion::SoftNotFound, "<title>Page not found - Grain</title><nav>Home</nav><p>Sorry!"),
            (Suspicion::SoftNotFound, "<title>Grain</title><h1>404</h1>"),
            (Suspicion::SoftNotFound, "<title>Seite nicht gefunden | Korn</title><h1>Fehler</h1>"),
            (Suspicion::Parked, "<title>grain.test</title><p>This domain is for sale. <a href=/>Enquire</a>"),
        ];
        for (expected, html) in cases {
            assert_eq!(of(html), Some(expected), "{html}");
        }
    }

    #[test]
    fn a_page_with_an_empty_place_for_scripts_needs_them() {
        let needs = |html: &str| {
            let tree = parse(html, &ParseOptions::default());
            needs_scripts(&tree, html.as_bytes())
        };
        let menu = "<nav><a href=/>Home</a> <a href=/a>All about grain, flour and bread</a></nav>".repeat(3);
        assert!(needs(&format!("{menu}<div id=root><p> </p></div><script src=a.js></script>")));
        assert!(needs("<title>Rye</title><div id=app></div><script src=a.js></script>"));
        assert!(!needs(&format!("{menu}<div id=root></div>")), "no script");
        assert!(!needs(&format!("{menu}<div id=root><p>{RYE}</div><script></script>")));
        assert!(!needs(&format!("<p>{}<div id=root></div><script></script>", RYE.repeat(20))));
    }

    #[test]
    fn pages_about_these_things_are_pages() {
        let long = RYE.repeat(8);
        for html in [
            format!("<title>Error 404 and other statuses</title><h1>Error 404</h1><p>{long}"),
            format!("<title>Sign in with a key</title><form><input type=password></form><p>{long}"),
            format!("<title>Rye</title><div id=app><p>{RYE}</div><script></script>"),
            format!("<title>Just a moment in the rye</title><p>{long}"),
            "<title>Rye</title><p>Short.".to_owned(),
            "<title>Peugeot 404</title><p>".to_owned() + &long,
            format!("<title>Home</title><form><input type=password><button>Log in</button></form><p>{RYE}"),
            String::new(),
        ] {
            assert_eq!(of(&html), None, "{html}");
        }
    }
}
