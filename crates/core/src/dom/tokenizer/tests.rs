//! The same tokens as html5ever's tokenizer, which is the oracle.

use std::cell::{Cell, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult, Tokenizer as Oracle, TokenizerOpts};
use proptest::prelude::*;

use super::{PageSink, normalized_newlines, tokenize};

/// Writes tokens down, texts joined, and switches the state for the elements that the tree builder does.
#[derive(Default)]
struct Recorder {
    tokens: RefCell<Vec<String>>,
    text: RefCell<String>,
    /// Open `svg` elements, in which CDATA sections are read.
    foreign: Cell<usize>,
}

impl Recorder {
    fn note(&self, token: String) {
        let text = self.text.take();
        let mut tokens = self.tokens.borrow_mut();
        if !text.is_empty() {
            tokens.push(format!("text {text:?}"));
        }
        tokens.push(token);
    }
}

impl TokenSink for Recorder {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        match token {
            Token::CharacterTokens(text) => self.text.borrow_mut().push_str(&text),
            Token::NullCharacterToken => self.text.borrow_mut().push('\0'),
            Token::ParseError(_) => {}
            Token::TagToken(tag) => {
                let name = tag.name.clone();
                let is_start = tag.kind == TagKind::StartTag;
                let attrs: Vec<(&str, &str)> = tag.attrs.iter().map(|attr| (&*attr.name.local, &*attr.value)).collect();
                let duplicates = tag.had_duplicate_attributes;
                self.note(format!("{:?} {name} {} {duplicates} {attrs:?}", tag.kind, tag.self_closing));
                match (&*name, is_start) {
                    ("svg", true) => self.foreign.set(self.foreign.get() + 1),
                    ("svg", false) => self.foreign.set(self.foreign.get().saturating_sub(1)),
                    ("script", true) => return TokenSinkResult::RawData(RawKind::ScriptData),
                    ("style" | "xmp" | "noscript", true) => return TokenSinkResult::RawData(RawKind::Rawtext),
                    ("title" | "textarea", true) => return TokenSinkResult::RawData(RawKind::Rcdata),
                    ("plaintext", true) => return TokenSinkResult::Plaintext,
                    _ => {}
                }
            }
            Token::CommentToken(text) => self.note(format!("comment {:?}", &*text)),
            Token::DoctypeToken(doctype) => {
                let parts = [doctype.name, doctype.public_id, doctype.system_id];
                let parts = parts.map(|part| part.map(|part| part.to_string()));
                self.note(format!("doctype {parts:?} {}", doctype.force_quirks));
            }
            Token::EOFToken => self.note("end".to_owned()),
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.foreign.get() > 0
    }
}

impl PageSink for Recorder {
    fn is_full(&self) -> bool {
        false
    }
}

fn tokens(html: &str) -> Vec<String> {
    let (recorder, n_cut) = tokenize(&normalized_newlines(html), Recorder::default(), usize::MAX);
    assert_eq!(n_cut, 0);
    recorder.tokens.into_inner()
}

fn oracle_tokens(html: &str) -> Vec<String> {
    let oracle = Oracle::new(Recorder::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let _ = oracle.feed(&input);
    oracle.end();
    oracle.sink.tokens.into_inner()
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
    let (recorder, n_cut) = tokenize(html, Recorder::default(), 2);
    let tokens = recorder.tokens.into_inner().join("\n");
    assert_eq!(n_cut, 3);
    assert_eq!(tokens.matches("(\"").count(), 2 + 1 + 2 + 2, "{tokens}");
    assert!(tokens.contains("text \"y\"") && !tokens.contains("(\"c\""), "{tokens}");
}
