//! What the features ask of an element's name, looked up once for each name of a page.

use dehusk_html::{NodeId, Tree, hash_str};

/// Elements that a feature asks for around a block, by bit of [`Tag::around`] and `Element::around`.
pub(super) const AROUND: [&str; 33] = [
    "nav",
    "header",
    "footer",
    "aside",
    "main",
    "article",
    "form",
    "table",
    "list",
    "dl",
    "figure",
    "button",
    "select",
    "details",
    "section",
    "heading",
    "blockquote",
    "pre",
    "hidden",
    "aria_hidden",
    "role_navigation",
    "role_main",
    "role_banner",
    "role_contentinfo",
    "role_complementary",
    "role_dialog",
    "role_search",
    "role_other",
    "itemprop_body",
    "a",
    "td",
    "menu",
    "itemprop",
];

/// Names of the elements that hold blocks, for the one-hot features.
pub(super) const HOLDERS: [&str; 20] = [
    "p",
    "div",
    "li",
    "td",
    "th",
    "h1",
    "h2",
    "h3",
    "h4",
    "pre",
    "blockquote",
    "dt",
    "dd",
    "figcaption",
    "button",
    "option",
    "section",
    "article",
    "summary",
    "other",
];

/// The bit of a name in [`AROUND`].
pub(super) fn around_bit(name: &str) -> u64 {
    AROUND.iter().position(|known| *known == name).map_or(0, |at| 1 << at)
}

/// What is asked of a name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tag {
    pub(super) hash: u64,
    /// Whether it does not end a block of text.
    pub(super) is_inline: bool,
    /// Its bit among the elements around a block.
    pub(super) around: u64,
    /// Its place in [`HOLDERS`].
    pub(super) holder: u8,
    pub(super) is: Is,
}

/// Names that are asked for by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Is {
    #[default]
    Other,
    A,
    Article,
    Br,
    Emphasis,
    H1,
    Heading,
    Image,
    Input,
    Li,
    Time,
}

impl Tag {
    fn from_name(name: &str) -> Tag {
        let around = match name {
            "ul" | "ol" => "list",
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "heading",
            "dialog" => "role_dialog",
            name => name,
        };
        let holder = match name {
            "div" | "body" | "main" | "center" => "div",
            "h5" | "h6" => "h4",
            "figcaption" | "caption" => "figcaption",
            "button" | "textarea" | "legend" => "button",
            "option" | "select" => "option",
            name => name,
        };
        let is = match name {
            "a" => Is::A,
            "article" => Is::Article,
            "br" => Is::Br,
            "b" | "strong" | "em" | "i" => Is::Emphasis,
            "h1" => Is::H1,
            "h2" | "h3" | "h4" | "h5" | "h6" => Is::Heading,
            "img" | "picture" | "svg" => Is::Image,
            "input" | "button" | "textarea" | "select" => Is::Input,
            "li" => Is::Li,
            "time" => Is::Time,
            _ => Is::Other,
        };
        Tag {
            hash: hash_str(name),
            is_inline: is_inline(name),
            around: around_bit(around),
            holder: HOLDERS.iter().position(|known| *known == holder).unwrap_or(HOLDERS.len() - 1) as u8,
            is,
        }
    }
}

/// Attributes that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    AriaHidden,
    Class,
    Hidden,
    Id,
    Itemprop,
    Role,
    Style,
}

impl Attribute {
    fn from_name(name: &str) -> Option<Attribute> {
        Some(match name {
            "aria-hidden" => Attribute::AriaHidden,
            "class" => Attribute::Class,
            "hidden" => Attribute::Hidden,
            "id" => Attribute::Id,
            "itemprop" => Attribute::Itemprop,
            "role" => Attribute::Role,
            "style" => Attribute::Style,
            _ => return None,
        })
    }
}

/// The names of a page.
pub(super) struct Tags<'t> {
    tree: &'t Tree,
    tags: Vec<Tag>,
    attributes: Vec<Option<Attribute>>,
}

impl<'t> Tags<'t> {
    pub(super) fn new(tree: &'t Tree) -> Tags<'t> {
        Tags {
            tree,
            tags: tree.names().map(Tag::from_name).collect(),
            attributes: tree.names().map(Attribute::from_name).collect(),
        }
    }

    /// The attributes of a node that are asked for, with their values, in source order.
    pub(super) fn attributes(&self, node: NodeId) -> impl Iterator<Item = (Attribute, &'t str)> + '_ {
        self.tree.numbered_attrs(node).filter_map(|(name, value)| Some((self.attributes[name]?, value)))
    }

    pub(super) fn tag(&self, node: NodeId) -> Tag {
        self.tags[self.tree.name_number(node)]
    }
}

/// Phrasing elements, which do not end a block of text. A formula is a part of its sentence.
fn is_inline(name: &str) -> bool {
    is_of_formula(name) || is_phrasing(name)
}

/// Elements of MathML, and those that MathJax draws formulas with.
fn is_of_formula(name: &str) -> bool {
    #[rustfmt::skip]
    let is_mathml = matches!(
        name,
        "annotation" | "annotation-xml" | "maction" | "math" | "menclose" | "merror" | "mfenced" | "mfrac" | "mi"
        | "mmultiscripts" | "mn" | "mo" | "mover" | "mpadded" | "mphantom" | "mprescripts" | "mroot" | "mrow" | "ms"
        | "mspace" | "msqrt" | "mstyle" | "msub" | "msubsup" | "msup" | "mtable" | "mtd" | "mtext" | "mtr" | "munder"
        | "munderover" | "none" | "semantics"
    );
    is_mathml || name.starts_with("mjx-")
}

fn is_phrasing(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "acronym"
            | "area"
            | "audio"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "br"
            | "canvas"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "embed"
            | "font"
            | "g"
            | "i"
            | "img"
            | "input"
            | "ins"
            | "kbd"
            | "label"
            | "map"
            | "mark"
            | "nobr"
            | "object"
            | "param"
            | "path"
            | "picture"
            | "q"
            | "rp"
            | "rt"
            | "ruby"
            | "s"
            | "samp"
            | "small"
            | "source"
            | "span"
            | "strike"
            | "strong"
            | "sub"
            | "sup"
            | "svg"
            | "time"
            | "track"
            | "tt"
            | "u"
            | "use"
            | "var"
            | "video"
            | "wbr"
    )
}
