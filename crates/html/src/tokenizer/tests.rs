//! The same tokens as html5ever's tokenizer, which is the oracle.

use std::cell::{Cell, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    TagKind, Token, TokenSink as OracleSink, TokenSinkResult, Tokenizer as Oracle, TokenizerOpts,
};
use proptest::prelude::*;

use super::{Content, Doctype, StartTag, TokenSink, normalized_newlines, tokenize};
use crate::names::{Name, NameTable};

/// Writes tokens down, texts joined, and switches the state for the elements that the tree builder does.
#[derive(Default)]
struct Recorder {
    tokens: Vec<String>,
    text: String,
    /// Open `svg` elements, in which CDATA sections are read.
    foreign: usize,
}

impl Recorder {
    fn note(&mut self, token: String) {
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            self.tokens.push(format!("text {text:?}"));
        }
        self.tokens.push(token);
    }

    fn start(&mut self, name: &str, is_self_closing: bool, attrs: &[(&str, &str)]) -> Content {
        self.note(format!("start {name} {is_self_closing} {attrs:?}"));
        self.foreign += usize::from(name == "svg");
        match name {
            "script" => Content::Script,
            "style" | "xmp" | "noscript" => Content::Plain,
            "title" | "textarea" => Content::WithReferences,
            "plaintext" => Content::Plaintext,
            _ => Content::Markup,
        }
    }

    fn end(&mut self, name: &str) {
        self.note(format!("end {name}"));
        self.foreign = self.foreign.saturating_sub(usize::from(name == "svg"));
    }

    fn doctype(&mut self, parts: [Option<&str>; 3], force_quirks: bool) {
        self.note(format!("doctype {parts:?} {force_quirks}"));
    }
}

struct Ours {
    recorder: Recorder,
    names: NameTable,
}

impl TokenSink for Ours {
    fn names(&mut self) -> &mut NameTable {
        &mut self.names
    }

    fn start_tag(&mut self, tag: &StartTag<'_>) -> Content {
        let attrs: Vec<(&str, &str)> =
            tag.attrs.iter().map(|attr| (self.names.text(attr.name), &*attr.value)).collect();
        self.recorder.start(self.names.text(tag.name), tag.is_self_closing, &attrs)
    }

    fn end_tag(&mut self, name: Name) {
        self.recorder.end(self.names.text(name));
    }

    fn text(&mut self, text: &str) {
        assert!(!text.is_empty());
        self.recorder.text.push_str(text);
    }

    fn nul(&mut self) {
        self.recorder.text.push('\0');
    }

    fn comment(&mut self, text: &str) {
        self.recorder.note(format!("comment {text:?}"));
    }

    fn doctype(&mut self, doctype: &Doctype) {
        let parts = [&doctype.name, &doctype.public_id, &doctype.system_id];
        self.recorder.doctype(parts.map(Option::as_deref), doctype.force_quirks);
    }

    fn end(&mut self) {
        self.recorder.note("end".to_owned());
    }

    fn is_foreign(&self) -> bool {
        self.recorder.foreign > 0
    }

    fn is_full(&self) -> bool {
        false
    }
}

#[derive(Default)]
struct OracleRecorder {
    recorder: RefCell<Recorder>,
    foreign: Cell<bool>,
}

impl OracleSink for OracleRecorder {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut recorder = self.recorder.borrow_mut();
        let mut content = Content::Markup;
        match token {
            Token::CharacterTokens(text) => recorder.text.push_str(&text),
            Token::NullCharacterToken => recorder.text.push('\0'),
            Token::ParseError(_) => {}
            Token::TagToken(tag) if tag.kind == TagKind::EndTag => recorder.end(&tag.name),
            Token::TagToken(tag) => {
                let attrs: Vec<(&str, &str)> = tag.attrs.iter().map(|attr| (&*attr.name.local, &*attr.value)).collect();
                content = recorder.start(&tag.name, tag.self_closing, &attrs);
            }
            Token::CommentToken(text) => recorder.note(format!("comment {:?}", &*text)),
            Token::DoctypeToken(doctype) => {
                let parts = [&doctype.name, &doctype.public_id, &doctype.system_id];
                recorder.doctype(parts.map(Option::as_deref), doctype.force_quirks);
            }
            Token::EOFToken => recorder.note("end".to_owned()),
        }
        self.foreign.set(recorder.foreign > 0);
        match content {
            Content::Markup => TokenSinkResult::Continue,
            Content::WithReferences => TokenSinkResult::RawData(RawKind::Rcdata),
            Content::Plain => TokenSinkResult::RawData(RawKind::Rawtext),
            Content::Script => TokenSinkResult::RawData(RawKind::ScriptData),
            Content::Plaintext => TokenSinkResult::Plaintext,
        }
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.foreign.get()
    }
}

fn ours(html: &str, max_attributes: usize) -> (Vec<String>, usize) {
    let sink = Ours { recorder: Recorder::default(), names: NameTable::new() };
    let (sink, n_cut) = tokenize(&normalized_newlines(html), sink, max_attributes);
    (sink.recorder.tokens, n_cut)
}

fn tokens(html: &str) -> Vec<String> {
    let (tokens, n_cut) = ours(html, usize::MAX);
    assert_eq!(n_cut, 0);
    tokens
}

fn oracle_tokens(html: &str) -> Vec<String> {
    let oracle = Oracle::new(OracleRecorder::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let _ = oracle.feed(&input);
    oracle.end();
    oracle.sink.recorder.into_inner().tokens
}

/// Pieces that a random page is made of: every delimiter of every state.
const PIECES: [&str; 84] = [
    "<",
    ">",
    "/",
    "</",
    "/>",
    "<!",
    "<!--",
    "-->",
    "--!>",
    "--",
    "-",
    "!",
    "<?",
    "?",
    "=",
    "\"",
    "'",
    "&",
    "#",
    ";",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{c}",
    "\0",
    "a",
    "B",
    "é",
    "中",
    "p",
    "div",
    "script",
    "SCRIPT",
    "style",
    "title",
    "textarea",
    "plaintext",
    "xmp",
    "svg",
    "<a",
    "<p>",
    "</p>",
    "<script>",
    "</script>",
    "</script",
    "<title>",
    "</title>",
    "<style>",
    "</style>",
    "<textarea>",
    "</textarea>",
    "<svg>",
    "</svg>",
    "<plaintext>",
    "<!doctype",
    "<!DOCTYPE html>",
    " public ",
    "system",
    "PUBLIC\"",
    "html",
    "[CDATA[",
    "<![CDATA[",
    "]]>",
    "]]",
    "]",
    "&amp;",
    "&amp",
    "&lt",
    "&notit;",
    "&not",
    "&noti",
    "&copy=",
    "&#",
    "&#x",
    "&#x41;",
    "&#65",
    "&#0;",
    "&#x80;",
    "&#xD800;",
    "&#99999999999;",
    "&NotEqualTilde;",
    "class=",
];

fn pages() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    // PROPTEST_CASES=10000000 for more.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(100_000), ..ProptestConfig::default() })]

    #[test]
    fn random_pages_have_the_tokens_of_the_oracle(html in pages()) {
        prop_assert_eq!(tokens(&html), oracle_tokens(&html), "{:?}", html);
    }
}

#[test]
fn every_end_of_a_page_has_the_tokens_of_the_oracle() {
    let page = "<!DOCTYPE html PUBLIC \"-//W3C//DTD\" 'x.dtd' more><!doctype html system 'a'><title>a &amp; b</title x>\
        <p class=a b='c&lt;' d=\"&copy=1&notit;\" D /e =f><br/><!-- c - -- --! --><!--><!---><!----!><svg><![CDATA[ x]]]>\
        </svg><?php ?></ x><script a>if (a<b) <!-- <script> </script> --> </script><style>a</b></STYLE >\0<textarea>\n&#x80;\
        </textareas></textarea/><script><!--<script></script--></SCRIPT><!--</script><plaintext></plaintext>\0";
    for end in (0..=page.len()).filter(|end| page.is_char_boundary(*end)) {
        assert_eq!(tokens(&page[..end]), oracle_tokens(&page[..end]), "{}", &page[..end]);
    }
}

#[test]
fn only_the_first_byte_order_mark_is_dropped() {
    assert_eq!(tokens("\u{feff}\u{feff}x"), ["text \"\\u{feff}x\"", "end"]);
}

#[test]
fn surplus_attributes_are_left_out_and_counted() {
    let html = "<p a b c d=1>x<q a a c='>'>y</q a b c><r a b>";
    let (tokens, n_cut) = ours(html, 2);
    let tokens = tokens.join("\n");
    assert_eq!(n_cut, 3);
    assert_eq!(tokens.matches("(\"").count(), 2 + 1 + 2, "{tokens}");
    assert!(tokens.contains("text \"y\"") && !tokens.contains("(\"c\""), "{tokens}");
}
