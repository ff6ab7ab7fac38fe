//! Personal data in texts: addresses of mail, IP addresses, telephone numbers and bank accounts, marked or masked.
//!
//! What is found is what a pattern and a check can tell: it is no proof that a text holds no other personal data. Mail
//! and IP addresses are those of the datasets FineWeb and of datatrove's `PIIFormatter`: any address of mail with a
//! domain, and public IP addresses only. Telephone numbers are found where they have a country code, the North American
//! form, or a word such as `Tel.` before them; bank accounts (IBAN) where their check digits are right (ISO 7064).

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Serialize;

/// What is done with personal data in the texts of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Pii {
    /// It is listed in the column `pii`.
    Mark,
    /// It is replaced by its kind in brackets, such as `[email]`, and its kinds are listed.
    Mask,
}

/// A piece of personal data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// `email`, `ip`, `phone` or `iban`.
    pub kind: &'static str,
    /// Its bytes in the text.
    pub range: Range<usize>,
}

/// Endings of names of files that look like an address: `logo@2x.png`.
const FILES: [&str; 8] = ["png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "js"];

/// Digits of a telephone number (ITU-T E.164: 15 at most).
const DIGITS: Range<usize> = 7..16;

struct Kind {
    name: &'static str,
    pattern: &'static str,
    /// Whether what the pattern has found, or its group `x`, is what it looks like.
    is_real: fn(&str) -> bool,
}

/// The kinds, the most certain ones first: what one has found is left to it. `x` is the piece within what is matched.
const KINDS: [Kind; 6] = [
    Kind {
        name: "email",
        pattern: concat!(
            // An address of a link may have the sign escaped.
            r"(?-u:\b)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+?(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+?)*(?:@|%40)",
            r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?",
        ),
        is_real: is_mail,
    },
    Kind {
        name: "iban",
        pattern: r"(?-u:\b)[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?-u:\b)",
        is_real: is_iban,
    },
    Kind { name: "ip", pattern: r"(?:[^0-9.]|^)(?<x>[0-9]{1,3}(?:\.[0-9]{1,3}){3,9})(?-u:\b)", is_real: is_public_v4 },
    Kind {
        name: "ip",
        pattern: r"(?:[^0-9A-Za-z:]|^)(?<x>[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})",
        is_real: is_public_v6,
    },
    // With a country code, and in the North American form.
    Kind {
        name: "phone",
        pattern: concat!(
            r"(?:[^0-9A-Za-z+]|^)(?<x>\+[1-9][0-9]{0,2}[ .\-/]?(?:\(0?[0-9]{1,4}\)[ .\-/]?)?[0-9]{1,5}",
            r"(?:[ .\-/]?[0-9]{2,8}){1,5}",
            r"|(?:\+?1[ .\-]?)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.\-])[2-9][0-9]{2}[.\-][0-9]{4}(?-u:\b))",
        ),
        is_real: is_phone,
    },
    // After a word that says so.
    Kind {
        name: "phone",
        pattern: concat!(
            r"(?i)(?:[^\p{L}]|^)(?:tel|tél|telefon|telephone|teléfono|téléphone|telefono|phone|mobile|mobil|fax|тел",
            r"|телефон|电话|電話)[ .:：]{1,4}(?<x>\(?[0-9]{2,5}\)?(?:[ .\-/]{1,3}[0-9]{1,8}){1,5}|[0-9]{7,12}(?-u:\b))",
        ),
        is_real: is_number,
    },
];

static PATTERNS: LazyLock<Vec<(&'static Kind, Regex)>> =
    LazyLock::new(|| KINDS.iter().filter_map(|kind| Some((kind, Regex::new(kind.pattern).ok()?))).collect());

static DAY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:19|20)[0-9]{2}[-./][0-9]{1,2}[-./][0-9]{1,2}$").ok());

/// The personal data in a text, in order.
pub fn find(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    // Every kind has a digit or an @.
    if !text.bytes().any(|byte| byte.is_ascii_digit() || byte == b'@') {
        return found;
    }
    for (kind, pattern) in PATTERNS.iter() {
        let real = |captures: Captures<'_>| {
            let found = captures.name("x").or_else(|| captures.get(0))?;
            let text = found.as_str().trim_end_matches([' ', '.', '-', '/', ':']);
            (kind.is_real)(text).then(|| found.start()..found.start() + text.len())
        };
        for range in pattern.captures_iter(text).filter_map(real) {
            if !found.iter().any(|known| known.range.start < range.end && range.start < known.range.end) {
                found.push(Found { kind: kind.name, range });
            }
        }
    }
    found.sort_by_key(|found| found.range.start);
    found
}

/// A text with each of these pieces replaced by its kind in brackets.
pub fn masked(text: &str, found: &[Found]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for Found { kind, range } in found {
        out += &text[at..range.start];
        out += &format!("[{kind}]");
        at = range.end;
    }
    out + &text[at..]
}

/// A text in which these pieces are replaced although marks divide them: `**jo**hn@a.org` in Markdown, tags in HTML.
pub fn masked_within(text: &str, pieces: &[(&'static str, &str)], is_html: bool) -> String {
    // The text without marks, and where each of its bytes was.
    let (mut bare, mut places, mut is_tag) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()), false);
    for (at, c) in text.char_indices() {
        let is_mark = if is_html { is_tag || c == '<' } else { matches!(c, '*' | '_' | '~' | '`' | '\\') };
        is_tag = is_html && (c == '<' || is_tag && c != '>');
        if !is_mark {
            bare.push(c);
            places.extend((0..c.len_utf8()).map(|byte| at + byte));
        }
    }
    let mut found: Vec<Found> = Vec::new();
    for (kind, piece) in pieces {
        let piece: String = if is_html { (*piece).to_owned() } else { piece.replace(['*', '_', '~', '`', '\\'], "") };
        for (at, _) in bare.match_indices(&piece).filter(|_| !piece.is_empty()) {
            let (first, last) = (places[at], places[at + piece.len() - 1]);
            found.push(Found { kind, range: first..last + 1 });
        }
    }
    found.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
    let mut end = 0;
    found.retain(|found| {
        found.range.start >= end && {
            end = found.range.end;
            true
        }
    });
    masked(text, &found)
}

fn is_mail(text: &str) -> bool {
    let ending = text.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    !FILES.contains(&ending.as_str()) && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// An address that is routed: not one that is private, reserved or for documentation (IANA's special-purpose registry).
fn is_public_v4(text: &str) -> bool {
    let Ok(address) = text.parse::<Ipv4Addr>() else { return false };
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && b & 0xc0 == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && b & 0xfe == 18))
}

fn is_public_v6(text: &str) -> bool {
    let Ok(address) = text.parse::<Ipv6Addr>() else { return false };
    // All that is routed is in 2000::/3; 2001:db8::/32 is for documentation.
    let first = address.segments();
    first[0] & 0xe000 == 0x2000 && !(first[0] == 0x2001 && first[1] == 0xdb8) && text.matches(':').count() > 2
}

/// A number with a country code has 9 digits at least, one in the North American form 10.
fn is_phone(text: &str) -> bool {
    is_number(text) && text.bytes().filter(u8::is_ascii_digit).count() >= 9
}

fn is_number(text: &str) -> bool {
    let n = text.bytes().filter(u8::is_ascii_digit).count();
    // A day is none: 2026-11-28.
    DIGITS.contains(&n) && !DAY.as_ref().is_some_and(|day| day.is_match(text))
}

/// Whether the check digits are right: the rest of the number, with letters as 10 to 35, is 1 modulo 97.
fn is_iban(text: &str) -> bool {
    let all: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    if !(15..=34).contains(&all.len()) {
        return false;
    }
    let value = |byte: &u8| u32::from(if byte.is_ascii_digit() { byte - b'0' } else { byte - b'A' + 10 });
    let rest = all[4..]
        .iter()
        .chain(&all[..4])
        .map(value)
        .fold(0, |rest, value| if value < 10 { (rest * 10 + value) % 97 } else { (rest * 100 + value) % 97 });
    rest == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> String {
        let found = find(text);
        found
            .iter()
            .map(|found| format!("{} {}", found.kind, &text[found.range.clone()]))
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn personal_data_is_found() {
        for (text, want) in [
            ("Write to ann.b+c@mail.example.org.", "email ann.b+c@mail.example.org"),
            ("<mailto:x@y.co>", "email x@y.co"),
            ("from 8.8.4.4, again", "ip 8.8.4.4"),
            ("at 2a00:1450:4001:81b::200e now", "ip 2a00:1450:4001:81b::200e"),
            ("+49 30 901820", "phone +49 30 901820"),
            ("Call (212) 555-2368 or 212-555-2368.", "phone (212) 555-2368; phone 212-555-2368"),
            ("Tel.: 030 / 90 18 20, Fax 030-901821", "phone 030 / 90 18 20; phone 030-901821"),
            ("+44 (0)20 7946 0958", "phone +44 (0)20 7946 0958"),
            ("IBAN DE89 3704 0044 0532 0130 00 by post", "iban DE89 3704 0044 0532 0130 00"),
            ("Fax 0049-30-123456-7, Tel: 030/12 34 56 7", "phone 0049-30-123456-7; phone 030/12 34 56 7"),
            ("电话：021-62345678", "phone 021-62345678"),
            ("GB82WEST12345698765432", "iban GB82WEST12345698765432"),
        ] {
            assert_eq!(kinds(text), want, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_personal_data_is_none() {
        for text in [
            "logo@2x.png and a@b",
            "192.168.0.1, 10.1.2.3, 127.0.0.1, 203.0.113.7, 300.1.1.1, 1.2.3.4.5",
            "12:30:45, fe80::1, 2001:db8::1:2:3, std::string::npos, ab::cd",
            "2026-11-28, 1999/12/31, 10 000 000, 3.14159265, 12345678901234567890, ISBN 978-3-16-148410-0",
            "DE89 3704 0044 0532 0130 01",
            "+1752032, hotel 2026 2027, cell 006 0.036 0.019",
            "in 1 200 300 cases, 50-60-70, version 1.2.3",
            "no digits at all",
        ] {
            assert_eq!(kinds(text), "", "{text}");
        }
    }

    #[test]
    fn what_is_masked_is_gone_and_the_rest_stays() {
        let text = "Ännchen: a@b.org, +49 30 901820 (8.8.8.8)";
        let out = masked(text, &find(text));
        assert_eq!(out, "Ännchen: [email], [phone] ([ip])");
        assert_eq!(find(&out), []);
        let pieces = [("email", "jo_hn@a.org"), ("phone", "030 1234567")];
        let markdown = "**jo**\\_hn@*a.org* | Tel | **030** 1234567, jo_hn@a.org, jo";
        assert_eq!(masked_within(markdown, &pieces, false), "**[email]* | Tel | **[phone], [email], jo");
        let html = "<p>Write to <b>jo_</b>hn@<i>a.org</i> or <a href=/x>jo</a>";
        assert_eq!(masked_within(html, &pieces, true), "<p>Write to <b>[email]</i> or <a href=/x>jo</a>");
        assert_eq!(masked("x", &find("mailto:john%40example.com?x")[..0]), "x");
        assert_eq!(kinds("mailto:john%40example.com?x"), "email john%40example.com");
    }
}
