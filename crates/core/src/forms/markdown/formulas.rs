//! Formulas as TeX, where the page has it: MathML annotations, KaTeX, MathJax, and the text of an image.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dom::{NodeId, ScriptKind, Tree, ancestors};

/// The formulas of a page.
#[derive(Default)]
pub(super) struct Formulas {
    /// TeX of an element, and whether it stands on lines of its own.
    tex: FxHashMap<NodeId, (String, bool)>,
    /// Elements that draw a formula whose TeX is known.
    renderings: FxHashSet<NodeId>,
    /// Every TeX of the page.
    known: FxHashSet<String>,
    /// TeX of scripts (MathJax 2): parent, number of the next node, TeX, whether it stands on lines of its own.
    scripts: Vec<(NodeId, usize, String, bool)>,
}

impl Formulas {
    pub(super) fn of(tree: &Tree) -> Formulas {
        let mut found = Formulas::default();
        for math in tree.all("math").filter(|math| tree.counted().contains(&math.index())) {
            let Some(tex) = tex_of(tree, math) else { continue };
            let is_display = tree.attr(math, "display") == Some("block");
            found.known.insert(tex.clone());
            found.tex.insert(math, (tex, is_display));
            found.note_renderings(tree, math);
        }
        let scripts = tree.data_scripts().filter(|(kind, ..)| *kind != ScriptKind::JsonLd);
        found.scripts = scripts
            .map(|(kind, parent, before, tex)| (parent, before, tex.trim().to_owned(), kind == ScriptKind::DisplayTex))
            .collect();
        if !found.scripts.is_empty() {
            let is_drawing = |node: &NodeId| {
                tree.attr(*node, "class")
                    .is_some_and(|class| class.split(' ').any(|token| token.starts_with("MathJax")))
            };
            found.renderings.extend(tree.counted().map(NodeId::new).filter(is_drawing));
        }
        found
    }

    /// The formulas of scripts right before node `at` below `parent`.
    pub(super) fn before(&self, at: usize, parent: NodeId) -> impl Iterator<Item = (String, bool)> {
        let from = self.scripts.partition_point(|(_, before, ..)| *before < at);
        let here = self.scripts[from..].iter().take_while(move |(_, before, ..)| *before == at);
        here.filter(move |(of, ..)| *of == parent).map(|(.., tex, is_display)| (tex.clone(), *is_display))
    }

    /// KaTeX draws a formula beside the MathML, and hides the drawing from screen readers.
    fn note_renderings(&mut self, tree: &Tree, math: NodeId) {
        for around in ancestors(tree, math).take(3) {
            let end = tree.shape.subtree(around).end;
            let mut at = around.index() + 1;
            while at < end {
                let child = NodeId::new(at);
                if tree.attr(child, "aria-hidden") == Some("true") && !tree.shape.subtree(child).contains(&math.index())
                {
                    self.renderings.insert(child);
                }
                at = tree.shape.subtree(child).end;
            }
            // Beyond the span of this formula are other formulas.
            if !matches!(tree.name(around), "span" | "mjx-assistive-mml" | "mjx-container") {
                return;
            }
            if tree.attr(around, "class").is_some_and(|class| class.split(' ').any(|token| token == "katex")) {
                return;
            }
        }
    }

    pub(super) fn at(&self, node: NodeId) -> Option<(String, bool)> {
        self.tex.get(&node).cloned()
    }

    pub(super) fn is_rendering(&self, node: NodeId) -> bool {
        self.renderings.contains(&node)
    }

    /// The TeX of an image of a formula; the inner value is `None` where MathML beside it has it.
    pub(super) fn of_image(&self, alt: &str) -> Option<Option<String>> {
        let tex = alt.strip_prefix("{\\displaystyle ").and_then(|tex| tex.strip_suffix('}'));
        let tex = tex.map_or(alt, str::trim);
        match self.known.contains(tex) {
            true if !tex.is_empty() => Some(None),
            _ if tex.len() < alt.len() => Some(Some(tex.to_owned())),
            _ => None,
        }
    }
}

fn tex_of(tree: &Tree, math: NodeId) -> Option<String> {
    let inside = tree.shape.subtree(math).map(NodeId::new);
    let is_tex = |node: &NodeId| {
        tree.name(*node) == "annotation"
            && tree.attr(*node, "encoding").is_some_and(|kind| matches!(kind, "application/x-tex" | "TeX" | "LaTeX"))
    };
    let mut annotations = inside.filter(is_tex);
    let annotation = annotations
        .next()
        .map(|node| tree.shape.subtree(node).map(|at| tree.text(NodeId::new(at))).collect::<String>());
    let tex = annotation.or_else(|| tree.attr(math, "alttext").map(str::to_owned))?;
    let tex = crate::dom::normalized(&tex);
    let plain =
        tex.strip_prefix("{\\displaystyle ").and_then(|tex| tex.strip_suffix('}')).map(|tex| tex.trim().to_owned());
    Some(plain.unwrap_or(tex)).filter(|tex| !tex.is_empty())
}

/// The parts of a text: plain, or a formula between `\(` and `\)` (`Some(false)`), `\[` and `\]` or `$$` and `$$`
/// (`Some(true)`), the delimiters of MathJax.
pub(super) fn split_formulas(text: &str) -> Vec<(&str, Option<bool>)> {
    const DELIMITERS: [(&str, &str, bool); 3] = [("\\(", "\\)", false), ("\\[", "\\]", true), ("$$", "$$", true)];
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let starts = DELIMITERS.iter().filter_map(|(open, close, is_display)| {
            let start = rest.find(open)?;
            let inside = &rest[start + open.len()..];
            let end = inside.find(close).filter(|end| !inside[..*end].trim().is_empty())?;
            Some((start, &inside[..end], start + open.len() + end + close.len(), *is_display))
        });
        let Some((start, tex, end, is_display)) = starts.min_by_key(|found| found.0) else { break };
        if start > 0 {
            parts.push((&rest[..start], None));
        }
        parts.push((tex, Some(is_display)));
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        parts.push((rest, None));
    }
    parts
}
