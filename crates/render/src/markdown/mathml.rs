//! MathML presentation elements as TeX, for formulas that come without it.

use dehusk_html::{NodeId, Tree, children};

/// Depth of elements, and their number, above which a formula stays text.
const DEEPEST: usize = 40;
const MOST_NODES: usize = 2000;

/// A formula as TeX; `None` where an element has no common form in TeX.
pub(super) fn tex(tree: &Tree, math: NodeId) -> Option<String> {
    let is_small = tree.shape.subtree(math).len() <= MOST_NODES;
    let tex = is_small.then(|| row(tree, math, 0))??;
    let tex = dehusk_html::normalized(&tex);
    (!tex.is_empty()).then_some(tex)
}

/// The children of an element one after the other.
fn row(tree: &Tree, parent: NodeId, depth: usize) -> Option<String> {
    let mut out = String::new();
    for child in children(tree, parent) {
        let part = node(tree, child, depth + 1)?;
        // A command ends before a letter.
        let ends_in_command = out.rfind('\\').is_some_and(|at| out[at + 1..].bytes().all(|b| b.is_ascii_alphabetic()));
        if ends_in_command && !out.ends_with('\\') && part.starts_with(|c: char| c.is_ascii_alphabetic()) {
            out.push(' ');
        }
        out.push_str(&part);
    }
    Some(out)
}

fn node(tree: &Tree, node: NodeId, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    if tree.is_text(node) {
        return Some(symbols(tree.text(node).trim()));
    }
    let part = |at: usize| children(tree, node).nth(at).and_then(|child| self::node(tree, child, depth + 1));
    let braced = |at: usize| part(at).map(|tex| format!("{{{tex}}}"));
    let n_parts = || children(tree, node).count();
    Some(match (tree.name(node), n_parts()) {
        ("mrow" | "mstyle" | "semantics" | "mpadded" | "mtd" | "merror" | "mn" | "mo" | "math", _) => {
            if tree.name(node) == "semantics" { part(0)? } else { row(tree, node, depth)? }
        }
        ("mi", _) => identifier(&row(tree, node, depth)?),
        ("mtext" | "ms", _) => format!("\\text{{{}}}", row(tree, node, depth)?),
        ("mspace", _) => "\\ ".to_owned(),
        ("mphantom", _) => String::new(),
        ("msup", 2) => format!("{}^{}", base(&part(0)?), braced(1)?),
        ("msub", 2) => format!("{}_{}", base(&part(0)?), braced(1)?),
        ("msubsup" | "munderover", 3) => format!("{}_{}^{}", base(&part(0)?), braced(1)?, braced(2)?),
        ("munder", 2) => format!("{}_{}", base(&part(0)?), braced(1)?),
        ("mover", 2) => over(&base(&part(0)?), &part(1)?),
        ("mfrac", 2) => format!("\\frac{}{}", braced(0)?, braced(1)?),
        ("msqrt", _) => format!("\\sqrt{{{}}}", row(tree, node, depth)?),
        ("mroot", 2) => format!("\\sqrt[{}]{}", part(1)?, braced(0)?),
        ("mfenced", _) => fenced(tree, node, depth)?,
        ("mtable", _) => {
            let rows: Option<Vec<String>> = children(tree, node).map(|row| cells(tree, row, depth)).collect();
            format!("\\begin{{matrix}}{}\\end{{matrix}}", rows?.join(" \\\\ "))
        }
        _ => return None,
    })
}

fn cells(tree: &Tree, row: NodeId, depth: usize) -> Option<String> {
    let cells: Option<Vec<String>> = children(tree, row).map(|cell| node(tree, cell, depth + 2)).collect();
    Some(cells?.join(" & "))
}

fn fenced(tree: &Tree, node: NodeId, depth: usize) -> Option<String> {
    let sign = |name: &str, usual: &str| symbols(tree.attr(node, name).unwrap_or(usual));
    let parts: Option<Vec<String>> = children(tree, node).map(|child| self::node(tree, child, depth + 1)).collect();
    Some(format!("{}{}{}", sign("open", "("), parts?.join(&sign("separators", ",")), sign("close", ")")))
}

/// What an index is written behind: as it is, or in braces.
fn base(tex: &str) -> String {
    let is_one =
        tex.chars().count() == 1 || (tex.starts_with('\\') && tex[1..].bytes().all(|b| b.is_ascii_alphabetic()));
    if is_one { tex.to_owned() } else { format!("{{{tex}}}") }
}

/// A sign above a formula.
fn over(base: &str, sign: &str) -> String {
    let accent = match sign {
        "¯" | "‾" | "_" | "-" => "\\overline",
        "^" | "ˆ" => "\\hat",
        "~" | "˜" => "\\tilde",
        "→" | "\\to" => "\\vec",
        "." | "˙" => "\\dot",
        _ => return format!("{base}^{{{sign}}}"),
    };
    format!("{accent}{{{}}}", base.trim_start_matches('{').trim_end_matches('}'))
}

/// Functions have names of several letters.
fn identifier(name: &str) -> String {
    #[rustfmt::skip]
    let is_function = matches!(
        name,
        "sin" | "cos" | "tan" | "cot" | "sec" | "csc" | "log" | "ln" | "exp" | "lim" | "max" | "min" | "sup" | "inf"
        | "det" | "dim" | "gcd" | "arg" | "deg" | "ker"
    );
    let n = name.chars().count();
    match name {
        _ if is_function => format!("\\{name}"),
        _ if n > 1 && name.chars().all(char::is_alphabetic) => format!("\\mathrm{{{name}}}"),
        _ => name.to_owned(),
    }
}

/// Signs of Unicode that have a name in TeX.
#[rustfmt::skip]
const SIGNS: [(char, &str); 58] = [
    ('α', "\\alpha"), ('β', "\\beta"), ('γ', "\\gamma"), ('δ', "\\delta"), ('ε', "\\varepsilon"), ('ζ', "\\zeta"),
    ('η', "\\eta"), ('θ', "\\theta"), ('ι', "\\iota"), ('κ', "\\kappa"), ('λ', "\\lambda"), ('μ', "\\mu"),
    ('ν', "\\nu"), ('ξ', "\\xi"), ('π', "\\pi"), ('ρ', "\\rho"), ('σ', "\\sigma"), ('τ', "\\tau"), ('φ', "\\varphi"),
    ('ϕ', "\\phi"), ('χ', "\\chi"), ('ψ', "\\psi"), ('ω', "\\omega"), ('Γ', "\\Gamma"), ('Δ', "\\Delta"),
    ('Θ', "\\Theta"), ('Λ', "\\Lambda"), ('Π', "\\Pi"), ('Σ', "\\Sigma"), ('Φ', "\\Phi"), ('Ψ', "\\Psi"),
    ('Ω', "\\Omega"), ('∑', "\\sum"), ('∏', "\\prod"), ('∫', "\\int"), ('∂', "\\partial"), ('∇', "\\nabla"),
    ('∞', "\\infty"), ('±', "\\pm"), ('×', "\\times"), ('⋅', "\\cdot"), ('·', "\\cdot"), ('÷', "\\div"), ('≤', "\\le"),
    ('≥', "\\ge"), ('≠', "\\ne"), ('≈', "\\approx"), ('≡', "\\equiv"), ('→', "\\to"), ('⇒', "\\Rightarrow"),
    ('∈', "\\in"), ('∉', "\\notin"), ('⊂', "\\subset"), ('∪', "\\cup"), ('∩', "\\cap"), ('∀', "\\forall"),
    ('∃', "\\exists"), ('−', "-"),
];

fn symbols(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match SIGNS.iter().find(|(sign, _)| *sign == c) {
            Some((_, name)) => {
                out.push_str(name);
                if name.starts_with('\\') && text.chars().count() > 1 {
                    out.push(' ');
                }
            }
            // Signs that are not seen: applied functions, invisible products.
            None if matches!(c, '\u{2061}'..='\u{2064}') => {}
            None if matches!(c, '{' | '}' | '#' | '%' | '&' | '_' | '$') => out.extend(['\\', c]),
            None => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use dehusk_html::{ParseOptions, parse};

    fn tex(inside: &str) -> Option<String> {
        let tree = parse(&format!("<p><math>{inside}</math>"), &ParseOptions::default());
        super::tex(&tree, tree.all("math").next().unwrap())
    }

    #[test]
    fn common_elements_have_their_form_in_tex() {
        let some = |inside: &str, written: &str| assert_eq!(tex(inside).as_deref(), Some(written), "{inside}");
        some("<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "E=mc^{2}");
        some("<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac>", "\\frac{a}{b+1}");
        some("<msqrt><mi>x</mi></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>", "\\sqrt{x}\\sqrt[3]{x}");
        some("<munderover><mo>∑</mo><mrow><mi>i</mi></mrow><mi>n</mi></munderover><mi>x</mi>", "\\sum_{i}^{n}x");
        some("<mi>π</mi><mi>r</mi><mi>sin</mi><mi>x</mi>", "\\pi r\\sin x");
        some("<msub><mi>abc</mi><mn>1</mn></msub><mtext>if</mtext>", "{\\mathrm{abc}}_{1}\\text{if}");
        some("<mfenced><mi>a</mi><mi>b</mi></mfenced><mover><mi>x</mi><mo>¯</mo></mover>", "(a,b)\\overline{x}");
        some(
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>",
            "\\begin{matrix}1 & 2\\end{matrix}",
        );
        some("<mi>a</mi><mo>\u{2062}</mo><mi>b</mi>", "ab");
        assert_eq!(tex("<mmultiscripts><mi>a</mi></mmultiscripts>"), None);
        assert_eq!(tex("<msup><mi>a</mi></msup>"), None);
        assert_eq!(tex(""), None);
        assert_eq!(tex(&"<mrow>".repeat(100)), None);
    }
}
