//! Threads, comments, answers, and pages without posts.

use super::*;
use crate::MarkdownOptions;
use dehusk_html::{ParseOptions, parse};

const RYE: &str = "Rye grows on poor soil, and in cold places where nothing else does. I sow it in October.";
const OATS: &str = "Oats need more water than that. Mine stood in dry sand last year, and gave next to nothing.";

fn read(html: &str) -> Vec<Post> {
    let tree = parse(html, &ParseOptions::default());
    posts(&MetadataInput::new(&tree, None), &MarkdownOptions::default(), |_| true)
}

/// Author, day and text of each post.
fn facts(posts: &[Post]) -> Vec<(&str, &str, &str)> {
    let text = |value: &Option<String>| value.as_deref().map_or("", |text| text).to_owned().leak() as &str;
    posts.iter().map(|post| (text(&post.author), text(&post.published), post.text.trim())).collect()
}

fn thread() -> String {
    let post = |n: u32, name: &str, text: &str| {
        format!(
            "<div class='post bg{}' id=p{n}><dl class=card><dt><a class=username href=./memberlist.php?u={n}>{name}</a>\
             <dd>Posts: {n}<dd>Joined: May 201{n}</dl><h3><a href=#p{n}>Re: Soil</a></h3>\
             <p class=line>by <a href=./memberlist.php?u={n}>{name}</a> » {n} March 2024, 10:02</p>\
             <div class=content>{text}</div><a href=quote?{n}>Reply</a></div>",
            n % 2
        )
    };
    let quote = format!("<blockquote><cite>Ann wrote on 1 March 2024:</cite>{RYE}</blockquote>{OATS}");
    format!(
        "<nav><a href=/>Home</a></nav><h1>Soil</h1>{}{}{}<footer>2024 Grain board</footer>",
        post(1, "Ann", RYE),
        post(2, "ned_42", &quote),
        post(3, "Ann", "<p>You are right, and I was wrong about the sand in my own field.</p><p>Thanks!</p>")
    )
}

#[test]
fn posts_of_a_thread() {
    let posts = read(&thread());
    let facts = facts(&posts);
    assert_eq!(facts.len(), 3);
    assert_eq!((facts[0].0, facts[0].1), ("Ann", "2024-03-01"));
    assert_eq!(facts[0].2, RYE, "no card, no buttons, no title on each");
    assert_eq!((facts[1].0, facts[1].1), ("ned_42", "2024-03-02"), "the quote is of the second post");
    assert!(posts[1].markdown.contains("> Ann wrote on 1 March 2024:"), "{}", posts[1].markdown);
    assert_eq!(posts[2].markdown, "You are right, and I was wrong about the sand in my own field.\n\nThanks!\n");
}

#[test]
fn comments_inside_each_other() {
    let comment = |name: &str, day: &str, text: &str, answers: &str| {
        format!(
            "<li class=comment><div><cite class=fn>{name}</cite> says: <time datetime={day}T10:00Z>some time ago</time>\
             </div><p>{text}</p><ul class=children>{answers}</ul>"
        )
    };
    let inner = comment("Ned", "2024-03-02", OATS, "");
    let page = format!(
        "<article><h1>Rye</h1><p>{RYE}</p></article><ol>{}{}</ol>",
        comment("Ann", "2024-03-01", RYE, &inner),
        comment("Ida", "2024-03-03", OATS, "")
    );
    let posts = read(&page);
    let expected = [("Ann", "2024-03-01"), ("Ned", "2024-03-02"), ("Ida", "2024-03-03")];
    assert_eq!(facts(&posts).iter().map(|(name, day, _)| (*name, *day)).collect::<Vec<_>>(), expected);
    assert!(!posts[0].text.contains("Oats") && !posts[0].markdown.contains("Oats"), "the answer is a post of its own");
}

#[test]
fn a_question_and_its_answers_by_their_types() {
    let item = |kind: &str, name: &str, day: u32, text: &str| {
        format!(
            "<div itemscope itemtype=https://schema.org/{kind}><div itemprop=text>{text}</div><span itemprop=author \
             itemscope><a href=/users/7><b itemprop=name>{name}</b></a></span><time datetime=2024-03-0{day}>x</time></div>"
        )
    };
    let page = format!("<h1>Soil?</h1>{}{}", item("Question", "Ann", 1, RYE), item("Answer", "Ned", 2, OATS));
    assert_eq!(facts(&read(&page)), [("Ann", "2024-03-01", RYE), ("Ned", "2024-03-02", OATS)]);
}

#[test]
fn a_question_whose_type_is_around_its_answers() {
    let post = |class: &str, kind: &str, name: &str, day: u32, text: &str| {
        format!(
            "<div class={class} {kind}><div class=body>{text}</div><div class=card itemprop=author itemscope>\
             <a href=/users/7>{name}</a></div><span title='2024-03-0{day} 10:00:00Z'>asked Mar {day}</span></div>"
        )
    };
    let answer = "itemprop=suggestedAnswer itemscope itemtype=https://schema.org/Answer";
    let page = format!(
        "<div itemscope itemtype=https://schema.org/Question><h1 itemprop=name>Soil?</h1><div>Asked <time \
         datetime=2024-03-01>some time ago</time>, viewed by 37 people who grow rye, oats, or something else</div>\
         <main>{}<h2>2 answers</h2>{}{}</main></div>",
        post("question", "", "Ann", 1, RYE),
        post("answer", answer, "Ned", 2, OATS),
        post("answer", answer, "Ida", 3, OATS)
    );
    let expected = [("Ann", "2024-03-01", RYE), ("Ned", "2024-03-02", OATS), ("Ida", "2024-03-03", OATS)];
    assert_eq!(facts(&read(&page)), expected);
}

#[test]
fn pages_without_posts() {
    let teaser = |n: u32| {
        format!(
            "<article class=teaser><h2><a href=/grain/{n}>Grain {n}</a></h2><span class=author>Ann</span> \
             <time datetime=2024-03-0{n}>{n} March</time><p>{RYE}</article>"
        )
    };
    assert_eq!(read(&(1..5).map(teaser).collect::<String>()), [], "summaries of other pages");
    let row = |n: u32| format!("<tr><td><a href=/t/{n}>Soil {n}</a><td><a href=/user/{n}>Ann</a> 0{n}.03.2024");
    assert_eq!(read(&format!("<table>{}</table>", (1..9).map(row).collect::<String>())), [], "a list of threads");
    let article = format!("<article><h1>Rye</h1><p class=byline>By Ann, 1 March 2024</p><p>{RYE}</p></article>");
    assert_eq!(read(&article), [], "an article");
    assert_eq!(read(""), []);
}

#[test]
fn markdown_shows_where_posts_begin() {
    let tree = parse(&thread(), &ParseOptions::default());
    let keep_all = crate::write_page_markdown(&tree, None, &MarkdownOptions::default(), |_| true);
    assert!(keep_all.contains("\n\n---\n\n**ned_42**, 2024-03-02\n\n"), "{keep_all}");
    assert!(keep_all.contains("# Soil\n\n---\n\n**Ann**, 2024-03-01\n\n"), "{keep_all}");
    assert_eq!(keep_all.matches("---").count(), 3);
}

#[test]
fn a_thread_is_of_the_author_and_day_of_its_first_post() {
    let read = |html: &str| crate::metadata::Metadata::new(&parse(html, &ParseOptions::default()), None);
    // The clock of the board is no day of the thread.
    let clock = "<p class=date>It is 9 May 2026, 11:02</p>";
    let metadata = read(&thread().replace("<nav>", &format!("{clock}<nav>")));
    assert_eq!(metadata.published.map(|day| day.value).as_deref(), Some("2024-03-01"));
    assert_eq!(metadata.authors.into_iter().map(|name| name.value).collect::<Vec<_>>(), ["Ann"]);
    // Comments on an article are not what it is.
    let article = format!("<h1>Soil</h1><p class=date>9 May 2023</p><p>{}</p>{}", RYE.repeat(5), thread());
    assert_eq!(read(&article).published.map(|day| day.value).as_deref(), Some("2023-05-09"));
}
