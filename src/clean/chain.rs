//! Which method cleans a page: the chain from what is surest to what is left (ALGORITHMS 8).

use super::apply::{Applied, Applier};
use crate::dom::Tree;
use crate::settings::{Alone, Clean, KeepText};

/// A labelled page, and the step that labelled it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chained {
    /// The labels, with the confidence that the step has in them: of witnesses and votes the share of the template that
    /// the page shows, of document frequency the share of texts that are frequent, of density the share of prose in
    /// what is kept.
    pub applied: Applied,
    /// Name of the step, as in the table of methods.
    pub method: &'static str,
    /// Is it the site's template that labelled it?
    pub by_template: bool,
}

/// Labels a page: by the witnesses or votes where they fit, where the page is strange to all witnesses by the document
/// frequency of its texts, and without a template by the page alone. `known` are labels that the applier gave before.
pub fn chain(page: &Tree, known: Option<Applied>, applier: Option<&Applier>, how: &Clean) -> Chained {
    let chained = match applier {
        Some(applier) => by_site(page, known, applier, how),
        None => alone(page, how),
    };
    match how.keep {
        KeepText::Main if chained.method != DENSITY => match main_text(page, &chained.applied) {
            Some(applied) => Chained { applied, ..chained },
            None => chained,
        },
        _ => chained,
    }
}

/// Share of frequent texts below which document frequency knows too little of a page: measured on pages strange to
/// their witnesses, node F1 is .27 there where density has .39; above, .79 and .80.
const LEAST_FREQUENT: f64 = 0.1;

/// Share of prose in what density keeps, below which it has found no main text.
const LEAST_PROSE: f64 = 0.01;

const DENSITY: &str = "density";

fn by_site(page: &Tree, known: Option<Applied>, applier: &Applier, how: &Clean) -> Chained {
    let applied = known.unwrap_or_else(|| applier.apply(page));
    if applied.confidence >= applier.least_confidence(how) {
        return Chained { applied, method: applier.method(), by_template: true };
    }
    match applier.apply_by_frequency(page) {
        Some(applied) if applied.confidence >= LEAST_FREQUENT => Chained { applied, method: "df", by_template: true },
        Some(_) => alone(page, how),
        // Votes claim a page or leave it whole.
        None => plain(page, applied.confidence),
    }
}

fn alone(page: &Tree, how: &Clean) -> Chained {
    match how.alone {
        Alone::Density => match main_text(page, &Applied::nothing(page)) {
            Some(applied) => Chained { applied, method: DENSITY, by_template: false },
            None => plain(page, 0.0),
        },
        Alone::Plain => plain(page, 0.0),
    }
}

/// The main text of what is own; `None` where nothing of it reads as text: a list, a table, an address. All of it is
/// better than none then.
fn main_text(page: &Tree, own: &Applied) -> Option<Applied> {
    let main = Applied { confidence: 0.0, ..own.clone() }.main_text(page);
    let confidence = if own.confidence > 0.0 { own.confidence } else { main.confidence };
    (main.confidence >= LEAST_PROSE).then_some(Applied { confidence, ..main })
}

fn plain(page: &Tree, confidence: f64) -> Chained {
    let applied = Applied { confidence, ..Applied::nothing(page) };
    Chained { applied, method: "plain", by_template: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::parse;
    use crate::settings::{PageLimits, Preset};
    use crate::witness::Family;

    fn page(html: &str) -> Tree {
        parse(html, &PageLimits::default())
    }

    fn article(words: &str) -> String {
        format!("<nav><a href=/>Home</a> <a href=/a>About</a></nav><main><p>{words} is a grain. It grows.</main>")
    }

    #[test]
    fn each_step_takes_what_the_one_before_leaves() {
        let trees: Vec<Tree> = ["rye", "oats", "corn", "rice"].map(|words| page(&article(words))).into();
        let numbered: Vec<(u64, &Tree)> = (0..).zip(&trees).collect();
        let learn = Preset::Dehusk.learn();
        let applier = Applier::of(Family::learn(&numbered, &learn).unwrap().0, &learn);
        let how = Clean::default();
        let step = |html: &str, applier: Option<&Applier>| {
            let tree = page(html);
            let chained = chain(&tree, None, applier, &how);
            (chained.method, chained.applied.text_nodes(&tree))
        };
        assert_eq!(step(&article("barley"), Some(&applier)), ("witness", "barley is a grain. It grows.".to_owned()));
        // Another layout with a text of the site.
        let strange = "<table><tr><td>About<td>All about the barley, which is new</table>";
        assert_eq!(step(strange, Some(&applier)), ("df", "All about the barley, which is new".to_owned()));
        let prose =
            "A long text, with sentences in it, that goes on and on. It has no links, and it is not short. ".repeat(4);
        let alone = format!("<div class=nav><a href=/>Start</a></div><article><p>{prose}</article>");
        for applier in [None, Some(&applier)] {
            let (method, text) = step(&alone, applier);
            assert_eq!((method, text.trim()), ("density", prose.trim()), "nothing of the site is there");
        }
        let plain = Clean { alone: Alone::Plain, ..how };
        let tree = page(&alone);
        assert_eq!(chain(&tree, None, None, &plain).method, "plain");
        assert_eq!(step("", None), ("plain", String::new()), "an empty page");
        let list = "<h1>Prices</h1><ul><li>rye 3<li>oats 2</ul>";
        assert_eq!(step(list, None), ("plain", "Prices rye 3 oats 2".to_owned()), "what has no prose is kept whole");
    }

    #[test]
    fn main_text_is_what_reads_as_such_of_what_is_own() {
        let prose =
            "A long text, with sentences in it, that goes on and on. It has no links, and it is not short. ".repeat(4);
        let own = format!("<article><p>{prose}</article><aside><a href=/1>One</a> <a href=/2>Two</a></aside>");
        let tree = page(&own);
        let how = Clean { keep: KeepText::Main, alone: Alone::Plain, ..Clean::default() };
        assert_eq!(chain(&tree, None, None, &how).applied.text_nodes(&tree).trim(), prose.trim());
        let list = page("<h1>Prices</h1><ul><li>rye 3<li>oats 2</ul>");
        for alone in [Alone::Plain, Alone::Density] {
            let chained = chain(&list, None, None, &Clean { alone, ..how });
            assert_eq!(chained.applied.text_nodes(&list), "Prices rye 3 oats 2", "nothing reads as main text");
        }
    }
}
