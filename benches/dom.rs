//! Parsing: our tree against html5ever's RcDom and its bare tokenizer, on the same pages in one run.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, reason = "a benchmark")]

use std::cell::Cell;

use dehusk_html::{ParseOptions, ParserKind, parse};
use divan::counter::BytesCount;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

#[path = "pages.rs"]
mod pages;

fn main() {
    divan::main();
}

fn html() -> Vec<String> {
    pages::load().into_iter().flat_map(|site| site.pages).map(|(_, html)| html).collect()
}

fn measure(bencher: divan::Bencher<'_, '_>, mut run: impl FnMut(&str)) {
    let pages = html();
    let bytes: usize = pages.iter().map(String::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| pages.iter().for_each(|page| run(page)));
}

#[divan::bench(sample_count = 10)]
fn tree(bencher: divan::Bencher<'_, '_>) {
    let limits = ParseOptions::default();
    measure(bencher, |page| {
        divan::black_box(parse(page, &limits));
    });
}

#[divan::bench(sample_count = 10)]
fn tree_by_html5ever(bencher: divan::Bencher<'_, '_>) {
    let limits = ParseOptions { parser: ParserKind::Html5ever, ..ParseOptions::default() };
    measure(bencher, |page| {
        divan::black_box(parse(page, &limits));
    });
}

#[divan::bench(sample_count = 10)]
fn rcdom(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, |page| {
        let sink = markup5ever_rcdom::RcDom::default();
        divan::black_box(html5ever::parse_document(sink, html5ever::ParseOpts::default()).one(page));
    });
}

/// Counts tokens and switches to raw text where the tree builder would.
struct Count(Cell<usize>);

impl TokenSink for Count {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        use html5ever::tokenizer::TagKind::StartTag;
        use html5ever::tokenizer::states::RawKind;
        self.0.set(self.0.get() + 1);
        match token {
            Token::TagToken(tag) if tag.kind == StartTag => match &*tag.name {
                "script" => TokenSinkResult::RawData(RawKind::ScriptData),
                "style" | "iframe" | "xmp" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
                "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
                _ => TokenSinkResult::Continue,
            },
            _ => TokenSinkResult::Continue,
        }
    }
}

#[divan::bench(sample_count = 10)]
fn html5evers_tokenizer(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, |page| {
        let tokenizer = Tokenizer::new(Count(Cell::new(0)), TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from_slice(page));
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        divan::black_box(tokenizer.sink.0.get());
    });
}
