//! Names of elements and attributes as numbers.
//!
//! The names that the parser must tell apart have fixed numbers ([`KNOWN`]) and properties ([`Is`]). All others are
//! numbered as they occur in a page.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name(u32);

/// Properties of an open element that the tree construction asks for, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Is(u16);

impl Is {
    pub(super) const NOTHING: Is = Is(0);
    /// Special elements (WHATWG HTML, 13.2.4.2).
    pub(super) const SPECIAL: Is = Is(1);
    /// Elements that end the default scope.
    pub(super) const SCOPE: Is = Is(1 << 1);
    /// Elements that end the scope of list items, as those of the default scope do.
    pub(super) const LIST: Is = Is(1 << 2);
    /// Elements that end the scope of buttons, as those of the default scope do.
    pub(super) const BUTTON: Is = Is(1 << 3);
    /// Elements that end the scope of tables.
    pub(super) const TABLE_SCOPE: Is = Is(1 << 4);
    /// Elements whose end tags are implied.
    pub(super) const IMPLIED: Is = Is(1 << 5);
    /// Further elements whose end tags are implied where all are ("generate all implied end tags thoroughly").
    pub(super) const TABLE_PART: Is = Is(1 << 6);
    pub(super) const HEADING: Is = Is(1 << 7);
    /// Elements in which rows are inserted.
    pub(super) const TABLE_BODY: Is = Is(1 << 8);
    /// Elements in which cells are inserted.
    pub(super) const ROW: Is = Is(1 << 9);
    pub(super) const CELL: Is = Is(1 << 10);
    /// Elements whose misplaced content is put before their table.
    pub(super) const FOSTERS: Is = Is(1 << 11);
    /// Foreign elements in which HTML elements are inserted.
    pub(super) const HTML_POINT: Is = Is(1 << 12);
    /// Foreign elements in which text, and most HTML elements, are inserted.
    pub(super) const TEXT_POINT: Is = Is(1 << 13);

    pub(super) const fn or(self, other: Is) -> Is {
        Is(self.0 | other.0)
    }

    /// Whether this has any of these properties.
    pub(super) const fn any(self, of: Is) -> bool {
        self.0 & of.0 != 0
    }
}

macro_rules! known {
    ($($name:ident = $text:literal $(: $first:ident $(+ $more:ident)*)?;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "numbers of the constants below")]
        enum Number { $($name),* }

        impl Name {
            $(
                #[allow(dead_code, reason = "some are known for their properties only")]
                pub(super) const $name: Name = Name(Number::$name as u32);
            )*
        }

        /// The names with fixed numbers, and what HTML elements of these names are.
        const KNOWN: &[(&str, Is)] = &[$(($text, Is::NOTHING $(.or(Is::$first) $(.or(Is::$more))*)?)),*];
    };
}

known! {
    NONE = "";
    A = "a";
    ADDRESS = "address": SPECIAL;
    ANNOTATION_XML = "annotation-xml";
    APPLET = "applet": SPECIAL + SCOPE;
    AREA = "area": SPECIAL;
    ARTICLE = "article": SPECIAL;
    ASIDE = "aside": SPECIAL;
    B = "b";
    BASE = "base": SPECIAL;
    BASEFONT = "basefont": SPECIAL;
    BGSOUND = "bgsound": SPECIAL;
    BIG = "big";
    BLOCKQUOTE = "blockquote": SPECIAL;
    BODY = "body": SPECIAL;
    BR = "br": SPECIAL;
    BUTTON = "button": SPECIAL + BUTTON;
    CAPTION = "caption": SPECIAL + SCOPE + TABLE_PART;
    CENTER = "center": SPECIAL;
    CLASS = "class";
    CODE = "code";
    COL = "col": SPECIAL;
    COLGROUP = "colgroup": SPECIAL + TABLE_PART;
    COLOR = "color";
    DD = "dd": SPECIAL + IMPLIED;
    DESC = "desc";
    DETAILS = "details": SPECIAL;
    DIALOG = "dialog";
    DIR = "dir": SPECIAL;
    DIV = "div": SPECIAL;
    DL = "dl": SPECIAL;
    DT = "dt": SPECIAL + IMPLIED;
    EM = "em";
    EMBED = "embed": SPECIAL;
    ENCODING = "encoding";
    FACE = "face";
    FIELDSET = "fieldset": SPECIAL;
    FIGCAPTION = "figcaption": SPECIAL;
    FIGURE = "figure": SPECIAL;
    FONT = "font";
    FOOTER = "footer": SPECIAL;
    FOREIGN_OBJECT = "foreignObject";
    FORM = "form": SPECIAL;
    FRAME = "frame": SPECIAL;
    FRAMESET = "frameset": SPECIAL;
    H1 = "h1": SPECIAL + HEADING;
    H2 = "h2": SPECIAL + HEADING;
    H3 = "h3": SPECIAL + HEADING;
    H4 = "h4": SPECIAL + HEADING;
    H5 = "h5": SPECIAL + HEADING;
    H6 = "h6": SPECIAL + HEADING;
    HEAD = "head": SPECIAL;
    HEADER = "header": SPECIAL;
    HGROUP = "hgroup": SPECIAL;
    HR = "hr": SPECIAL;
    HTML = "html": SPECIAL + SCOPE + TABLE_SCOPE + TABLE_BODY + ROW;
    I = "i";
    ID = "id";
    IFRAME = "iframe": SPECIAL;
    IMAGE = "image";
    IMG = "img": SPECIAL;
    INPUT = "input": SPECIAL;
    ISINDEX = "isindex": SPECIAL;
    KEYGEN = "keygen";
    LI = "li": SPECIAL + IMPLIED;
    LINK = "link": SPECIAL;
    LISTING = "listing": SPECIAL;
    MAIN = "main": SPECIAL;
    MALIGNMARK = "malignmark";
    MARQUEE = "marquee": SPECIAL + SCOPE;
    MATH = "math";
    MENU = "menu": SPECIAL;
    META = "meta": SPECIAL;
    MGLYPH = "mglyph";
    MI = "mi";
    MN = "mn";
    MO = "mo";
    MS = "ms";
    MTEXT = "mtext";
    NAV = "nav": SPECIAL;
    NOBR = "nobr";
    NOEMBED = "noembed": SPECIAL;
    NOFRAMES = "noframes": SPECIAL;
    NOSCRIPT = "noscript": SPECIAL;
    OBJECT = "object": SPECIAL + SCOPE;
    OL = "ol": SPECIAL + LIST;
    OPTGROUP = "optgroup": IMPLIED;
    OPTION = "option": IMPLIED;
    P = "p": SPECIAL + IMPLIED;
    PARAM = "param": SPECIAL;
    PLAINTEXT = "plaintext": SPECIAL;
    PRE = "pre": SPECIAL;
    RB = "rb": IMPLIED;
    RP = "rp": IMPLIED;
    RT = "rt": IMPLIED;
    RTC = "rtc": IMPLIED;
    RUBY = "ruby";
    S = "s";
    SCRIPT = "script": SPECIAL;
    SEARCH = "search";
    SECTION = "section": SPECIAL;
    SELECT = "select": SPECIAL + SCOPE;
    SIZE = "size";
    SMALL = "small";
    SOURCE = "source": SPECIAL;
    SPAN = "span";
    STRIKE = "strike";
    STRONG = "strong";
    STYLE = "style": SPECIAL;
    SUB = "sub";
    SUMMARY = "summary": SPECIAL;
    SUP = "sup";
    SVG = "svg";
    TABLE = "table": SPECIAL + SCOPE + TABLE_SCOPE + FOSTERS;
    TBODY = "tbody": SPECIAL + TABLE_PART + TABLE_BODY + FOSTERS;
    TD = "td": SPECIAL + SCOPE + TABLE_PART + CELL;
    TEMPLATE = "template": SPECIAL + SCOPE + TABLE_SCOPE + TABLE_BODY + ROW;
    TEXTAREA = "textarea": SPECIAL;
    TFOOT = "tfoot": SPECIAL + TABLE_PART + TABLE_BODY + FOSTERS;
    TH = "th": SPECIAL + SCOPE + TABLE_PART + CELL;
    THEAD = "thead": SPECIAL + TABLE_PART + TABLE_BODY + FOSTERS;
    TITLE = "title": SPECIAL;
    TR = "tr": SPECIAL + TABLE_PART + ROW + FOSTERS;
    TRACK = "track": SPECIAL;
    TT = "tt";
    TYPE = "type";
    U = "u";
    UL = "ul": SPECIAL + LIST;
    VAR = "var";
    WBR = "wbr": SPECIAL;
    XMP = "xmp": SPECIAL;
}

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

/// The names of one page.
pub(super) struct Names {
    /// Names by their key. A name takes the place of another one.
    recent: Vec<(u64, Name)>,
    /// Names without a fixed number.
    others: FxHashMap<Box<str>, Name>,
    texts: Vec<Box<str>>,
}

/// Letters that fit into a key.
const KEY_LETTERS: usize = 8;

impl Names {
    pub(super) fn new() -> Names {
        Names { recent: vec![(0, Name::NONE); N_RECENT], others: FxHashMap::default(), texts: Vec::new() }
    }

    /// The text of a name.
    pub(super) fn text(&self, name: Name) -> &str {
        match KNOWN.get(name.number()) {
            Some((text, _)) => text,
            None => self.texts.get(name.number() - KNOWN.len()).map_or("", |text| text),
        }
    }

    /// The number after that of the last name.
    pub(super) fn len(&self) -> usize {
        KNOWN.len() + self.texts.len()
    }

    /// The number of a name whose last eight bytes are `key`, the last one lowest. The name has no NUL.
    pub(super) fn number_of(&mut self, text: &str, key: u64) -> Name {
        // A multiplicative hash: the highest bits depend on all others.
        let place = (key ^ text.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        let place = place as usize % N_RECENT;
        let (recent_key, name) = self.recent[place];
        // The key of a short name is the name itself, but a longer one may end in it.
        if recent_key == key
            && self.text(name).len() == text.len()
            && (text.len() <= KEY_LETTERS || self.text(name) == text)
        {
            return name;
        }
        let name = self.intern(text);
        self.recent[place] = (key, name);
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
    use super::{KNOWN, Name, Names};

    fn key(text: &str) -> u64 {
        text.bytes().fold(0, |key, byte| key << 8 | u64::from(byte))
    }

    #[test]
    fn a_name_has_one_number_and_its_text() {
        let mut names = Names::new();
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
        let mut names = Names::new();
        for (short, long) in [("aaaaaaaa", "baaaaaaaa"), ("12345678", "0012345678")] {
            let name = names.number_of(short, key(short));
            assert_ne!(names.number_of(long, key(long)), name);
            assert_eq!(names.number_of(short, key(short)), name);
        }
    }

    #[test]
    fn known_names_have_fixed_numbers() {
        let mut names = Names::new();
        for (number, (text, _)) in KNOWN.iter().enumerate() {
            assert_eq!(names.intern(text).number(), number, "{text}");
        }
        assert_eq!(names.text(Name::ANNOTATION_XML), "annotation-xml");
    }
}
