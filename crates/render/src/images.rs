//! The source of a picture, also where a script would load it later.

use std::borrow::Cow;

use super::addresses::sources;
use dehusk_html::{NodeId, ParseOptions, Tree, parse};

/// Attributes that scripts read the source of a picture from.
const LAZY: [&str; 8] = [
    "data-src",
    "data-lazy-src",
    "data-original",
    "data-original-src",
    "data-lazy",
    "data-actualsrc",
    "data-hi-res-src",
    "data-full-src",
];

const LAZY_SETS: [&str; 3] = ["data-srcset", "data-lazy-srcset", "data-original-set"];

/// Pictures that `noscript` elements hold, by the place in the document where each stands.
pub(super) struct NoscriptImages {
    images: Vec<NoscriptImage>,
}

struct NoscriptImage {
    parent: NodeId,
    before: usize,
    src: String,
    alt: String,
}

impl NoscriptImages {
    pub(super) fn new(tree: &Tree) -> NoscriptImages {
        let images = tree.noscripts().filter(|(_, _, markup)| markup.contains("<img") || markup.contains("<IMG"));
        NoscriptImages { images: images.filter_map(|(parent, before, markup)| read(parent, before, markup)).collect() }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// The picture that a `noscript` right after this `img` stands for.
    fn after(&self, tree: &Tree, img: NodeId) -> Option<&NoscriptImage> {
        let next = tree.shape.subtree(img).end;
        self.before(next).find(|image| image.parent.index() == parent_of(tree, img))
    }

    /// The pictures right before node `at`. They are in the order of the document.
    fn before(&self, at: usize) -> impl Iterator<Item = &NoscriptImage> {
        let from = self.images.partition_point(|image| image.before < at);
        self.images[from..].iter().take_while(move |image| image.before == at)
    }

    /// Sources and texts of the pictures that no `img` stands for, right before node `at` below `parent`.
    pub(super) fn alone(&self, tree: &Tree, at: usize) -> impl Iterator<Item = (NodeId, &str, &str)> {
        let lonely = self.before(at).filter(|image| {
            let before = image.before.checked_sub(1).map(NodeId::new).filter(|node| is_image(tree.name(*node)));
            !before.is_some_and(|img| {
                let picture = NodeId::new(parent_of(tree, img));
                // The same picture in a `picture`, which has a size for each screen.
                let is_same = || source(tree, img).is_some_and(|src| src == image.src);
                let is_in_picture = tree.name(picture) == "picture" && parent_of(tree, picture) == image.parent.index();
                picture == image.parent || (is_in_picture && is_same())
            })
        });
        lonely.map(|image| (image.parent, image.src.as_str(), image.alt.as_str()))
    }
}

fn parent_of(tree: &Tree, node: NodeId) -> usize {
    tree.shape.parent[node.index()] as usize
}

/// The picture of a `noscript`, unless it only counts visits.
fn read(parent: NodeId, before: usize, markup: &str) -> Option<NoscriptImage> {
    let options = ParseOptions { max_bytes: 20_000, max_nodes: 100, ..ParseOptions::default() };
    let tree = parse(markup, &options);
    let img = tree.all("img").next()?;
    if is_pixel(&tree, img) {
        return None;
    }
    let src = source(&tree, img)?.into_owned();
    // Without a text and without the name of a file, the address counts visits.
    if tree.attr(img, "alt").is_none_or(|alt| alt.trim().is_empty()) && !is_named_file(&src) {
        return None;
    }
    Some(NoscriptImage { parent, before, src, alt: tree.attr(img, "alt").unwrap_or_default().to_owned() })
}

/// Whether an address ends in the name of a file, or leaves the form of the picture to a program.
fn is_named_file(src: &str) -> bool {
    let path = src.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    ["jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "bmp"].iter().any(|end| name.ends_with(end))
        || ["image", "img", "photo", "media"].iter().any(|word| src.to_ascii_lowercase().contains(word))
}

/// Whether a picture is too small to be seen: it counts visits.
pub(super) fn is_pixel(tree: &Tree, img: NodeId) -> bool {
    let is_tiny = |name: &str| {
        let length = tree.attr(img, name).map(|length| length.trim().trim_end_matches("px").to_owned());
        length.is_some_and(|length| matches!(&*length, "0" | "1"))
    };
    let style = || {
        tree.attr(img, "style").is_some_and(|style| {
            let style = style.replace(' ', "");
            let is_flat =
                |name: &str| style.split(';').any(|rule| rule == format!("{name}:0") || rule == format!("{name}:0px"));
            let is_away = ["left:-", "top:-", "right:-"].iter().any(|side| style.contains(side));
            style.contains("display:none")
                || (is_flat("width") && is_flat("height"))
                || (is_away && style.contains("position:absolute"))
        })
    };
    (is_tiny("width") && is_tiny("height")) || style()
}

/// The source of an `img` or a `source` of the page, which may be lazy. What a `noscript` behind it shows is no
/// thumbnail.
pub(super) fn lazy_source<'t>(tree: &'t Tree, node: NodeId, noscripts: &'t NoscriptImages) -> Option<Cow<'t, str>> {
    let without_scripts = noscripts.after(tree, node).map(|image| Cow::Borrowed(image.src.as_str()));
    without_scripts.or_else(|| source(tree, node))
}

/// The text of a picture, which the `noscript` behind it may have.
pub(super) fn alt_text<'t>(tree: &'t Tree, node: NodeId, noscripts: &'t NoscriptImages) -> &'t str {
    let own = tree.attr(node, "alt").filter(|alt| !alt.trim().is_empty());
    own.or_else(|| noscripts.after(tree, node).map(|image| image.alt.as_str())).unwrap_or_default()
}

/// Whether an element of this name is a picture: of HTML, or of AMP.
pub(super) fn is_image(name: &str) -> bool {
    matches!(name, "img" | "amp-img" | "amp-anim")
}

/// The candidates of an `img` or a `source`.
pub(super) fn lazy_set(tree: &Tree, node: NodeId) -> Option<&str> {
    let lazy = LAZY_SETS.iter().find_map(|name| tree.attr(node, name)).filter(|set| !set.trim().is_empty());
    lazy.or_else(|| tree.attr(node, "srcset"))
}

fn source(tree: &Tree, node: NodeId) -> Option<Cow<'_, str>> {
    let is_given = |src: &&str| !src.trim().is_empty();
    let lazy = LAZY.iter().find_map(|name| tree.attr(node, name).filter(is_given));
    let src = lazy.or_else(|| tree.attr(node, "src").filter(is_given));
    match src {
        Some(src) if !is_placeholder(src) => Some(Cow::Borrowed(src)),
        src => lazy_set(tree, node).and_then(largest).map(Cow::Borrowed).or(src.map(Cow::Borrowed)),
    }
}

/// Whether a source only holds the place of a picture that a script loads.
fn is_placeholder(src: &str) -> bool {
    let src = src.trim();
    src.is_empty() || src.starts_with("about:") || (src.starts_with("data:") && src.len() < 1000)
}

/// The candidate of the greatest size.
fn largest(srcset: &str) -> Option<&str> {
    let size = |size: &str| size.trim_end_matches(['w', 'x', 'h']).parse::<f64>().unwrap_or(1.0);
    let found = sources(srcset).filter(|(src, _)| !is_placeholder(src));
    found.max_by(|a, b| size(a.1).total_cmp(&size(b.1))).map(|(src, _)| src)
}
