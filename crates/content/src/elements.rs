//! What is around each element of a page: its ancestors' names and roles, its path, its class names.

use rustc_hash::FxHashMap;

use super::blocks::Blocks;
use super::tags::{Attribute, Tags, around_bit};
use dehusk_html::{NodeId, PlaceMemo, Tree, hash_str, mix};

/// What is known of an element from its ancestors and itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Element {
    /// Bits of [`super::tags::AROUND`] of the element and its ancestors.
    pub(super) around: u64,
    /// Hash of the names from the body down.
    pub(super) tag_path: u64,
    /// Hash of the names and the first class of each, digits as 0: the place of the element in the site's layout.
    pub(super) slot: u64,
    /// Depth below the body.
    pub(super) depth: f32,
}

/// Nodes for each place that has elements, in most pages.
const NODES: usize = 4;

/// The elements of a page, by node number. Text nodes have the values of their parent.
#[derive(Debug)]
pub(super) struct Elements {
    pub(super) list: Vec<Element>,
    /// Number of elements with this parent and slot.
    siblings: FxHashMap<(u32, u64), u32>,
    /// Elements below the body that are not inline.
    pub(super) n_holders: usize,
}

impl Elements {
    pub(super) fn new(tree: &Tree, tags: &Tags<'_>, blocks: &Blocks) -> Elements {
        let counted = tree.counted();
        let mut list = vec![Element::default(); tree.len()];
        let mut known = PlaceMemo::default();
        let mut siblings: FxHashMap<(u32, u64), u32> = FxHashMap::default();
        siblings.reserve(counted.len() / NODES);
        for node in counted.clone() {
            let id = NodeId::new(node);
            let parent = tree.shape.parent[node] as usize;
            let above = if node == counted.start { Element::default() } else { list[parent] };
            if tree.is_text(id) {
                list[node] = above;
                continue;
            }
            let tag = tags.tag(id);
            let (bits, class) = read_attributes(tags, id, &mut known);
            let element = Element {
                around: above.around | tag.around | bits,
                tag_path: mix(above.tag_path, tag.hash),
                slot: mix(mix(above.slot, tag.hash), class),
                depth: if node == counted.start { 0.0 } else { above.depth + 1.0 },
            };
            *siblings.entry((parent as u32, element.slot)).or_default() += 1;
            list[node] = element;
        }
        let n_holders = blocks.is_holder.iter().filter(|is| **is).count();
        Elements { list, siblings, n_holders }
    }

    /// Number of elements with the parent and the slot of this one.
    pub(super) fn n_like(&self, tree: &Tree, node: usize) -> u32 {
        let key = (tree.shape.parent[node], self.list[node].slot);
        self.siblings.get(&key).copied().unwrap_or(1)
    }
}

/// The bits that attributes set, and the hash of the first class with its digits as 0.
fn read_attributes(tags: &Tags<'_>, node: NodeId, known: &mut PlaceMemo<(u64, u64)>) -> (u64, u64) {
    let (mut bits, mut class) = (0, 0);
    for (attribute, value) in tags.attributes(node) {
        let read = known.get_or_read(value, |value| read_attribute(attribute, value));
        (bits, class) = (bits | read.0, class | read.1);
    }
    (bits, class)
}

/// The bits that an attribute sets, and the hash of its first class; 0 for other attributes.
fn read_attribute(attribute: Attribute, value: &str) -> (u64, u64) {
    let bits = match attribute {
        Attribute::Role => role_bit(value.trim()),
        Attribute::Hidden => around_bit("hidden"),
        Attribute::Style if hides(value) => around_bit("hidden"),
        Attribute::AriaHidden if value.trim().eq_ignore_ascii_case("true") => around_bit("aria_hidden"),
        Attribute::Itemprop => {
            let is_body = matches!(value.trim(), "articleBody" | "text" | "description" | "reviewBody");
            around_bit("itemprop") | if is_body { around_bit("itemprop_body") } else { 0 }
        }
        Attribute::Class => return (0, value.split_ascii_whitespace().next().map_or(0, without_digits)),
        Attribute::Style | Attribute::AriaHidden | Attribute::Id => 0,
    };
    (bits, 0)
}

/// The bit of an ARIA role.
fn role_bit(role: &str) -> u64 {
    around_bit(match role.to_ascii_lowercase().as_str() {
        "navigation" | "menu" | "menubar" | "menuitem" => "role_navigation",
        "main" => "role_main",
        "banner" => "role_banner",
        "contentinfo" => "role_contentinfo",
        "complementary" => "role_complementary",
        "dialog" | "alertdialog" => "role_dialog",
        "search" => "role_search",
        "tablist" | "toolbar" | "listbox" | "alert" => "role_other",
        "article" => "article",
        "list" => "list",
        _ => return 0,
    })
}

/// Whether a style says that its element is not shown.
pub fn hides(style: &str) -> bool {
    let style: String = style.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect();
    style.contains("display:none") || style.contains("visibility:hidden")
}

fn without_digits(class: &str) -> u64 {
    if !class.bytes().any(|byte| byte.is_ascii_digit()) {
        return hash_str(class);
    }
    // A run of digits is one 0, so that `item-9` and `item-10` are alike.
    let mut out = String::with_capacity(class.len());
    for c in class.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('0') {
            out.push('0');
        }
    }
    hash_str(&out)
}
