//! A report as a mail with two forms: text and HTML (RFC 2046, multipart/alternative).

use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use base64::prelude::{BASE64_STANDARD, Engine};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a line of a body in base64.
const LINE: usize = 57;

/// Who sends what to whom, and when (Unix milliseconds).
pub(super) struct Head<'a> {
    /// Empty: the program that takes the mail names the sender.
    pub(super) from: &'a str,
    pub(super) to: &'a [String],
    pub(super) subject: &'a str,
    pub(super) at: i64,
}

/// The mail, with its header.
pub(super) fn message(head: &Head<'_>, text: &str, html: &str) -> String {
    // No line of a body in base64 begins with two hyphens.
    let boundary = format!("dehusk-{:016x}", xxh3_64(html.as_bytes()));
    let mut out = String::new();
    if let Some((_, domain)) = head.from.rsplit_once('@') {
        let id = xxh3_64(format!("{} {} {text}", head.at, head.subject).as_bytes());
        let at = UNIX_EPOCH + Duration::from_millis(head.at.max(0).unsigned_abs());
        let date = httpdate::fmt_http_date(at).replace("GMT", "+0000");
        out = format!("From: {}\r\nDate: {date}\r\nMessage-ID: <{id:016x}.dehusk@{domain}>\r\n", head.from);
    }
    let _ = write!(
        out,
        "To: {}\r\nSubject: {}\r\nMIME-Version: 1.0\r\nAuto-Submitted: auto-generated\r\n\
         Content-Type: multipart/alternative; boundary=\"{boundary}\"\r\n\r\n",
        head.to.join(", "),
        plain_header(head.subject)
    );
    for (kind, body) in [("plain", text), ("html", html)] {
        let _ = write!(
            out,
            "--{boundary}\r\nContent-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        );
        for line in body.as_bytes().chunks(LINE) {
            BASE64_STANDARD.encode_string(line, &mut out);
            out += "\r\n";
        }
    }
    let _ = write!(out, "--{boundary}--\r\n");
    out
}

/// A header that begins no other one.
fn plain_header(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii() && !c.is_control() { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_begins_no_header() {
        let to = ["me@my.org".to_owned()];
        let head = Head { from: "crawl@my.org", to: &to, subject: "run 1\r\nBcc: you@my.org", at: 784_111_777_000 };
        let mail = message(&head, "text", "<p>html");
        let first = "From: crawl@my.org\r\nDate: Sun, 06 Nov 1994 08:49:37 +0000\r\nMessage-ID: <";
        assert!(mail.starts_with(first), "{mail}");
        assert!(mail.contains("Subject: run 1??Bcc: you@my.org\r\n"), "{mail}");
        assert!(mail.contains("text/plain") && mail.contains("dGV4dA==\r\n") && mail.contains("text/html"), "{mail}");
    }
}
