//! Pages whose text is only in data: JSON-LD (`articleBody`), and the state that a framework sends with a page.
//!
//! A browser shows such a text once scripts have run, or to subscribers. It is read where the page shows less than half
//! as much by itself, and less than [`ENOUGH`] letters. It is put at the end of the body, as an `article`.

use memchr::memmem;
use rustc_hash::FxHashSet;
use serde_json::Value;

use super::noscript::shows_less;
use super::text::normalized;
use super::tokenizer::decode_references;
use super::{NodeId, Tree};

/// Letters and digits from which on a text in data can be that of the page.
const LEAST_TEXT: usize = 250;

/// Letters and digits of a page that shows enough by itself: its data is not read, which can take longer than the page.
const ENOUGH: usize = 3000;

/// Bytes of data that are read of a page.
const MOST_BYTES: usize = 4_000_000;

/// What the start tag or the text of a script holds that has the state of a framework.
const STATES: [&str; 4] = ["__NEXT_DATA__", "__NUXT_DATA__", "__APOLLO_STATE__", "__PRELOADED_STATE__"];

/// How the names of values end that hold the text of a page: `articleBody`, `content_html`.
const TEXT_NAMES: [&str; 6] = ["body", "content", "html", "markup", "rendered", "text"];

/// The text that stands in the data of a page as markup, if the page shows less than half of it.
pub(super) fn markup(html: &str, tree: &Tree) -> Option<String> {
    if !shows_less(tree, ENOUGH) {
        return None;
    }
    let text = json_ld_text(html).into_iter().chain(state_text(html)).max_by_key(|text| n_letters(text))?;
    let n = n_letters(&text);
    (n >= LEAST_TEXT && shows_less(tree, n.div_ceil(2)))
        .then(|| format!("<article>{}</article>", without_shown(&as_markup(&text), tree)))
}

/// Markup without the paragraphs that the page shows: the beginning of the text.
fn without_shown(markup: &str, tree: &Tree) -> String {
    let texts = tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node));
    let shown: FxHashSet<String> = texts.map(|node| normalized(tree.text(node))).collect();
    let is_new = |paragraph: &&str| !shown.contains(&normalized(&decode_references(&without_tags(paragraph))));
    markup.split_inclusive("</p>").filter(is_new).collect()
}

fn without_tags(markup: &str) -> String {
    let mut text = String::with_capacity(markup.len());
    for (at, part) in markup.split('<').enumerate() {
        text.push_str(if at == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) });
    }
    text
}

/// The body of the article of JSON-LD.
fn json_ld_text(html: &str) -> Option<String> {
    memmem::find(html.as_bytes(), b"articleBody")?;
    scripts(html, "application/ld+json").filter_map(|data| longest(&data, &["articlebody"])).max_by_key(String::len)
}

/// The longest text in the state of a framework.
fn state_text(html: &str) -> Option<String> {
    let states = STATES.iter().filter(|name| memmem::find(html.as_bytes(), name.as_bytes()).is_some());
    states.flat_map(|name| scripts(html, name)).filter_map(|data| longest(&data, &TEXT_NAMES)).max_by_key(String::len)
}

/// The JSON of the scripts whose tag or text names this mark. Of a script that assigns it, what follows the `=`.
fn scripts<'h>(html: &'h str, mark: &'h str) -> impl Iterator<Item = Value> + 'h {
    let mut budget = MOST_BYTES;
    memmem::find_iter(html.as_bytes(), mark.as_bytes()).collect::<Vec<_>>().into_iter().filter_map(move |at| {
        let rest = &html[at + mark.len()..];
        let end = memmem::find(rest.as_bytes(), b"</script").unwrap_or(rest.len());
        let script = &rest[..end];
        let json = &script[script.find(['{', '['])?..];
        budget = budget.checked_sub(json.len())?;
        serde_json::Deserializer::from_str(json).into_iter::<Value>().next()?.ok()
    })
}

/// The longest text of values whose names end so. Nuxt writes its values as a list, where each can be the text.
fn longest(data: &Value, names: &[&str]) -> Option<String> {
    let mut stack = vec![(data, false)];
    let mut found: Option<&str> = None;
    while let Some((value, is_text)) = stack.pop() {
        match value {
            Value::String(text) if is_text && found.is_none_or(|found| text.len() > found.len()) && is_prose(text) => {
                found = Some(text);
            }
            Value::Array(values) => {
                let is_flat = std::ptr::eq(value, data);
                stack.extend(values.iter().map(|value| (value, is_text || is_flat)));
            }
            Value::Object(object) => {
                let is_text = |name: &str| names.iter().any(|end| name.to_lowercase().ends_with(end));
                stack.extend(object.iter().map(|(name, value)| (value, is_text(name))));
            }
            _ => {}
        }
    }
    found.map(str::to_owned)
}

/// Whether a text is written for readers: words with blanks, and not code or an address.
fn is_prose(text: &str) -> bool {
    let n_chars = text.chars().count();
    let n_wide = text.chars().filter(|c| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')).count();
    let n_words = text.split_whitespace().count() + n_wide / 2;
    let n_signs = text.chars().filter(|c| matches!(c, '{' | '}' | ';' | '=')).count();
    n_words >= 30 && n_chars <= 25 * n_words && n_signs * 20 <= n_chars
}

/// Letters and digits outside of tags.
fn n_letters(text: &str) -> usize {
    super::noscript::text_len(text)
}

/// A text as markup: as it is if it is markup, else a paragraph for each line.
fn as_markup(text: &str) -> String {
    let text = if text.contains("&lt;") { decode_references(text) } else { text.into() };
    if ["<p", "<P", "<div", "<br", "<h2", "</"].iter().any(|tag| text.contains(tag)) {
        return text.into_owned();
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| format!("<p>{}</p>", line.replace('&', "&amp;").replace('<', "&lt;"))).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Note, ParseOptions, parse, write_text};

    fn text(html: &str) -> String {
        write_text(&parse(html, &ParseOptions::default()), |_| true)
    }

    #[test]
    fn a_text_in_data_is_read_where_the_page_shows_little() {
        let rye = "Rye is a grain that grows in cold places, and on poor soil. ".repeat(8);
        let script = |body: &str| {
            let json = serde_json::json!({"@type": "NewsArticle", "articleBody": body});
            format!("<script type='application/ld+json'>{json}</script>")
        };
        let page =
            parse(&format!("{}<h1>Rye</h1><p>Subscribe.</p></body></html>", script(&rye)), &ParseOptions::default());
        assert_eq!(page.notes(), [Note::DataTextKept]);
        assert_eq!(write_text(&page, |_| true), format!("Rye\n\nSubscribe.\n\n{}\n", rye.trim()));
        assert_eq!(text(&format!("{}<p>{rye}</p>", script(&rye))), format!("{}\n", rye.trim()), "shown by itself");
        assert_eq!(text(&format!("{}<h1>Rye</h1>", script("A grain."))), "Rye\n", "too little");
        let begun = format!(
            "{}<h1>Rye</h1><p>It is a grass &amp; a grain.</p>",
            script(&format!("It is a grass & a grain.\n{rye}"))
        );
        assert_eq!(text(&begun).matches("grass").count(), 1);
        let lines = format!("{rye}\n\n1 < 2");
        assert!(text(&format!("{}<h1>Rye</h1>", script(&lines))).ends_with("\n\n1 < 2\n"));
    }

    #[test]
    fn the_state_of_a_framework_holds_the_text() {
        let markup = format!("<p>{}</p>", "Rye is a grain that grows in cold places, and on poor soil. ".repeat(8));
        let next = serde_json::json!({"props": {"pageProps": {"post": {"title": "Rye", "content": markup}}}});
        let page = format!(
            "<div id=__next><h1>Rye</h1></div><script id=\"__NEXT_DATA__\" type=\"application/json\">{next}</script>"
        );
        assert!(text(&page).starts_with("Rye\n\nRye is a grain"), "{}", text(&page));
        let apollo = format!("<p>Rye<script>window.__APOLLO_STATE__ = {next};</script>");
        assert!(text(&apollo).contains("poor soil"));
        let nuxt = serde_json::json!([["Reactive", 1], {"content": 2}, markup]);
        assert!(text(&format!("<p>Rye<script id=__NUXT_DATA__>{nuxt}</script>")).contains("poor soil"));
        for broken in ["<script id=__NEXT_DATA__>{", "__NEXT_DATA__", "<script id=__NEXT_DATA__>[[[[</script>"] {
            assert!(text(&format!("<p>Rye</p>{broken}")).starts_with("Rye"), "{broken}");
        }
    }
}
