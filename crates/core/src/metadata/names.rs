//! Names of authors as pages write them: several in one text, with what introduces them, their role, or a time to read.

use super::MOST_VALUES;
use super::date::find_date;
use super::found::{Fact, FoundFacts, Source, plain};
use super::labels::begins_with_label;

/// What stands between two names, as words.
const CONJUNCTIONS: [&str; 14] =
    [" & ", " and ", " und ", " et ", " y ", " e ", " en ", " och ", " og ", " ve ", " oraz ", " и ", " with ", " ja "];

/// What introduces a name, before a blank or a colon.
#[rustfmt::skip]
const INTRODUCTIONS: [&str; 21] = [
    "via", "by", "written by", "posted by", "words by", "reported by", "author", "authors", "von", "text", "autor",
    "autorin", "par", "por", "di", "da", "door", "af", "av", "tekst", "redaktion",
];

/// Accounts that a program comes with; no names of people.
#[rustfmt::skip]
const ACCOUNTS: [&str; 14] = [
    "admin", "administrator", "root", "webmaster", "wordpress", "drupal", "joomla", "user", "super user", "author",
    "unknown", "anonymous", "null", "undefined",
];

/// What the links beside a name say.
#[rustfmt::skip]
const BUTTONS: [&str; 17] = [
    "view profile", "see profile", "profile", "follow", "follow author", "following", "about the author",
    "view all posts", "all posts", "more posts", "read more", "contact", "share", "subscribe", "e-mail", "twitter",
    "via",
];

/// Degrees, behind a comma after the name.
#[rustfmt::skip]
const DEGREES: [&str; 20] = [
    "ma", "m.a.", "msc", "m.sc.", "ba", "bsc", "mba", "md", "m.d.", "phd", "ph.d.", "dds", "rd", "rn", "jd", "esq",
    "esq.", "jr.", "sr.", "iii",
];

/// The authors of a page: the people of the most trusted source that names any; else the organisation.
///
/// A name that is the site's own, or that its source calls an organisation, is one. So is the name of an account, for a
/// source that says no more.
pub(super) fn authors(found: &FoundFacts) -> Vec<Fact> {
    let own_names: Vec<String> =
        found.site_names.iter().chain(&found.organizations).map(|name| letters(&name.value)).collect();
    let is_organization = |name: &str| own_names.contains(&letters(name)) || is_host(name) || is_account(name);
    let mut sources: Vec<Source> = found.authors.iter().map(|fact| fact.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut organizations = Vec::new();
    for source in sources {
        let mut people: Vec<Fact> = Vec::new();
        for fact in found.authors.iter().filter(|fact| fact.source == source) {
            for name in split(&fact.value) {
                let is_new = |known: &[Fact]| !known.iter().any(|known| letters(&known.value) == letters(&name));
                let to = if is_organization(&name) { &mut organizations } else { &mut people };
                if is_new(to) && to.len() < MOST_VALUES {
                    to.push(Fact { value: name, source });
                }
            }
        }
        if !people.is_empty() {
            return people;
        }
    }
    organizations.truncate(1);
    organizations
}

/// The names in a text.
pub(super) fn split(text: &str) -> Vec<String> {
    let text = without_parentheses(&plain(text));
    let mut names = Vec::new();
    for part in text.split(['|', '•', '·', ';', '、', '，', '\u{2014}', '\u{2013}']) {
        for part in at_conjunctions(&without_introduction(part)) {
            names.extend(at_commas(&part).into_iter().map(|name| person(&name)).filter(|name| is_name(name)));
        }
    }
    names
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let is_outside = |c: &char| {
        depth += usize::from(*c == '(');
        let is_outside = depth == 0;
        depth = depth.saturating_sub(usize::from(*c == ')'));
        is_outside
    };
    text.chars().filter(is_outside).collect()
}

/// "Ada Quill and Ned Mill". A word that is short in one language can be a part of a name in another: both sides have
/// two words.
fn at_conjunctions(text: &str) -> Vec<String> {
    let is_full = |part: &str| part.split_whitespace().count() >= 2;
    for conjunction in CONJUNCTIONS {
        if let Some((before, after)) = text.split_once(conjunction)
            && is_full(before)
            && is_full(after)
        {
            return [at_conjunctions(before), at_conjunctions(after)].concat();
        }
    }
    vec![text.to_owned()]
}

/// Names between commas. "Mill, Ned" is one.
fn at_commas(text: &str) -> Vec<String> {
    let is_degree = |part: &&str| !DEGREES.contains(&part.to_lowercase().as_str());
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(is_degree).filter(|part| !part.is_empty()).collect();
    let n_words = |part: &&str| part.split_whitespace().count();
    match &parts[..] {
        [family, given] if n_words(family) == 1 => vec![format!("{family}, {given}")],
        // One word behind the first name says where the author is, or for whom.
        [first, rest @ ..] => {
            let names = rest.iter().filter(|part| n_words(part) >= 2);
            std::iter::once(first).chain(names).map(|part| (*part).to_owned()).collect()
        }
        [] => Vec::new(),
    }
}

/// A name without what introduces it.
pub(crate) fn person(text: &str) -> String {
    let text = without_introduction(text);
    // An account behind the name.
    let end = text.find(" @").unwrap_or(text.len());
    let end = count_behind(&text[..end]).unwrap_or(end);
    trimmed(&text[..end]).to_owned()
}

/// Where a number begins behind two words or more: "Ann Rye 7 hours ago".
fn count_behind(text: &str) -> Option<usize> {
    let spaces = text.match_indices(' ').skip(1).map(|(at, _)| at);
    spaces.into_iter().find(|at| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
}

fn without_introduction(text: &str) -> String {
    let text = plain(text);
    let text = trimmed(&text);
    let lower = text.to_lowercase();
    let end = |word: &&str| {
        let rest = lower.strip_prefix(*word)?;
        rest.starts_with([' ', ':']).then_some(word.len() + 1)
    };
    let longest = INTRODUCTIONS.iter().filter_map(end).max();
    trimmed(longest.and_then(|n| text.get(n..)).unwrap_or(text)).to_owned()
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '|' | ',' | ':' | '-' | '•' | '·' | '@' | '"'))
}

pub(super) fn is_name(name: &str) -> bool {
    let n_words = name.split_whitespace().count();
    let n_chars = name.chars().count();
    // "5 min read".
    let is_count = n_words > 1 && name.starts_with(|c: char| c.is_ascii_digit());
    (2..=80).contains(&n_chars)
        && (1..=8).contains(&n_words)
        && name.contains(char::is_alphabetic)
        && !is_count
        && !name.contains(['<', '@', '=', '+', ':'])
        && !is_sentence(name)
        && !is_no_name(&name.to_lowercase())
        && !begins_with_label(name)
        && find_date(name).is_none()
}

fn is_no_name(lower: &str) -> bool {
    ACCOUNTS.contains(&lower) || BUTTONS.contains(&lower)
}

/// Whether a word that is no abbreviation ends with a full stop before others.
fn is_sentence(name: &str) -> bool {
    let words: Vec<&str> = name.split_whitespace().collect();
    words.split_last().is_some_and(|(_, rest)| rest.iter().any(|word| word.ends_with('.') && word.chars().count() > 4))
}

/// Whether it is the name of an account: one word that begins with a small letter.
fn is_account(name: &str) -> bool {
    !name.contains(char::is_whitespace) && name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Whether it is the name of a host: `example.com`.
fn is_host(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_label =
        |label: &str| label.len() >= 2 && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    name.rsplit_once('.').is_some_and(|(_, last)| last.bytes().all(|byte| byte.is_ascii_alphabetic()))
        && name.split('.').all(is_label)
}

pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::found::fact;

    #[test]
    fn several_names_in_one_text() {
        assert_eq!(split("By Ann Rye and Bob Oat"), ["Ann Rye", "Bob Oat"]);
        assert_eq!(split("Ann Rye, Bob Oat & Cy Barley"), ["Ann Rye", "Bob Oat", "Cy Barley"]);
        assert_eq!(split("von Ann Rye und Bob Oat, Nairobi"), ["Ann Rye", "Bob Oat"]);
        assert_eq!(split("Rye, Ann"), ["Rye, Ann"]);
        assert_eq!(split("Ann Rye, PhD"), ["Ann Rye"]);
        assert_eq!(split("José Ortega y Gasset"), ["José Ortega y Gasset"]);
        assert_eq!(split("Ann Rye · 5 min read"), ["Ann Rye"]);
        assert_eq!(split("Ann Rye | 3 May 2024"), ["Ann Rye"]);
        assert_eq!(split("Ann Rye (Grains Daily)"), ["Ann Rye"]);
        assert_eq!(split("Ann Rye 7 hours ago"), ["Ann Rye"]);
        assert_eq!(split("Von: Ann Rye"), ["Ann Rye"]);
        assert_eq!(split("Mac & i"), ["Mac & i"]);
        assert_eq!(split("Ann Rye (with Bob Oat and Cy Barley)"), ["Ann Rye"]);
        assert_eq!(split("Dr. Ann Rye"), ["Dr. Ann Rye"]);
        for none in [
            "",
            "admin",
            "a.rye@grains.example",
            "https://grains.example/ann",
            "3 May 2024",
            "press save. Then wait",
            "Last change: May",
            "Veröffentlicht am",
            "View Profile",
        ] {
            assert_eq!(split(none), Vec::<String>::new(), "{none}");
        }
    }

    #[test]
    fn people_come_before_organisations() {
        let mut found = FoundFacts::default();
        found.site_names.push(fact("Grains Daily", Source::OpenGraph));
        found.authors.push(fact("Grains Daily", Source::JsonLd));
        found.authors.push(fact("grains.example", Source::Meta));
        let names = |found: &FoundFacts| authors(found).into_iter().map(|name| name.value).collect::<Vec<_>>();
        assert_eq!(names(&found), ["Grains Daily"]);
        found.authors.push(fact("annrye", Source::OpenGraph));
        found.authors.push(fact("By Ann Rye", Source::Text));
        assert_eq!(names(&found), ["Ann Rye"]);
    }
}
