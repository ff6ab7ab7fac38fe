//! Main content by rs-trafilatura: reads paths of HTML files, a line each, and writes the text of each as a JSON string.

use std::io::{BufRead, Write};

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for path in std::io::stdin().lock().lines() {
        let html = std::fs::read(path?)?;
        // One page that brings it down must not end the comparison.
        let text = std::panic::catch_unwind(|| rs_trafilatura::extract_bytes(&html).map(|page| page.content_text));
        let text = text.ok().and_then(Result::ok).unwrap_or_default();
        writeln!(out, "{}", serde_json::Value::from(text))?;
    }
    out.flush()
}
