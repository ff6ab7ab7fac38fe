//! The evaluation that Foschini proposes for template removal (2007, section 6.1), on pages of the demo's generator:
//! put a known template into clean documents and find it again; the same content under two templates must come out
//! nearly equal; a page without its template must say what its feed says; pages must be nearer by what they say than
//! before.

use dehusk::demo::generated;
use dehusk_content::Labels;
use dehusk_html::ParseOptions;
use dehusk_html::{NodeId, Tree, parse, write_text};
use dehusk_papers::method_table::MethodEntry;
use dehusk_papers::scores::{bag_score, lcs_score, tokens};
use dehusk_settings::Settings;
use dehusk_template::method::Method;
use dehusk_template::strings::StringTokens;
use dehusk_template::strings::{Corpus, Document, Patterns, StringCleaner, StringTemplate};

fn page(html: &str) -> Tree {
    parse(html, &ParseOptions::default())
}

/// Contents of a generated site, an article each: what its pages mark as their own.
fn contents(seed: u64) -> Vec<String> {
    let own = |marked: &String| {
        let tree = page(marked);
        let mut own = vec![false; tree.len()];
        for node in tree.counted() {
            let parent = tree.shape.parent[node] as usize;
            own[node] = own[parent] || tree.attr(NodeId::new(node), "data-own").is_some();
        }
        write_text(&tree, |node| own[node.index()])
    };
    let texts = generated(seed).pages.into_values().map(|page| own(&page.marked).trim().to_owned());
    texts.filter(|text| text.split_whitespace().count() > 20).collect()
}

/// What stands before and behind the own part of a generated site's key page.
fn template(seed: u64) -> (String, String) {
    let site = generated(seed);
    let marked = &site.pages[&site.key].marked;
    let (head, rest) = marked.split_at(marked.find("<main").unwrap());
    let tail = &rest[rest.find("</main>").unwrap()..];
    (head.to_owned() + "<main>", tail.to_owned())
}

/// The contents under a template.
fn mirror(contents: &[String], (head, tail): &(String, String)) -> Vec<String> {
    let paragraphs = |text: &String| {
        let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
        let paragraphs = rest.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("<p>{line}</p>"));
        format!("<h1>{title}</h1>{}", paragraphs.collect::<String>())
    };
    contents.iter().map(|text| format!("{head}{}{tail}", paragraphs(text))).collect()
}

/// The pages as a method leaves them, learned from themselves.
fn cleaned(method: Method, pages: &[String]) -> Vec<Vec<String>> {
    let settings = Settings::default();
    let method = MethodEntry::find(method).unwrap();
    let trees: Vec<Tree> = pages.iter().map(|html| page(html)).collect();
    let model = method.learn(&trees.iter().collect::<Vec<_>>(), &settings.core, &settings.papers);
    assert!(model.is_some(), "{} learns nothing", method.method);
    let clean = |tree: &Tree| -> Labels { method.label(tree, model.as_ref(), &settings.core, &settings.papers).labels };
    trees.iter().map(|tree| tokens(&clean(tree).text(tree))).collect()
}

fn mean(scores: impl Iterator<Item = f64>) -> f64 {
    let scores: Vec<f64> = scores.collect();
    scores.iter().sum::<f64>() / scores.len() as f64
}

#[test]
fn an_injected_template_is_found_again_to_the_word() {
    let documents = contents(3);
    assert!(documents.len() > 5, "{}", documents.len());
    let inject = |at: usize, text: &String| {
        format!(
            "Herald of the plain\nPrinted on {at} May 2026 at 10:0{at}\n\n{text}\n\nRights reserved; write to editor{at}@herald.example\n"
        )
    };
    let injected: Vec<String> = documents.iter().enumerate().map(|(at, text)| inject(at % 9, text)).collect();
    let (patterns, how) = (Patterns::shipped(), Settings::default().core.strings);
    let mut collection = Corpus::new(patterns.clone(), StringTokens::Ws);
    for text in &injected {
        let prepared = collection.prepare(Document::Text(text));
        collection.add(prepared).unwrap();
    }
    let template = StringTemplate::learn(collection, &how).unwrap();
    let strings: Vec<String> = template.strings.iter().map(|string| template.text(string)).collect();
    let head = "Herald of the plain Printed on [number] [month] [number] at [time]";
    let foot = "Rights reserved; write to [email]";
    // A document may begin like most others do, so the head may have a word more.
    assert!(strings.iter().any(|string| string.starts_with(head)), "{strings:?}");
    assert!(strings.iter().any(|string| string.ends_with(foot)), "{strings:?}");
    let cleaner = StringCleaner::new(&template, &patterns, &how, |_| true).unwrap();
    let (mut kept, mut clean) = (Vec::new(), Vec::new());
    for (original, injected) in documents.iter().zip(&injected) {
        let left = cleaner.clean_text(injected).text;
        assert!(!left.contains("Herald") && !left.contains("Rights reserved"), "{left}");
        let score = lcs_score(&tokens(&left), &tokens(original));
        kept.push(score.recall);
        clean.push(score.precision);
    }
    let (kept, clean) = (mean(kept.into_iter()), mean(clean.into_iter()));
    assert!(kept > 0.98 && clean > 0.999, "kept {kept:.4}, clean {clean:.4}");
}

#[test]
fn mirrors_come_out_nearly_equal_and_say_what_the_feed_says() {
    let contents = contents(4);
    let mirrors = [mirror(&contents, &template(6)), mirror(&contents, &template(8))];
    let feed: Vec<Vec<String>> = contents.iter().map(|text| tokens(text)).collect();
    for (method, equal, as_feed) in [
        (Method::SiteModel, 0.99, 0.98),
        (Method::Strings, 0.97, 0.95),
        (Method::Df, 0.97, 0.95),
        (Method::Rtdm, 0.95, 0.95),
    ] {
        let [one, two] = mirrors.each_ref().map(|pages| cleaned(method, pages));
        let f1 = mean(one.iter().zip(&two).map(|(a, b)| lcs_score(a, b).f1));
        let to_feed = mean(one.iter().chain(&two).zip(feed.iter().chain(&feed)).map(|(a, b)| bag_score(a, b).f1));
        println!("{method}: mirrors {f1:.4}, feed {to_feed:.4}");
        assert!(f1 >= equal, "{method}: mirrors agree by {f1:.4}");
        assert!(to_feed >= as_feed, "{method}: page and feed agree by {to_feed:.4}");
    }
    let raw =
        |pages: &[String]| pages.iter().map(|html| tokens(&write_text(&page(html), |_| true))).collect::<Vec<_>>();
    let [one, two] = mirrors.each_ref().map(|pages| raw(pages));
    let before = mean(one.iter().zip(&two).map(|(a, b)| lcs_score(a, b).f1));
    assert!(before < 0.9, "with their templates they agree by {before:.4} already");
    // A page is nearer to its mirror than to any other page, and by more once both are clean.
    let lead = |one: &[Vec<String>], two: &[Vec<String>]| {
        mean((0..one.len()).map(|at| {
            let nearest = (0..two.len()).filter(|other| *other != at).map(|other| bag_score(&one[at], &two[other]).f1);
            bag_score(&one[at], &two[at]).f1 - nearest.fold(0.0, f64::max)
        }))
    };
    let unclean = lead(&one, &two);
    let [one, two] = mirrors.each_ref().map(|pages| cleaned(Method::SiteModel, pages));
    let clean = lead(&one, &two);
    println!("a mirror leads the nearest other page by {clean:.3} clean, {unclean:.3} unclean");
    assert!(clean > 1.3 * unclean, "{clean:.3} and {unclean:.3}");
}
