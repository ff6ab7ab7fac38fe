//! What names an author or a day on a page.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHasher};

use super::groups::Member;
use crate::metadata::{Date, DateReader, month, person};
use dehusk_html::{NodeId, Tree, ancestors, normalized};

/// Characters of a text above which it is no line with a day.
const MOST_OF_DAY: usize = 80;

/// Words beside the day of a line. More are a sentence that names a day.
const MOST_WORDS: usize = 9;

/// Meanings of days of a group that are looked at.
const MOST_SLOTS: usize = 32;

/// Characters of a name.
const MOST_OF_NAME: usize = 40;

/// Words of classes that name who wrote a post.
#[rustfmt::skip]
const AUTHOR_CLASSES: [&str; 12] = [
    "author", "user", "username", "nickname", "nick", "poster", "member", "commenter", "byline", "fn", "autor",
    "auteur",
];

/// Words of addresses at which those who write have their pages.
#[rustfmt::skip]
const AUTHOR_ADDRESSES: [&str; 13] = [
    "author", "authors", "user", "users", "u", "member", "members", "memberlist", "profile", "profiles", "viewprofile",
    "people", "contributor",
];

/// An element that can name the author, the more trusted the lower its rank.
struct AuthorMark {
    node: NodeId,
    rank: u8,
    name: String,
    /// The comment around it: an element inside it is a post that it does not name.
    comment: Option<NodeId>,
}

/// The names and days of a page, in its order. What a quote names is not among them.
pub(super) struct Marks {
    authors: Vec<AuthorMark>,
    days: Vec<DayMark>,
}

/// A node that says when, and the day if that can be read: "3 hours ago" and "2 March" cannot.
#[derive(Clone, Copy)]
pub(super) struct DayMark {
    pub(super) node: NodeId,
    pub(super) day: Option<Date>,
    /// What the elements around it are called: days of the same meaning have the same slot.
    slot: u64,
    comment: Option<NodeId>,
}

impl Marks {
    pub(super) fn new(tree: &Tree, dates: &DateReader) -> Marks {
        let mut marks = Marks { authors: Vec::new(), days: Vec::new() };
        let mut classes = Classes::default();
        for_each_unquoted(tree, &mut classes, |node, class, comment| {
            if let Some(rank) = author_rank(tree, node, class)
                && let Some(name) = name(tree, node, dates)
            {
                marks.authors.push(AuthorMark { node, rank, name, comment });
            }
        });
        // Days take longer to read, and without authors there are no posts.
        if marks.authors.len() > 1 {
            for_each_unquoted(tree, &mut classes, |node, _, comment| {
                marks.days.extend(day_mark(tree, node, dates).map(|day| DayMark { comment, ..day }));
            });
        }
        marks
    }

    /// Whether there can be posts.
    pub(super) fn are_enough(&self) -> bool {
        self.authors.len() > 1
    }

    pub(super) fn days(&self) -> &[DayMark] {
        &self.days
    }

    fn days_in<'m>(&'m self, member: &'m Member) -> impl Iterator<Item = DayMark> + 'm {
        let start = self.days.partition_point(|mark| mark.node.index() < member.element.index());
        let after = self.days[start..].iter().take_while(|mark| mark.node.index() < member.end);
        after.copied().filter(|mark| member.has(mark.node) && is_about(member, mark.comment))
    }

    /// The first day of a post that can be read; else the first one.
    pub(super) fn first_day(&self, member: &Member) -> Option<DayMark> {
        self.days_in(member).find(|mark| mark.day.is_some()).or_else(|| self.days_in(member).next())
    }

    /// The day of each post of a group. Posts stand in the order of their days; when their authors joined does not.
    pub(super) fn days_of(&self, members: &[Member]) -> Vec<Option<DayMark>> {
        let mut slots: Vec<u64> = Vec::new();
        for mark in members.iter().flat_map(|member| self.days_in(member)).filter(|mark| mark.day.is_some()) {
            if slots.len() < MOST_SLOTS && !slots.contains(&mark.slot) {
                slots.push(mark.slot);
            }
        }
        let in_slot =
            |member: &Member, slot: u64| self.days_in(member).find(|mark| mark.slot == slot && mark.day.is_some());
        let n_in_order = |slot: &u64| {
            let days: Vec<Option<Date>> =
                members.iter().filter_map(|member| Some(in_slot(member, *slot)?.day)).collect();
            let n_pairs = |is: fn(&Option<Date>, &Option<Date>) -> bool| {
                days.windows(2).filter(|pair| is(&pair[0], &pair[1])).count()
            };
            n_pairs(|a, b| a <= b).max(n_pairs(|a, b| a >= b)) + usize::from(!days.is_empty())
        };
        // The first of equals.
        let best = slots.iter().rev().max_by_key(|slot| n_in_order(slot)).copied();
        let day = |member: &Member| best.and_then(|slot| in_slot(member, slot)).or_else(|| self.first_day(member));
        members.iter().map(day).collect()
    }

    /// The most trusted name of an author in a range of nodes, outside of comments.
    pub(super) fn best_author(&self, nodes: Range<usize>, is_asked: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let start = self.authors.partition_point(|mark| mark.node.index() < nodes.start);
        let inside = self.authors[start..].iter().take_while(|mark| mark.node.index() < nodes.end);
        let outside_of_comments = inside.filter(|mark| mark.comment.is_none() && is_asked(mark.node));
        // `min_by_key` takes the first of equals.
        outside_of_comments.min_by_key(|mark| mark.rank).map(|mark| mark.node)
    }

    /// Whether a post names an author.
    pub(super) fn has_author(&self, member: &Member) -> bool {
        self.authors_in(member).next().is_some()
    }

    fn authors_in<'m>(&'m self, member: &'m Member) -> impl Iterator<Item = &'m AuthorMark> {
        let start = self.authors.partition_point(|mark| mark.node.index() < member.element.index());
        let inside = self.authors[start..].iter().take_while(|mark| mark.node.index() < member.end);
        inside.filter(|mark| member.has(mark.node) && is_about(member, mark.comment))
    }

    /// The author of each post of a group. A name that nearly all of them have is a button.
    pub(super) fn authors_of(&self, members: &[Member]) -> Vec<Option<(NodeId, String)>> {
        let mut n_posts: FxHashMap<&str, usize> = FxHashMap::default();
        for member in members {
            let mut names: Vec<&str> = self.authors_in(member).map(|mark| mark.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            names.into_iter().for_each(|name| *n_posts.entry(name).or_default() += 1);
        }
        let is_button = |name: &str| members.len() > 2 && n_posts[name] * 10 >= members.len() * 9;
        let author = |member: &Member| {
            let named = self.authors_in(member).filter(|mark| !is_button(&mark.name));
            // `min_by_key` takes the first of equals.
            named.min_by_key(|mark| mark.rank).map(|mark| (mark.node, mark.name.clone()))
        };
        members.iter().map(author).collect()
    }
}

/// What the words of a class name.
#[derive(Clone, Copy, Default)]
struct ClassWords {
    author: bool,
    comment: bool,
    mention: bool,
}

/// The classes of a page that were read. Most elements have the class of another one.
#[derive(Default)]
struct Classes<'t> {
    known: FxHashMap<&'t str, ClassWords>,
}

impl<'t> Classes<'t> {
    fn words(&mut self, class: &'t str) -> ClassWords {
        *self.known.entry(class).or_insert_with(|| {
            let has = |names: &[&str]| {
                let mut words = class.split(|c: char| !c.is_ascii_alphabetic());
                words.any(|word| names.iter().any(|name| name.eq_ignore_ascii_case(word)))
            };
            ClassWords {
                author: has(&AUTHOR_CLASSES),
                comment: has(&["comment", "comments"]),
                mention: has(&["mention", "mentions"]),
            }
        })
    }
}

/// Calls `visit` with each counted node that no quote holds, the words of its class, and the comment around it.
fn for_each_unquoted<'t>(
    tree: &'t Tree,
    classes: &mut Classes<'t>,
    mut visit: impl FnMut(NodeId, ClassWords, Option<NodeId>),
) {
    let mut quoted_until = 0;
    let mut comments: Vec<NodeId> = Vec::new();
    for node in tree.counted().map(NodeId::new) {
        let mut class = ClassWords::default();
        if !tree.is_text(node) {
            if tree.name(node) == "blockquote" {
                quoted_until = quoted_until.max(tree.shape.subtree(node).end);
            }
            class = tree.attr(node, "class").map_or(class, |class| classes.words(class));
        }
        if node.index() < quoted_until {
            continue;
        }
        while comments.last().is_some_and(|comment| tree.shape.subtree(*comment).end <= node.index()) {
            comments.pop();
        }
        if class.comment {
            comments.push(node);
        }
        visit(node, class, comments.last().copied());
    }
}

/// Whether what stands in this comment can be about the post: the comment is the post, or around it.
fn is_about(post: &Member, comment: Option<NodeId>) -> bool {
    comment.is_none_or(|comment| comment <= post.element)
}

/// Whether a node says when: a `time`, an element whose `title` is a day, a short text.
fn day_mark(tree: &Tree, node: NodeId, dates: &DateReader) -> Option<DayMark> {
    if tree.is_text(node) {
        let text = tree.text(node);
        if !text.contains(char::is_numeric) || text.trim_end().ends_with('.') {
            return None;
        }
        let line = normalized(text);
        if line.chars().count() > MOST_OF_DAY || line.split(' ').count() > MOST_WORDS {
            return None;
        }
        let day = dates.read(text);
        return (day.is_some() || names_month(text)).then_some(DayMark {
            node,
            day,
            slot: slot(tree, node),
            comment: None,
        });
    }
    let read = |value: &str| if value.contains(char::is_numeric) { dates.read(value) } else { None };
    match tree.name(node) {
        "time" => Some(DayMark {
            slot: slot(tree, node),
            node,
            comment: None,
            day: tree.attr(node, "datetime").and_then(read),
        }),
        "abbr" | "span" | "a" => {
            let day = tree.attr(node, "title").filter(|title| title.len() <= MOST_OF_DAY).and_then(read)?;
            Some(DayMark { node, slot: slot(tree, node), comment: None, day: Some(day) })
        }
        _ => None,
    }
}

/// Names and classes of a node and of the two elements around it.
fn slot(tree: &Tree, node: NodeId) -> u64 {
    let mut hasher = FxHasher::default();
    for at in std::iter::once(node).chain(ancestors(tree, node).take(2)) {
        (tree.name(at), tree.attr(at, "class")).hash(&mut hasher);
    }
    hasher.finish()
}

/// Whether a text names a month beside a number: "answered Mar 2".
fn names_month(text: &str) -> bool {
    text.split(|c: char| !c.is_alphabetic()).any(|word| word.chars().count() > 2 && month(word).is_some())
}

fn author_rank(tree: &Tree, node: NodeId, class: ClassWords) -> Option<u8> {
    if tree.is_text(node) {
        return None;
    }
    let has = |attribute: &str, words: &[&str]| {
        tree.attr(node, attribute).is_some_and(|value| value.split_ascii_whitespace().any(|word| words.contains(&word)))
    };
    if has("itemprop", &["author", "creator"]) || has("rel", &["author"]) || has("class", &["p-author"]) {
        return Some(0);
    }
    if tree.name(node) == "a" {
        // Who is spoken to.
        if class.mention || starts_with_at(tree, node) {
            return None;
        }
        return tree.attr(node, "href").is_some_and(leads_to_author).then_some(1);
    }
    class.author.then_some(2)
}

/// Whether a link begins with an `@`, as one to a person who is spoken to.
fn starts_with_at(tree: &Tree, link: NodeId) -> bool {
    let mut texts = tree.shape.subtree(link).map(|at| tree.text(NodeId::new(at)).trim_start());
    texts.find(|text| !text.is_empty()).is_some_and(|text| text.starts_with('@'))
}

/// Whether an address is the page of somebody who writes, by its words.
pub(super) fn leads_to_author(href: &str) -> bool {
    let address = href.split_once("://").map_or(href, |(_, rest)| rest);
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let has =
        |part: &str, names: &[&str]| part.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| names.contains(&word));
    path.contains("/@") || has(path, &AUTHOR_ADDRESSES) || has(query, &["profile", "viewprofile"])
}

/// The name that an element shows: its first text of more than a letter. What follows can be a rank, or a number of
/// posts.
fn name(tree: &Tree, element: NodeId, dates: &DateReader) -> Option<String> {
    let is_name = |name: &String| {
        let n_chars = name.chars().count();
        (2..=MOST_OF_NAME).contains(&n_chars) && name.contains(char::is_alphanumeric) && dates.read(name).is_none()
    };
    let texts = tree.shape.subtree(element).take(40).map(NodeId::new).filter(|node| tree.is_text(*node));
    texts.map(|node| person(without_verb(&normalized(tree.text(node))))).find(is_name)
}

/// "Ann says:" and "Ann wrote:" name Ann.
fn without_verb(text: &str) -> &str {
    let text = text.trim_end_matches([':', ' ']);
    ["says", "said", "wrote", "writes"]
        .iter()
        .find_map(|verb| text.strip_suffix(verb).filter(|name| name.ends_with(' ')))
        .map_or(text, str::trim_end)
}
