//! The elements and attributes that a written page may have. Everything else is left out.
//!
//! No element is written whose content a parser does not read as markup (`style`, `iframe`, `noscript`, `xmp`, ...),
//! and no comment. So the tokenizer of a reader stays in one state from the first byte to the last, and cannot read
//! other tags than those that were written.

/// How an element of the page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// As this element.
    As(&'static str),
    /// Its content, with nothing around it.
    Content,
    /// Its content, with a blank around it.
    Apart,
    /// Its content, on lines of its own.
    Lines,
    /// Not at all, and its content neither. A blank is written.
    Nothing,
}

/// Elements that show text and load nothing.
#[rustfmt::skip]
const TEXT: &[&str] = &[
    "a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "blockquote", "br", "caption", "cite", "code", "col",
    "colgroup", "data", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "footer", "h1",
    "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "i", "ins", "kbd", "li", "main", "mark", "nav", "ol", "p",
    "pre", "q", "rp", "rt", "ruby", "s", "samp", "section", "small", "span", "strong", "sub", "summary", "sup", "table",
    "tbody", "td", "tfoot", "th", "thead", "time", "tr", "u", "ul", "var", "wbr",
];

/// Elements that show pictures, sounds, films and amounts.
const MEDIA: &[&str] = &["audio", "img", "meter", "picture", "progress", "source", "video"];

/// MathML Core without elements that hold HTML or load anything.
#[rustfmt::skip]
const MATH: &[&str] = &[
    "annotation", "math", "menclose", "mfenced", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded",
    "mphantom", "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable",
    "mtd", "mtext", "mtr", "munder", "munderover", "semantics",
];

/// The element that text of this element is shown in: itself, or one that stands for it. `None` where the text is shown
/// with nothing around it.
pub fn text_element(name: &str) -> Option<&'static str> {
    match element(name) {
        Written::As(known) => TEXT.contains(&known).then_some(known),
        Written::Lines => Some("div"),
        Written::Content | Written::Apart | Written::Nothing => None,
    }
}

/// How an element of the body is written.
pub(super) fn element(name: &str) -> Written {
    if let Some(known) = [TEXT, MEDIA, MATH].into_iter().flatten().find(|known| **known == name) {
        return Written::As(known);
    }
    match name {
        "xmp" | "plaintext" | "listing" | "textarea" => Written::As("pre"),
        "center" | "form" | "fieldset" | "dialog" | "search" | "noscript" => Written::As("div"),
        "dir" | "menu" => Written::As("ul"),
        "amp-img" | "amp-anim" => Written::As("img"),
        "tt" => Written::As("code"),
        "strike" => Written::As("s"),
        "acronym" => Written::As("abbr"),
        "select" | "optgroup" | "option" | "legend" => Written::Lines,
        "button" | "svg" | "title" | "desc" | "text" | "object" | "canvas" => Written::Apart,
        "iframe" | "noembed" | "noframes" | "embed" | "frame" | "input" | "link" | "meta" | "base" | "param"
        | "track" | "area" | "#comment" => Written::Nothing,
        _ => Written::Content,
    }
}

/// Whether an element has no content and no end tag.
pub fn is_void(name: &str) -> bool {
    matches!(name, "br" | "col" | "hr" | "img" | "meta" | "link" | "source" | "wbr")
}

/// What an attribute holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Text.
    Text,
    /// The address of a page.
    Link,
    /// The address of a picture, a sound or a film.
    Media,
    /// Addresses of pictures with their sizes (`srcset`).
    MediaSet,
}

/// What an attribute of a written element holds; `None` if it is left out.
pub(super) fn attribute(element: &str, name: &str) -> Option<Value> {
    match (element, name) {
        (_, "id" | "class" | "lang" | "dir" | "title") => Some(Value::Text),
        ("a", "href") => Some(Value::Link),
        ("a", "name" | "hreflang" | "rel") => Some(Value::Text),
        ("blockquote" | "q" | "ins" | "del", "cite") => Some(Value::Link),
        ("ins" | "del" | "time", "datetime") => Some(Value::Text),
        ("img", "alt" | "width" | "height") => Some(Value::Text),
        ("img" | "source" | "audio" | "video", "src") => Some(Value::Media),
        ("img" | "source", "srcset") => Some(Value::MediaSet),
        ("img" | "source", "sizes") | ("source", "media" | "type") => Some(Value::Text),
        ("video", "width" | "height") => Some(Value::Text),
        ("ol", "start" | "reversed" | "type") | ("li", "value") => Some(Value::Text),
        ("td" | "th", "colspan" | "rowspan" | "headers" | "scope" | "abbr") => Some(Value::Text),
        ("col" | "colgroup", "span") => Some(Value::Text),
        ("data" | "meter" | "progress", "value" | "min" | "max") | ("details", "open") => Some(Value::Text),
        ("math", "alttext" | "display") | ("annotation", "encoding") => Some(Value::Text),
        _ => None,
    }
}

/// Names of `meta` elements that a browser acts on.
const ACTED_ON: [&str; 4] = ["referrer", "viewport", "color-scheme", "theme-color"];

/// Whether a `meta` element of the head says something about the page. What a browser would act on is left out.
pub(super) fn is_plain_meta(attrs: &mut dyn Iterator<Item = (&str, &str)>) -> bool {
    let mut has_name = false;
    for (name, value) in attrs {
        match name {
            "name" if ACTED_ON.iter().any(|known| value.trim().eq_ignore_ascii_case(known)) => return false,
            "name" | "property" | "itemprop" => has_name = true,
            "http-equiv" | "charset" => return false,
            _ => {}
        }
    }
    has_name
}

/// Whether a `link` element of the head names another page, and loads nothing.
pub(super) fn is_plain_link(rel: &str) -> bool {
    let mut rels = rel.split_ascii_whitespace().peekable();
    let is_plain = |rel: &str| {
        ["canonical", "alternate", "author", "license", "next", "prev"]
            .iter()
            .any(|known| rel.eq_ignore_ascii_case(known))
    };
    rels.peek().is_some() && rels.all(is_plain)
}
