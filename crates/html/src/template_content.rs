//! Content that stands in `template` elements, or for them, put where a browser shows it.
//!
//! Two kinds. **Declarative shadow roots** (HTML, 4.12.3, `shadowrootmode`): their content stands for that of their
//! host, which goes to the slots in it. **Segments of React's streaming**: a page sends them at its end, hidden, with a
//! script that moves each to its placeholder (`S:0` to `B:0`, `S:1` to `P:1`).
//!
//! Each move keeps the depth of the tree below its limit. Once [`MOST_MOVED`] nodes were visited, the rest of a page
//! stays as it is.

use rustc_hash::FxHashMap;

use super::names::Name;
use super::raw_tree::{CommentMark, Kind, NONE, RawTree};

/// Nodes that are visited to find what can be moved.
const MOST_MOVED: usize = 2_000_000;

/// Puts the content of templates where it is shown.
pub(super) fn place(tree: &mut RawTree, max_depth: u16) {
    let templates = std::mem::take(&mut tree.templates);
    if templates.is_empty() {
        return;
    }
    let mut mover = Mover { tree, max_depth: usize::from(max_depth), budget: MOST_MOVED };
    for &template in &templates {
        if mover.attribute(template, "shadowrootmode").is_some_and(|mode| matches!(mode, "open" | "closed")) {
            mover.attach_shadow(template);
        }
    }
    mover.place_segments(&templates);
}

struct Mover<'t> {
    tree: &'t mut RawTree,
    max_depth: usize,
    budget: usize,
}

impl Mover<'_> {
    fn attribute(&self, element: u32, name: &str) -> Option<&str> {
        let attrs = &self.tree.attrs[self.tree.attributes(element)];
        let found = attrs.iter().find(|attr| self.tree.names.text(attr.name) == name)?;
        Some(self.tree.slice(found.value))
    }

    fn children(&self, parent: u32) -> Vec<u32> {
        let mut children = Vec::new();
        let mut at = self.tree.nodes[parent as usize].first;
        while at != NONE {
            children.push(at);
            at = self.tree.nodes[at as usize].next;
        }
        children
    }

    /// Puts the content of a shadow root in place of that of its host, and that into its slots. What goes to no slot is
    /// not shown. A root without slots hides nothing: scripts may add them.
    fn attach_shadow(&mut self, template: u32) {
        let host = self.tree.nodes[template as usize].parent;
        if host == NONE || self.tree.nodes[host as usize].kind != Kind::Element {
            return;
        }
        let light: Vec<u32> = self.children(host).into_iter().filter(|child| *child != template).collect();
        let slots = self.slots(template);
        let is_deep = |mover: &mut Self, slot: &u32| light.iter().any(|node| !mover.fits(*node, *slot));
        if slots.iter().any(|(_, slot)| is_deep(self, slot)) {
            return;
        }
        let before = self.tree.nodes[host as usize].first;
        for node in self.children(template) {
            self.tree.link(host, node, before);
        }
        if slots.is_empty() {
            return;
        }
        light.iter().for_each(|node| self.tree.unlink(*node));
        let mut is_filled: FxHashMap<u32, ()> = FxHashMap::default();
        for node in light {
            let wanted = self.attribute(node, "slot").unwrap_or_default();
            let Some((_, slot)) = slots.iter().find(|(name, _)| *name == wanted) else { continue };
            if is_filled.insert(*slot, ()).is_none() {
                // What stands in a slot is shown where nothing goes to it.
                for fallback in self.children(*slot) {
                    self.tree.unlink(fallback);
                }
            }
            self.tree.link(*slot, node, NONE);
        }
    }

    /// The slots of a shadow root with their names, without those of roots in it.
    fn slots(&mut self, template: u32) -> Vec<(String, u32)> {
        let mut slots = Vec::new();
        let mut stack = self.children(template);
        stack.reverse();
        while let Some(node) = stack.pop().filter(|_| self.budget > 0) {
            self.budget -= 1;
            let name = self.tree.nodes[node as usize].name;
            if self.tree.nodes[node as usize].kind != Kind::Element || name == Name::TEMPLATE {
                continue;
            }
            if self.tree.names.text(name) == "slot" {
                slots.push((self.attribute(node, "name").unwrap_or_default().to_owned(), node));
            }
            stack.extend(self.children(node).into_iter().rev());
        }
        slots
    }

    /// Puts each segment in place of its placeholder.
    fn place_segments(&mut self, templates: &[u32]) {
        let placeholder = |id: &str| {
            let number = id.strip_prefix("B:").or_else(|| id.strip_prefix("P:"))?;
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_alphanumeric());
            is_number.then(|| number.to_owned())
        };
        let found: Vec<(u32, String)> = templates
            .iter()
            .filter_map(|template| Some((*template, placeholder(self.attribute(*template, "id")?)?)))
            .collect();
        if found.is_empty() {
            return;
        }
        let segments = self.segments();
        for (template, number) in found {
            let Some(segment) = segments.get(&number).copied() else { continue };
            let (parent, next) = (self.tree.nodes[template as usize].parent, template);
            if parent == NONE || self.tree.nodes[segment as usize].parent == NONE || !self.fits(segment, parent) {
                continue;
            }
            if let Some(fallback) = self.fallback(template) {
                fallback.into_iter().for_each(|node| self.tree.unlink(node));
            }
            for node in self.children(segment) {
                self.tree.link(parent, node, next);
            }
            self.tree.unlink(segment);
        }
    }

    /// The hidden elements `S:0`, `S:1` ... by their numbers.
    fn segments(&self) -> FxHashMap<String, u32> {
        let elements =
            (0..self.tree.nodes.len() as u32).filter(|at| self.tree.nodes[*at as usize].kind == Kind::Element);
        let hidden = elements.filter(|at| self.attribute(*at, "hidden").is_some());
        hidden.filter_map(|at| Some((self.attribute(at, "id")?.strip_prefix("S:")?.to_owned(), at))).collect()
    }

    /// What is shown until a segment arrives: what follows its placeholder up to the comment that ends the boundary. A
    /// placeholder that no boundary begins with has none.
    fn fallback(&mut self, template: u32) -> Option<Vec<u32>> {
        let before = self.tree.nodes[template as usize].prev;
        if before == NONE || self.tree.comment_mark(before) != Some(CommentMark::Begin) {
            return None;
        }
        let mut fallback = Vec::new();
        let mut depth = 0_usize;
        let mut at = self.tree.nodes[template as usize].next;
        while at != NONE {
            self.budget = self.budget.checked_sub(1)?;
            match self.tree.comment_mark(at) {
                Some(CommentMark::Begin) => depth += 1,
                Some(CommentMark::End) => match depth.checked_sub(1) {
                    Some(outer) => depth = outer,
                    None => return Some(fallback),
                },
                None => {}
            }
            fallback.push(at);
            at = self.tree.nodes[at as usize].next;
        }
        None
    }

    /// Whether a subtree can become a part of an element: it does not hold the element, and is not too deep there.
    fn fits(&mut self, node: u32, parent: u32) -> bool {
        let mut depth = 0;
        let mut above = parent;
        while above != NONE {
            if above == node {
                return false;
            }
            depth += 1;
            above = self.tree.nodes[above as usize].parent;
        }
        let mut stack = vec![(node, depth)];
        while let Some((node, depth)) = stack.pop() {
            let Some(budget) = self.budget.checked_sub(1).filter(|_| depth <= self.max_depth) else { return false };
            self.budget = budget;
            stack.extend(self.children(node).into_iter().map(|child| (child, depth + 1)));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::{ParseOptions, parse, write_text};

    fn text(html: &str) -> String {
        write_text(&parse(html, &ParseOptions::default()), |_| true)
    }

    #[test]
    fn a_shadow_root_is_shown_with_what_goes_to_its_slots() {
        let html = "<my-page><template shadowrootmode=open><h1>Rye</h1><slot name=a>none</slot><p>and <slot>x</slot></p>\
            </template><p slot=a>A grain.</p>rest<p slot=none>lost</p></my-page><p>end";
        assert_eq!(text(html), "Rye\n\nA grain.\n\nand rest\n\nend\n");
        assert_eq!(text("<div><template shadowrootmode=closed><p>Rye</template></div>"), "Rye\n");
        assert_eq!(text("<div><template shadowrootmode=open><style>p{}</style></template><p>Rye</div>"), "Rye\n");
        assert_eq!(text("<div><template><p>Rye</template>x</div>"), "x\n");
    }

    #[test]
    fn a_shadow_root_in_another() {
        let html = "<a-a><template shadowrootmode=open><b-b><template shadowrootmode=open><i>in</i><slot></slot>\
            </template><u><slot></slot></u></b-b></template>light</a-a>";
        assert_eq!(text(html), "inlight\n");
    }

    #[test]
    fn segments_stand_in_place_of_their_placeholders() {
        let html = "<main><!--$?--><template id=B:0></template><p>Loading</p><!--/$--><p>After</p></main>\
            <div hidden id=S:0><p>Rye</p><template id=P:1></template></div><div hidden id=S:1><p>grows</p></div>";
        assert_eq!(text(html), "Rye\n\ngrows\n\nAfter\n");
        let nested = "<main><!--$?--><template id=B:0></template><p>a</p><!--$--><b>b</b><!--/$--><i>c</i><!--/$-->d\
            </main><div hidden id=S:0>Rye </div>";
        assert_eq!(text(nested), "Rye d\n");
        assert_eq!(text("<template id=B:0></template>Loading"), "Loading\n");
        let inner = "<main><template id=P:0></template>after<!--/$--></main><div hidden id=S:0>Rye </div>";
        assert_eq!(text(inner), "Rye after\n", "no boundary begins there");
    }

    #[test]
    fn a_segment_that_holds_its_own_placeholder_stays() {
        let html = "<div hidden id=S:0><p>Rye</p><template id=B:0></template></div>";
        assert_eq!(text(html), "Rye\n");
        // Each segment holds the next placeholder, deeper than the limit in all.
        let chain: String = (0..400)
            .map(|n| format!("<div hidden id=S:{n}>{}<template id=B:{}></template></div>", "<b>".repeat(20), n + 1))
            .collect();
        let options = ParseOptions::default();
        let tree = parse(&format!("<template id=B:0></template>{chain}"), &options);
        assert!(tree.nodes().all(|node| tree.shape.depth[node.index()] <= options.max_depth + 2));
    }
}
