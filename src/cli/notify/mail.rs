//! A report as a mail with two forms: text and HTML (RFC 2046, multipart/alternative).

use std::fmt::Write;

use base64::prelude::{BASE64_STANDARD, Engine};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a line of a body in base64.
const LINE: usize = 57;

/// The mail, with its header.
pub(super) fn message(to: &[String], subject: &str, text: &str, html: &str) -> String {
    // No line of a body in base64 begins with two hyphens.
    let boundary = format!("dehusk-{:016x}", xxh3_64(html.as_bytes()));
    let mut out = format!(
        "To: {}\r\nSubject: {}\r\nMIME-Version: 1.0\r\nAuto-Submitted: auto-generated\r\n\
         Content-Type: multipart/alternative; boundary=\"{boundary}\"\r\n\r\n",
        to.join(", "),
        plain_header(subject)
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
        let mail = message(&["me@my.org".to_owned()], "run 1\r\nBcc: you@my.org", "text", "<p>html");
        assert!(mail.contains("Subject: run 1??Bcc: you@my.org\r\n"), "{mail}");
        assert!(mail.contains("text/plain") && mail.contains("dGV4dA==\r\n") && mail.contains("text/html"), "{mail}");
    }
}
