//! Formulas as TeX, where the page has it: MathML annotations, KaTeX, MathJax, and the text of an image.

use rustc_hash::{FxHashMap, FxHashSet};

use super::mathml;
use dehusk_html::{NodeId, ScriptKind, Tree, ancestors, children, is_shown};

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
    pub(super) fn new(tree: &Tree) -> Formulas {
        let mut found = Formulas::default();
        let mut around = FxHashMap::default();
        for math in tree.all("math").filter(|math| tree.counted().contains(&math.index())) {
            let Some(tex) = tex_of(tree, math) else { continue };
            let is_display = tree.attr(math, "display") == Some("block");
            found.known.insert(tex.clone());
            found.tex.insert(math, (tex, is_display));
            Formulas::note_surroundings(tree, math, &mut around);
        }
        found.note_renderings(tree, around);
        let scripts = tree.data_scripts().filter(|(kind, ..)| matches!(kind, ScriptKind::Tex | ScriptKind::DisplayTex));
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

    /// KaTeX draws a formula beside the MathML, and hides the drawing from screen readers. `around` gets the elements
    /// that the drawing may be in, each with the first and the last formula in it.
    fn note_surroundings(tree: &Tree, math: NodeId, around: &mut FxHashMap<NodeId, (usize, usize)>) {
        for element in ancestors(tree, math).take(3) {
            around.entry(element).and_modify(|(_, last)| *last = math.index()).or_insert((math.index(), math.index()));
            // Beyond the span of this formula are other formulas.
            let is_own = matches!(tree.name(element), "span" | "mjx-assistive-mml" | "mjx-container");
            let classes = tree.attr(element, "class").unwrap_or_default();
            if !is_own || classes.split(' ').any(|token| token == "katex") {
                return;
            }
        }
    }

    /// The drawings in these elements: hidden children that do not hold all their formulas.
    fn note_renderings(&mut self, tree: &Tree, around: FxHashMap<NodeId, (usize, usize)>) {
        for (element, (first, last)) in around {
            let holds_all = |child: NodeId| {
                let inside = tree.shape.subtree(child);
                inside.contains(&first) && inside.contains(&last)
            };
            let hidden = children(tree, element).filter(|child| tree.attr(*child, "aria-hidden") == Some("true"));
            self.renderings.extend(hidden.filter(|child| !holds_all(*child)));
        }
    }

    pub(super) fn at(&self, node: NodeId) -> Option<(String, bool)> {
        self.tex.get(&node).cloned()
    }

    pub(super) fn is_rendering(&self, node: NodeId) -> bool {
        self.renderings.contains(&node)
    }

    /// The TeX of an image of a formula; the inner value is `None` where MathML beside it has it.
    pub(super) fn of_image(&self, tree: &Tree, image: NodeId, alt: &str) -> Option<Option<String>> {
        let classes = tree.attr(image, "class").unwrap_or_default();
        let is_drawn = classes.split_ascii_whitespace().any(|name| DRAWN.contains(&name) || name.starts_with("ql-img"));
        if is_drawn && !alt.is_empty() && !self.known.contains(alt) {
            return Some(Some(without_dollars(alt).to_owned()));
        }
        let tex = alt.strip_prefix("{\\displaystyle ").and_then(|tex| tex.strip_suffix('}'));
        let tex = tex.map_or(alt, str::trim);
        match self.known.contains(tex) {
            true if !tex.is_empty() => Some(None),
            _ if tex.len() < alt.len() => Some(Some(tex.to_owned())),
            _ => None,
        }
    }
}

/// Classes of pictures of formulas, whose text is the TeX: MediaWiki, Doxygen, WordPress.com, e-maxx.
const DRAWN: [&str; 5] = ["tex", "latex", "math", "formulaInl", "formulaDsp"];

/// TeX without the dollars around it, which some programs write into the text of a picture.
fn without_dollars(tex: &str) -> &str {
    ["$$", "$"].iter().find_map(|sign| tex.strip_prefix(sign)?.strip_suffix(sign)).map_or(tex, str::trim)
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
    let stated = annotation.or_else(|| tree.attr(math, "alttext").map(str::to_owned));
    let tex = stated.or_else(|| mathml::tex(tree, math))?;
    let tex = dehusk_html::normalized(&tex);
    let plain =
        tex.strip_prefix("{\\displaystyle ").and_then(|tex| tex.strip_suffix('}')).map(|tex| tex.trim().to_owned());
    Some(plain.unwrap_or(tex)).filter(|tex| !tex.is_empty())
}

/// The parts of a text: plain, or a formula between `\(` and `\)` or `$` and `$` (`Some(false)`), `\[` and `\]` or `$$`
/// and `$$` (`Some(true)`), the delimiters of MathJax.
pub(super) fn split_formulas(text: &str) -> Vec<(&str, Option<bool>)> {
    const DELIMITERS: [(&str, &str, bool); 3] = [("\\(", "\\)", false), ("\\[", "\\]", true), ("$$", "$$", true)];
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    // The next place where each delimiter closes: the text is searched once for each of them.
    let mut closes = [Some(0); 3];
    while let Some(step) = memchr::memchr2(b'\\', b'$', &text.as_bytes()[at..]) {
        at += step;
        let Some(kind) = DELIMITERS.iter().position(|(open, ..)| text[at..].starts_with(open)) else {
            if let Some(end) = end_of_dollars(text, at) {
                if from < at {
                    parts.push((&text[from..at], None));
                }
                parts.push((&text[at + 1..end], Some(false)));
                at = end;
                from = at + 1;
            }
            at += 1;
            continue;
        };
        let (open, close, is_display) = DELIMITERS[kind];
        let inside = at + open.len();
        if closes[kind].is_some_and(|known| known < inside) {
            closes[kind] = text[inside..].find(close).map(|end| inside + end);
        }
        let Some(end) = closes[kind].filter(|end| !text[inside..*end].trim().is_empty()) else {
            at = inside;
            continue;
        };
        if from < at {
            parts.push((&text[from..at], None));
        }
        parts.push((&text[inside..end], Some(is_display)));
        at = end + close.len();
        from = at;
    }
    if from < text.len() {
        parts.push((&text[from..], None));
    }
    parts
}

/// Where the formula ends that a `$` begins: as Pandoc reads it, with a sign of TeX inside, and nothing like a word at
/// either side. Prices and names of variables are no formulas.
fn end_of_dollars(text: &str, at: usize) -> Option<usize> {
    const MOST_BYTES: usize = 400;
    let inside = text[at..].strip_prefix('$')?;
    let n = memchr::memchr(b'$', &inside.as_bytes()[..inside.len().min(MOST_BYTES)])?;
    let (tex, behind) = (&inside[..n], &inside[n + 1..]);
    let is_beside_word = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '\\' || c == '$')
        || behind.starts_with(|c: char| c.is_alphanumeric() || c == '$');
    let is_tight = !tex.is_empty() && !tex.starts_with(char::is_whitespace) && !tex.ends_with(char::is_whitespace);
    let has_command = tex.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    let has_script = tex.contains(['^', '_']) && tex.len() > 2;
    (is_tight && !is_beside_word && (has_command || has_script)).then_some(at + 1 + n)
}

/// TeX that is text, too, for a reader of Markdown without formulas: no markup, no link, no code. Blanks mean nothing
/// in TeX, and `\lq` is its backtick.
pub(super) fn inert(tex: &str) -> String {
    let mut out = String::with_capacity(tex.len());
    for c in tex.chars().filter(|c| is_shown(*c)) {
        let begins_markup = c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?');
        match (out.chars().next_back(), c) {
            (Some('<'), _) if begins_markup => out.push(' '),
            (Some(']'), '(' | '[' | ':') | (Some('$'), '$') => out.push(' '),
            _ => {}
        }
        match c {
            '`' => out.push_str("\\lq "),
            '\n' | '\r' | '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_found_between_their_delimiters() {
        let split =
            |text| split_formulas(text).into_iter().map(|(part, kind)| (part.to_owned(), kind)).collect::<Vec<_>>();
        let parts = |list: &[(&str, Option<bool>)]| list.iter().map(|(p, k)| ((*p).to_owned(), *k)).collect::<Vec<_>>();
        assert_eq!(
            split("a \\(x\\) b $$y$$"),
            parts(&[("a ", None), ("x", Some(false)), (" b ", None), ("y", Some(true))])
        );
        assert_eq!(split("\\( \\) \\(x\\)"), parts(&[("\\( \\) ", None), ("x", Some(false))]));
        assert_eq!(split("$5 and \\[ no end"), parts(&[("$5 and \\[ no end", None)]));
        assert_eq!(
            split("Let $x_i$, $\\alpha$."),
            parts(&[("Let ", None), ("x_i", Some(false)), (", ", None), ("\\alpha", Some(false)), (".", None)])
        );
        for plain in ["$5 and $7", "$HOME_DIR/$NAME", "US$5_000$ a", "a $ x_1 $ b", "$x$"] {
            assert_eq!(split(plain), parts(&[(plain, None)]));
        }
        assert!(split("").is_empty());
    }

    #[test]
    fn tex_is_inert() {
        for (tex, written) in [
            ("<img src=x onerror=alert(1)>", "< img src=x onerror=alert(1)>"),
            ("[x](javascript:alert(1))", "[x] (javascript:alert(1))"),
            ("a<b", "a< b"),
            ("a\n```\nb", "a \\lq \\lq \\lq  b"),
            ("x_1 < 2", "x_1 < 2"),
        ] {
            assert_eq!(inert(tex), written);
        }
    }
}
