//! Names of elements and attributes as numbers.
//!
//! The names that the parser must tell apart have fixed numbers ([`KNOWN`]) and properties ([`Is`]), and so have those
//! that many pages use. All others are numbered as they occur in a page.

mod known;

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub(super) use known::Is;
use known::KNOWN;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name(u32);

/// The known names by their text.
static NUMBERS: LazyLock<FxHashMap<&'static str, Name>> =
    LazyLock::new(|| (0..).map(Name).zip(KNOWN).map(|(name, (text, _))| (*text, name)).collect());

impl Name {
    /// A name that has a fixed number.
    pub(super) fn known(text: &str) -> Option<Name> {
        NUMBERS.get(text).copied()
    }

    /// What an HTML element of this name is.
    pub(super) fn is(self) -> Is {
        KNOWN.get(self.0 as usize).map_or(Is::NOTHING, |known| known.1)
    }

    /// Whether the content of an HTML element of this name may be text that no tag is read in.
    pub(super) fn is_raw_text(self) -> bool {
        matches!(
            self,
            Name::SCRIPT
                | Name::STYLE
                | Name::TEXTAREA
                | Name::TITLE
                | Name::XMP
                | Name::IFRAME
                | Name::NOEMBED
                | Name::NOFRAMES
                | Name::NOSCRIPT
                | Name::PLAINTEXT
        )
    }

    /// Its number, counted from 0.
    pub(super) fn number(self) -> usize {
        self.0 as usize
    }
}

/// Places of the names that were read last.
const N_RECENT: usize = 256;

/// A name as it was read.
#[derive(Clone, Copy)]
struct Recent {
    /// Its last eight bytes, the last one lowest.
    key: u64,
    len: u32,
    name: Name,
}

impl Recent {
    fn new(written: &str, name: Name) -> Recent {
        Recent { key: key(written), len: written.len() as u32, name }
    }
}

/// The last eight bytes of a name, the last one lowest.
fn key(written: &str) -> u64 {
    written.bytes().fold(0, |key, byte| key << 8 | u64::from(byte))
}

/// Whether a written name is the name itself: it has no capital letters of ASCII and no NUL.
fn is_plain(written: &str) -> bool {
    written.bytes().all(|byte| byte != 0 && !byte.is_ascii_uppercase())
}

/// The place of a name of so many bytes.
#[inline(always)]
fn place_of(len: usize, key: u64) -> usize {
    // A multiplicative hash: the highest bits depend on all others.
    let hash = (key ^ len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> (u64::BITS - N_RECENT.ilog2())) as usize % N_RECENT
}

/// The names with fixed numbers at their places. Those with capital letters are left out: what a page writes in capital
/// letters is a name in small ones.
static KNOWN_RECENT: LazyLock<[Recent; N_RECENT]> = LazyLock::new(|| {
    let mut recent = [Recent::new("", Name::NONE); N_RECENT];
    for (name, (text, _)) in (0..).map(Name).zip(KNOWN).filter(|(_, (text, _))| is_plain(text)) {
        recent[place_of(text.len(), key(text))] = Recent::new(text, name);
    }
    recent
});

/// The names of one page.
pub(super) struct NameTable {
    /// The names that were read last, by their keys. A name takes the place of another one.
    recent: Box<[Recent; N_RECENT]>,
    /// Names without a fixed number.
    others: FxHashMap<Box<str>, Name>,
    texts: Vec<Box<str>>,
}

/// Letters that fit into a key.
const KEY_LETTERS: usize = 8;

impl NameTable {
    pub(super) fn new() -> NameTable {
        NameTable { recent: Box::new(*KNOWN_RECENT), others: FxHashMap::default(), texts: Vec::new() }
    }

    /// The text of a name.
    pub(super) fn text(&self, name: Name) -> &str {
        match KNOWN.get(name.number()) {
            Some((text, _)) => text,
            None => self.texts.get(name.number() - KNOWN.len()).map_or("", |text| text),
        }
    }

    /// The text of a name, for a tree.
    pub(super) fn shared_text(&self, name: Name) -> Cow<'static, str> {
        match KNOWN.get(name.number()) {
            Some((text, _)) => Cow::Borrowed(text),
            None => Cow::Owned(self.text(name).to_owned()),
        }
    }

    /// The number after that of the last name.
    pub(super) fn len(&self) -> usize {
        KNOWN.len() + self.texts.len()
    }

    /// The number of a name as a page writes it, whose last eight bytes are `key`, the last one lowest. Capital letters
    /// of ASCII are small ones in a name, and NUL is U+FFFD.
    #[inline(always)]
    pub(super) fn number_of(&mut self, written: &str, key: u64) -> Name {
        let place = place_of(written.len(), key);
        let recent = self.recent[place];
        // The key of a short name is the name itself, but a longer one may end in it.
        if recent.key == key
            && recent.len as usize == written.len()
            && (written.len() <= KEY_LETTERS || self.text(recent.name) == written)
        {
            return recent.name;
        }
        self.read(written, key, place)
    }

    /// Numbers a name and remembers it at this place.
    #[inline(never)]
    fn read(&mut self, written: &str, key: u64, place: usize) -> Name {
        let name = if is_plain(written) {
            self.intern(written)
        } else {
            self.intern(&written.replace('\0', "\u{fffd}").to_ascii_lowercase())
        };
        self.recent[place] = Recent { key, len: written.len() as u32, name };
        name
    }

    /// The number of a name.
    pub(super) fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = Name::known(text).or_else(|| self.others.get(text).copied()) {
            return name;
        }
        let name = Name(self.len() as u32);
        self.texts.push(text.into());
        self.others.insert(text.into(), name);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, KNOWN_RECENT, Name, NameTable, is_plain, key};

    #[test]
    fn a_name_has_one_number_and_its_text() {
        let mut names = NameTable::new();
        let texts: Vec<String> = (0..2000).map(|n| format!("{}n{n}", "x".repeat(n % 20))).collect();
        let numbers: Vec<Name> = texts.iter().map(|text| names.number_of(text, key(text))).collect();
        for (text, number) in texts.iter().zip(&numbers) {
            assert_eq!(names.number_of(text, key(text)), *number);
            assert_eq!(names.text(*number), text);
        }
        assert_eq!(names.len(), KNOWN.len() + texts.len());
    }

    #[test]
    fn a_long_name_is_not_the_short_one_that_it_ends_in() {
        let mut names = NameTable::new();
        for (short, long) in [("aaaaaaaa", "baaaaaaaa"), ("12345678", "0012345678")] {
            let name = names.number_of(short, key(short));
            assert_ne!(names.number_of(long, key(long)), name);
            assert_eq!(names.number_of(short, key(short)), name);
        }
    }

    #[test]
    fn names_are_in_small_letters_however_they_are_written() {
        let mut names = NameTable::new();
        for (small, written) in [("foreignobject", "foreignObject"), ("div", "DIV"), ("a\u{fffd}", "a\0")] {
            let name = names.intern(small);
            for text in [written, small, written] {
                assert_eq!(names.number_of(text, key(text)), name, "{text}");
            }
        }
        assert!(KNOWN_RECENT.iter().all(|recent| is_plain(names.text(recent.name))));
    }

    #[test]
    fn known_names_have_fixed_numbers() {
        let mut names = NameTable::new();
        for (number, (text, _)) in KNOWN.iter().enumerate() {
            assert_eq!(names.intern(text).number(), number, "{text}");
        }
        assert_eq!(names.text(Name::ANNOTATION_XML), "annotation-xml");
    }
}
