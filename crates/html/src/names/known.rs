//! The names with fixed numbers, and what elements of these names are.

use super::Name;

/// Properties of an open element that the tree construction asks for, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Is(u16);

impl Is {
    pub(crate) const NOTHING: Is = Is(0);
    /// Special elements (WHATWG HTML, 13.2.4.2).
    pub(crate) const SPECIAL: Is = Is(1);
    /// Elements that end the default scope.
    pub(crate) const SCOPE: Is = Is(1 << 1);
    /// Elements that end the scope of list items, as those of the default scope do.
    pub(crate) const LIST: Is = Is(1 << 2);
    /// Elements that end the scope of buttons, as those of the default scope do.
    pub(crate) const BUTTON: Is = Is(1 << 3);
    /// Elements that end the scope of tables.
    pub(crate) const TABLE_SCOPE: Is = Is(1 << 4);
    /// Elements whose end tags are implied.
    pub(crate) const IMPLIED: Is = Is(1 << 5);
    /// Further elements whose end tags are implied where all are ("generate all implied end tags thoroughly").
    pub(crate) const TABLE_PART: Is = Is(1 << 6);
    pub(crate) const HEADING: Is = Is(1 << 7);
    /// Elements in which rows are inserted.
    pub(crate) const TABLE_BODY: Is = Is(1 << 8);
    /// Elements in which cells are inserted.
    pub(crate) const ROW: Is = Is(1 << 9);
    pub(crate) const CELL: Is = Is(1 << 10);
    /// Elements whose misplaced content is put before their table.
    pub(crate) const FOSTERS: Is = Is(1 << 11);
    /// Foreign elements in which HTML elements are inserted.
    pub(crate) const HTML_POINT: Is = Is(1 << 12);
    /// Foreign elements in which text, and most HTML elements, are inserted.
    pub(crate) const TEXT_POINT: Is = Is(1 << 13);

    pub(crate) const fn or(self, other: Is) -> Is {
        Is(self.0 | other.0)
    }

    /// Whether this has any of these properties.
    pub(crate) const fn any(self, of: Is) -> bool {
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
                pub(crate) const $name: Name = Name(Number::$name as u32);
            )*
        }

        /// The names with fixed numbers, and what HTML elements of these names are.
        pub(super) const KNOWN: &[(&str, Is)] = &[$(($text, Is::NOTHING $(.or(Is::$first) $(.or(Is::$more))*)?)),*];
    };
}

known! {
    NONE = "";
    A = "a";
    ACTION = "action";
    ADDRESS = "address": SPECIAL;
    ALIGN = "align";
    ALT = "alt";
    ANNOTATION_XML = "annotation-xml";
    APPLET = "applet": SPECIAL + SCOPE;
    AREA = "area": SPECIAL;
    ARIA_HIDDEN = "aria-hidden";
    ARIA_LABEL = "aria-label";
    ARTICLE = "article": SPECIAL;
    ASIDE = "aside": SPECIAL;
    B = "b";
    BASE = "base": SPECIAL;
    BASEFONT = "basefont": SPECIAL;
    BGSOUND = "bgsound": SPECIAL;
    BIG = "big";
    BLOCKQUOTE = "blockquote": SPECIAL;
    BODY = "body": SPECIAL;
    BORDER = "border";
    BR = "br": SPECIAL;
    BUTTON = "button": SPECIAL + BUTTON;
    CAPTION = "caption": SPECIAL + SCOPE + TABLE_PART;
    CELLPADDING = "cellpadding";
    CELLSPACING = "cellspacing";
    CENTER = "center": SPECIAL;
    CLASS = "class";
    CODE = "code";
    COL = "col": SPECIAL;
    COLGROUP = "colgroup": SPECIAL + TABLE_PART;
    COLOR = "color";
    CONTENT = "content";
    D = "d";
    DATETIME = "datetime";
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
    FILL = "fill";
    FONT = "font";
    FOOTER = "footer": SPECIAL;
    FOR = "for";
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
    HEIGHT = "height";
    HGROUP = "hgroup": SPECIAL;
    HR = "hr": SPECIAL;
    HREF = "href";
    HTML = "html": SPECIAL + SCOPE + TABLE_SCOPE + TABLE_BODY + ROW;
    I = "i";
    ID = "id";
    IFRAME = "iframe": SPECIAL;
    IMAGE = "image";
    IMG = "img": SPECIAL;
    INPUT = "input": SPECIAL;
    ISINDEX = "isindex": SPECIAL;
    ITEMPROP = "itemprop";
    KEYGEN = "keygen";
    LABEL = "label";
    LANG = "lang";
    LI = "li": SPECIAL + IMPLIED;
    LINK = "link": SPECIAL;
    LISTING = "listing": SPECIAL;
    LOADING = "loading";
    MAIN = "main": SPECIAL;
    MALIGNMARK = "malignmark";
    MARQUEE = "marquee": SPECIAL + SCOPE;
    MATH = "math";
    MEDIA = "media";
    MENU = "menu": SPECIAL;
    META = "meta": SPECIAL;
    METHOD = "method";
    MGLYPH = "mglyph";
    MI = "mi";
    MN = "mn";
    MO = "mo";
    MS = "ms";
    MTEXT = "mtext";
    NAME = "name";
    NAV = "nav": SPECIAL;
    NOBR = "nobr";
    NOEMBED = "noembed": SPECIAL;
    NOFRAMES = "noframes": SPECIAL;
    NOSCRIPT = "noscript": SPECIAL;
    OBJECT = "object": SPECIAL + SCOPE;
    OL = "ol": SPECIAL + LIST;
    ONCLICK = "onclick";
    OPTGROUP = "optgroup": IMPLIED;
    OPTION = "option": IMPLIED;
    P = "p": SPECIAL + IMPLIED;
    PARAM = "param": SPECIAL;
    PATH = "path";
    PLACEHOLDER = "placeholder";
    PLAINTEXT = "plaintext": SPECIAL;
    PRE = "pre": SPECIAL;
    PROPERTY = "property";
    RB = "rb": IMPLIED;
    REL = "rel";
    ROLE = "role";
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
    SIZES = "sizes";
    SMALL = "small";
    SOURCE = "source": SPECIAL;
    SPAN = "span";
    SRC = "src";
    SRCSET = "srcset";
    STRIKE = "strike";
    STRONG = "strong";
    STYLE = "style": SPECIAL;
    SUB = "sub";
    SUMMARY = "summary": SPECIAL;
    SUP = "sup";
    SVG = "svg";
    TABINDEX = "tabindex";
    TABLE = "table": SPECIAL + SCOPE + TABLE_SCOPE + FOSTERS;
    TARGET = "target";
    TBODY = "tbody": SPECIAL + TABLE_PART + TABLE_BODY + FOSTERS;
    TD = "td": SPECIAL + SCOPE + TABLE_PART + CELL;
    TEMPLATE = "template": SPECIAL + SCOPE + TABLE_SCOPE + TABLE_BODY + ROW;
    TEXTAREA = "textarea": SPECIAL;
    TFOOT = "tfoot": SPECIAL + TABLE_PART + TABLE_BODY + FOSTERS;
    TH = "th": SPECIAL + SCOPE + TABLE_PART + CELL;
    THEAD = "thead": SPECIAL + TABLE_PART + TABLE_BODY + FOSTERS;
    TIME = "time";
    TITLE = "title": SPECIAL;
    TR = "tr": SPECIAL + TABLE_PART + ROW + FOSTERS;
    TRACK = "track": SPECIAL;
    TT = "tt";
    TYPE = "type";
    U = "u";
    UL = "ul": SPECIAL + LIST;
    VALIGN = "valign";
    VALUE = "value";
    VAR = "var";
    VIEW_BOX = "viewbox";
    WBR = "wbr": SPECIAL;
    WIDTH = "width";
    XMLNS = "xmlns";
    XMP = "xmp": SPECIAL;
}
