//! JSON lines of pieces of pages, for retrieval.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::ExportError;
use super::sink::{Raw, Sink, sync};
use crate::tokenizer;
use dehusk_core::chunks::{Chunk, ChunkSize, chunks};
use dehusk_core::corpus::{Record, TokenCounter};
use dehusk_settings::Export;

/// Columns of the page that each piece has, too.
const COLUMNS: [&str; 9] =
    ["url", "host", "title", "language", "published", "fetched_at", "rights_search", "rights_input", "text_digest"];

/// How pages are divided.
#[derive(Clone, Debug)]
pub struct Chunking {
    most: usize,
    tokens: Option<Arc<dyn TokenCounter>>,
}

impl Chunking {
    /// By `export.chunk_tokens`, where it is set, else by `export.chunk_chars`.
    ///
    /// # Errors
    ///
    /// Tokens are asked for, and there is no tokenizer, or it cannot be used.
    pub fn new(settings: &Export) -> Result<Chunking, ExportError> {
        if settings.chunk_tokens == 0 {
            return Ok(Chunking { most: settings.chunk_chars, tokens: None });
        }
        match tokenizer::open(&settings.tokenizer)? {
            Some(tokens) => Ok(Chunking { most: settings.chunk_tokens, tokens: Some(tokens) }),
            None => Err(ExportError::NoTokenizer),
        }
    }

    /// The pieces of a page as JSON, one line each.
    pub fn lines(&self, record: &Record) -> String {
        let markdown = record.text("markdown").unwrap_or_default();
        let size = ChunkSize { most: self.most, tokens: self.tokens.as_deref() };
        let all = chunks(markdown, size);
        let of_page: Vec<(&str, Value)> =
            COLUMNS.iter().filter_map(|name| Some((*name, record.get(name)?.to_json()))).collect();
        let n = all.len();
        let (mut at, mut n_chars) = (0, 0);
        let mut chars_to = |byte: usize| {
            n_chars += markdown[at..byte].chars().count();
            at = byte;
            n_chars
        };
        let mut out = String::new();
        for (number, chunk) in all.iter().enumerate() {
            let text = &markdown[chunk.range.clone()];
            let (start, end) = (chars_to(chunk.range.start), chars_to(chunk.range.end));
            let mut line: serde_json::Map<String, Value> =
                of_page.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            line.insert("chunk".to_owned(), json!(number + 1));
            line.insert("chunks".to_owned(), json!(n));
            line.insert("headings".to_owned(), json!(chunk.headings));
            line.insert("link".to_owned(), json!(record.text("url").map(|url| link(url, chunk))));
            line.insert("start".to_owned(), json!(start));
            line.insert("end".to_owned(), json!(end));
            line.insert("n_tokens".to_owned(), json!(self.tokens.as_ref().and_then(|tokens| tokens.count(text))));
            line.insert("text".to_owned(), json!(text));
            out.push_str(&Value::Object(line).to_string());
            out.push('\n');
        }
        out
    }
}

/// An address that leads to a piece: its first words as a text fragment (URL Fragment Text Directives, WICG).
fn link(url: &str, chunk: &Chunk) -> String {
    let page = url.split('#').next().unwrap_or_default();
    let mut link = format!("{page}#:~:text=");
    for byte in chunk.first_words.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'~' => link.push(byte.into()),
            byte => link.push_str(&format!("%{byte:02X}")),
        }
    }
    link
}

/// A file of such lines, packed with zstd.
pub(super) struct ChunkLines {
    out: zstd::Encoder<'static, BufWriter<File>>,
    chunking: Chunking,
    size: u64,
}

impl ChunkLines {
    pub(super) fn create(path: &Path, chunking: &Chunking) -> io::Result<ChunkLines> {
        let out = zstd::Encoder::new(BufWriter::new(File::create(path)?), 6)?;
        Ok(ChunkLines { out, chunking: chunking.clone(), size: 0 })
    }
}

impl Sink for ChunkLines {
    fn push(&mut self, record: &Record, _: &Raw) -> io::Result<()> {
        let lines = self.chunking.lines(record);
        self.size += lines.len() as u64;
        self.out.write_all(lines.as_bytes())
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        sync(self.out.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_the_first_words() {
        let chunk = Chunk { range: 0..1, headings: Vec::new(), first_words: "a-b, c & é".to_owned() };
        assert_eq!(link("http://a.org/x#y", &chunk), "http://a.org/x#:~:text=a%2Db%2C%20c%20%26%20%C3%A9");
    }
}
