//! Blocks of code: their text to the character, and their language.

use dehusk_html::{NodeId, Tree, ancestors, children};

/// Prefixes of class tokens that name a language (HTML standard, 4.5.15, and the common highlighters).
const PREFIXES: [&str; 6] =
    ["language-", "lang-", "mw-highlight-lang-", "highlight-source-", "highlight-text-", "brush-"];

/// Class tokens that name a language without a prefix.
#[rustfmt::skip]
const LANGUAGES: [&str; 66] = [
    "ada", "asm", "awk", "bash", "bat", "bibtex", "c", "c++", "clojure", "cmake", "cobol", "cpp", "cs", "csharp", "css",
    "dart", "diff", "dockerfile", "elixir", "elm", "erlang", "fortran", "fsharp", "go", "graphql", "groovy", "haskell",
    "html", "http", "ini", "java", "javascript", "js", "json", "jsx", "julia", "kotlin", "latex", "lisp", "lua",
    "makefile", "markdown", "matlab", "nix", "objc", "ocaml", "pascal", "perl", "php", "powershell", "prolog", "python",
    "python3", "pycon", "r", "ruby", "rust", "scala", "sh", "shell", "sql", "swift", "toml", "typescript", "xml", "yaml",
];

/// The text of a code block and its language, which is empty where none is named.
pub(super) fn code_block(tree: &Tree, pre: NodeId, is_kept: impl Fn(NodeId) -> bool) -> (String, String) {
    let mut text = Lines::default();
    let is_pre = tree.name(pre) != "div";
    let mut open: Vec<(usize, Closing)> = Vec::new();
    for at in tree.shape.subtree(pre).skip(1) {
        close_until(at, &mut open, &mut text);
        let node = NodeId::new(at);
        // White space between the elements of lines is shown in `pre` only.
        if is_pre || text.is_in_line() {
            text.push(tree.space(node));
        }
        if tree.is_text(node) {
            if is_kept(node) {
                text.push(tree.text(node));
            }
            continue;
        }
        let end = tree.shape.subtree(node).end;
        match tree.name(node) {
            "br" => text.push("\n"),
            "code" if is_line(tree, pre, node) => {
                text.break_line();
                open.push((end, Closing::Line));
            }
            "div" | "p" | "li" | "tr" | "ol" | "ul" => {
                text.break_line();
                open.push((end, Closing::Line));
            }
            _ => open.push((end, Closing::Number(text.out.len()))),
        }
    }
    close_until(usize::MAX, &mut open, &mut text);
    let language = language(tree, pre);
    (language, text.without_numbers().trim_end_matches(['\n', '\r', ' ', '\t']).to_owned())
}

/// Whether an element holds code of which each line is an element, as Doxygen writes it.
pub(super) fn is_code_lines(tree: &Tree, element: NodeId) -> bool {
    let has = |node: NodeId, names: &[&str]| {
        classes_of(tree, node).split_ascii_whitespace().any(|name| names.contains(&name))
    };
    let is_line = |node: NodeId| tree.name(node) == "div" && has(node, &["line", "code-line", "CodeMirror-line"]);
    has(element, &["fragment", "code", "CodeMirror-code", "code-lines"])
        && children(tree, element).next().is_some()
        && children(tree, element).all(is_line)
}

/// Whether a `code` is one line of several: its neighbors are `code`, too, with nothing between them.
fn is_line(tree: &Tree, pre: NodeId, code: NodeId) -> bool {
    let is_child = |node: NodeId| tree.shape.parent[node.index()] as usize == pre.index();
    let end = tree.shape.subtree(code).end;
    let is_code = |at: usize| at < tree.len() && tree.name(NodeId::new(at)) == "code" && is_child(NodeId::new(at));
    let before = children(tree, pre).take_while(|child| *child < code).last();
    is_child(code)
        && tree.space(code).is_empty()
        && (is_code(end) && tree.space(NodeId::new(end)).is_empty() || before.is_some_and(|node| is_code(node.index())))
}

#[derive(Clone, Copy)]
enum Closing {
    /// The line ends with the element.
    Line,
    /// What the element holds, from here on, may be the number of the line.
    Number(usize),
}

fn close_until(at: usize, open: &mut Vec<(usize, Closing)>, text: &mut Lines) {
    while let Some((_, closing)) = open.pop_if(|(end, _)| *end <= at) {
        match closing {
            Closing::Line => text.break_line(),
            Closing::Number(from) => text.note_number(from),
        }
    }
}

#[derive(Default)]
struct Lines {
    out: String,
    /// Elements at the start of a line that hold only a number: range, and the number.
    numbers: Vec<(usize, usize, u64)>,
}

impl Lines {
    fn push(&mut self, text: &str) {
        self.out.extend(text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()));
    }

    fn is_in_line(&self) -> bool {
        !self.out.is_empty() && !self.out.ends_with('\n')
    }

    fn break_line(&mut self) {
        if self.is_in_line() {
            self.out.push('\n');
        }
    }

    fn note_number(&mut self, from: usize) {
        let is_at_start = self.out[..from].is_empty() || self.out[..from].ends_with('\n');
        let is_new = self.numbers.last().is_none_or(|(last, ..)| *last != from);
        if is_at_start
            && is_new
            && let Ok(number) = self.out[from..].trim().parse()
        {
            self.numbers.push((from, self.out.len(), number));
        }
    }

    /// The text without line numbers, if each line has one and they are consecutive.
    fn without_numbers(self) -> String {
        let n_lines = self.out.trim_end().lines().count();
        let is_row = self.numbers.windows(2).all(|pair| pair[0].2.checked_add(1) == Some(pair[1].2));
        if self.numbers.len() < 2 || self.numbers.len() != n_lines || !is_row {
            return self.out;
        }
        let mut out = String::with_capacity(self.out.len());
        let mut from = 0;
        for (start, end, _) in self.numbers {
            out.push_str(&self.out[from..start]);
            from = end;
        }
        out.push_str(&self.out[from..]);
        // What stands between the number and the line.
        let is_apart = out.lines().all(|line| line.is_empty() || line.starts_with(' '));
        if is_apart {
            out.lines().map(|line| line.get(1..).unwrap_or_default().to_owned() + "\n").collect()
        } else {
            out
        }
    }
}

/// The language that the element, the `code` in it, or an element around it names.
fn language(tree: &Tree, pre: NodeId) -> String {
    let inside = tree.shape.subtree(pre).skip(1).take(2).map(NodeId::new);
    // Around a table of lines and numbers, only what highlights them.
    let highlights = |node: &NodeId| classes_of(tree, *node).contains("highlight");
    let around = ancestors(tree, pre).take(2).chain(ancestors(tree, pre).skip(2).take(5).filter(highlights));
    let mut elements = std::iter::once(pre).chain(inside).chain(around);
    elements.find_map(|element| named_language(tree, element)).unwrap_or_default()
}

/// Bytes of a list of classes that is read for the name of a language. Each block of code reads those around it.
const MOST_CLASSES: usize = 1000;

fn classes_of(tree: &Tree, element: NodeId) -> &str {
    tree.attr(element, "class").filter(|classes| classes.len() <= MOST_CLASSES).unwrap_or_default()
}

fn named_language(tree: &Tree, element: NodeId) -> Option<String> {
    let data = ["data-lang", "data-language"].into_iter().find_map(|name| tree.attr(element, name)).map(str::to_owned);
    let classes = classes_of(tree, element).to_ascii_lowercase();
    let tokens = || classes.split([' ', '\t', '\n', ';', ':']).filter(|token| !token.is_empty());
    let prefixed = || tokens().find_map(|token| PREFIXES.iter().find_map(|prefix| token.strip_prefix(prefix)));
    // Sphinx names the language of every block.
    let of_sphinx = || {
        let is_sphinx = classes.contains("notranslate");
        tokens().filter(|_| is_sphinx).find_map(|token| token.strip_prefix("highlight-"))
    };
    let bare = || {
        let is_code = matches!(tree.name(element), "pre" | "code") || classes.contains("highlight");
        let known = tokens().map(|token| token.strip_prefix("highlight-").unwrap_or(token));
        known.filter(|_| is_code).find(|token| LANGUAGES.contains(token))
    };
    let of_geshi = || tokens().filter_map(|token| token.strip_prefix("source-")).find(|name| LANGUAGES.contains(name));
    let by_class = || prefixed().or_else(of_sphinx).or_else(of_geshi).or_else(bare).map(str::to_owned);
    let found = data.or_else(by_class)?.to_ascii_lowercase();
    // Cells of notebooks.
    let found = if found.starts_with("ipython") { "python".to_owned() } else { found };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.');
    (!found.is_empty()
        && found.len() <= 24
        && found.chars().all(is_name)
        && !matches!(&*found, "none" | "default" | "text" | "myst-ansi"))
    .then_some(found)
}
