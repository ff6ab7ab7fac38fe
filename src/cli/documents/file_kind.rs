//! What a file that is no archive holds: a page, a text, or something that is not read.

use std::path::Path;

/// What a file holds instead of a page, where it may hold many.
pub(super) fn other_format(name: &Path, bytes: &[u8]) -> Option<&'static str> {
    let text = bytes.trim_ascii_start();
    let name = name.to_string_lossy().to_ascii_lowercase();
    let is_array = text.starts_with(b"[") && text[1..].trim_ascii_start().starts_with(b"{");
    if text.starts_with(b"filedesc://") {
        Some("but an ARC file, the former form of web archives: warcio recompress makes a WARC file of it")
    } else if [".warc", ".wet", ".wat", ".arc"].iter().any(|end| name.trim_end_matches(".gz").ends_with(end)) {
        Some("but a damaged or empty archive: it does not begin with a WARC record")
    } else if is_array {
        Some("but a JSON array: JSON lines have one object a line")
    } else if [".csv", ".tsv"].iter().any(|end| name.trim_end_matches(".gz").ends_with(end)) {
        Some("but a table: JSON lines and Parquet files are read")
    } else {
        None
    }
}

/// Whether a file is a page and not a text, by its name, else by its beginning.
pub(super) fn is_html(file: &Path, head: &[u8]) -> bool {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "html" | "htm" | "xhtml" | "shtml" | "php" | "asp" | "aspx" | "jsp" => true,
        "txt" | "text" | "md" | "eml" | "mbox" | "log" | "srt" | "vtt" => false,
        _ => {
            let head = String::from_utf8_lossy(head).to_ascii_lowercase();
            head.trim_start().starts_with('<')
                && ["<html", "<!doctype html", "<body", "<head"].iter().any(|tag| head.contains(tag))
        }
    }
}
