//! Elements that are alike, and each of which is a post.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::marks::{Marks, leads_to_author};
use dehusk_html::{NodeId, Tree, ancestors};

/// Elements above a day among which its post is looked for.
const MOST_ABOVE: usize = 14;

/// Classes of an element that are looked at.
const MOST_CLASSES: usize = 8;

/// Share of the members of a group that name an author and a day.
const LEAST_SHARE: f64 = 0.6;

/// Letters outside of links from which on an element has text of its own.
const LEAST_LETTERS: u32 = 60;

/// Types of schema.org whose items are posts by themselves.
const TYPES: [&str; 6] =
    ["Comment", "UserComments", "Answer", "Question", "DiscussionForumPosting", "SocialMediaPosting"];

/// Properties of schema.org whose values are posts.
const PROPERTIES: [&str; 3] = ["acceptedAnswer", "suggestedAnswer", "comment"];

/// What answers to a question are called there.
const ANSWERS: [&str; 3] = ["Answer", "acceptedAnswer", "suggestedAnswer"];

/// An element that can be a post, without those of its kind that are inside it.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) element: NodeId,
    pub(super) end: usize,
    /// The members inside it: where each begins and ends.
    inside: Vec<(usize, usize)>,
}

impl Member {
    /// Whether a node is in the element, and in no member inside it.
    pub(super) fn has(&self, node: NodeId) -> bool {
        let at = node.index();
        let next = self.inside.partition_point(|(start, _)| *start <= at);
        (self.element.index()..self.end).contains(&at)
            && next.checked_sub(1).is_none_or(|last| self.inside[last].1 <= at)
    }
}

/// Posts that are alike.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) members: Vec<Member>,
    n_complete: usize,
    /// Whether the page says that they are posts.
    pub(super) is_typed: bool,
}

/// The groups of posts of a page. Each day and author is of one post.
pub(super) fn groups(tree: &Tree, marks: &Marks) -> Vec<Group> {
    let (letters, heading_links) = (letters_before(tree), heading_links(tree));
    let headings: Vec<NodeId> = tree.all("h1").collect();
    let mut candidates: Vec<Group> = alike(tree, marks)
        .into_iter()
        .filter_map(|(elements, is_typed)| {
            judged(tree, marks, (&letters, &heading_links, &headings), elements, is_typed)
        })
        .collect();
    // Of an element and the one around it, the outer one holds the whole post.
    candidates.sort_by_key(|group| {
        let first = &group.members[0];
        (usize::MAX - group.n_complete, first.element.index(), usize::MAX - first.end)
    });
    // A post without a day is known by its element.
    let mut taken: FxHashSet<NodeId> = FxHashSet::default();
    let mut chosen = Vec::new();
    for mut group in candidates {
        let n_before = group.members.len();
        let day = |member: &Member| marks.first_day(member).map_or(member.element, |mark| mark.node);
        group.members.retain(|member| !taken.contains(&day(member)));
        if !group.members.is_empty() && group.members.len() * 2 > n_before {
            taken.extend(group.members.iter().map(day));
            chosen.push(group);
        }
    }
    chosen
}

/// Elements around days that have a class, a type or an id in common; without any, the elements of one parent. With
/// each, whether it is a type whose items are posts.
fn alike(tree: &Tree, marks: &Marks) -> Vec<(Vec<NodeId>, bool)> {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut by_key: FxHashMap<u64, (Vec<NodeId>, bool)> = FxHashMap::default();
    for day in marks.days() {
        let above = ancestors(tree, day.node).take(MOST_ABOVE).take_while(|above| tree.name(*above) != "body");
        for element in above.take_while(|above| seen.insert(*above)) {
            keys(tree, element, |key, is_typed| {
                let (elements, typed) = by_key.entry(key).or_default();
                elements.push(element);
                *typed |= is_typed;
            });
        }
    }
    for element in tree.nodes().filter(|element| type_of(tree, *element).is_some() && seen.insert(*element)) {
        keys(tree, element, |key, is_typed| {
            let (elements, typed) = by_key.entry(key).or_default();
            elements.push(element);
            *typed |= is_typed;
        });
    }
    let (questions, answers) = (outermost(tree, &["Question"]), outermost(tree, &ANSWERS));
    for (elements, is_typed) in by_key.values_mut() {
        if *is_typed {
            let narrowed =
                |element: &NodeId| match questions.binary_search_by_key(&element.index(), |range| range.start) {
                    Ok(at) => question(tree, marks, &answers, &questions[at]),
                    Err(_) => Some(*element),
                };
            *elements = elements.iter().filter_map(narrowed).collect();
        }
    }
    by_key.into_values().collect()
}

/// The elements that are posts by one of these types or properties, without those inside another one.
fn outermost(tree: &Tree, names: &[&str]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for element in tree.nodes().filter(|element| type_of(tree, *element).is_some_and(|name| names.contains(&name))) {
        if found.last().is_none_or(|last| last.end <= element.index()) {
            found.push(tree.shape.subtree(element));
        }
    }
    found
}

/// The element of a question; if that is around its answers, the part of it around its author that has none of them.
fn question(tree: &Tree, marks: &Marks, answers: &[Range<usize>], question: &Range<usize>) -> Option<NodeId> {
    let has_answer = |range: Range<usize>| {
        let next = answers.partition_point(|answer| answer.start <= range.start);
        answers.get(next).is_some_and(|answer| answer.start < range.end)
    };
    let element = NodeId::new(question.start);
    if !has_answer(question.clone()) {
        return Some(element);
    }
    let is_answered = |node: NodeId| {
        let last = answers.partition_point(|answer| answer.start <= node.index());
        last.checked_sub(1).is_some_and(|last| node.index() < answers[last].end)
    };
    let author = marks.best_author(question.clone(), |node| !is_answered(node))?;
    let above = std::iter::once(author).chain(ancestors(tree, author)).take_while(|at| *at != element);
    above.take_while(|at| !has_answer(tree.shape.subtree(*at))).last()
}

/// What an element has in common with others of its kind. Digits count as one: `post-12` and `post-7` are alike.
fn keys(tree: &Tree, element: NodeId, mut add: impl FnMut(u64, bool)) {
    let key = |kind: u8, word: &str| {
        let mut hasher = FxHasher::default();
        (kind, tree.name_number(element)).hash(&mut hasher);
        let mut chars = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).peekable();
        while let Some(c) = chars.next() {
            if !(c == '0' && chars.peek() == Some(&'0')) {
                c.hash(&mut hasher);
            }
        }
        hasher.finish()
    };
    let mut is_named = false;
    for class in tree.attr(element, "class").unwrap_or_default().split_ascii_whitespace().take(MOST_CLASSES) {
        is_named = true;
        add(key(0, class), false);
    }
    if let Some(id) = tree.attr(element, "id").filter(|id| id.contains(|c: char| c.is_ascii_digit())) {
        is_named = true;
        add(key(1, id), false);
    }
    if let Some(kind) = type_of(tree, element) {
        is_named = true;
        add(key(2, kind), true);
    }
    if !is_named {
        add(key(3, &tree.shape.parent[element.index()].to_string()), false);
    }
}

/// The type or the property by which an element is a post.
fn type_of(tree: &Tree, element: NodeId) -> Option<&str> {
    let kind = tree.attr(element, "itemtype").and_then(|kind| kind.trim().rsplit(['/', '#']).next());
    let property = tree.attr(element, "itemprop").and_then(|names| names.split_ascii_whitespace().next());
    kind.filter(|kind| TYPES.contains(kind)).or(property.filter(|name| PROPERTIES.contains(name)))
}

/// The elements as a group, if they are posts.
fn judged(
    tree: &Tree,
    marks: &Marks,
    (letters, teasers, headings): (&[u32], &[NodeId], &[NodeId]),
    elements: Vec<NodeId>,
    is_typed: bool,
) -> Option<Group> {
    let members = members(tree, elements, headings);
    if members.is_empty() || (members.len() < 2 && !is_typed) {
        return None;
    }
    let share = |n: usize| n as f64 / members.len() as f64;
    let has_day = |member: &Member| marks.first_day(member).is_some();
    let n_complete = members.iter().filter(|member| has_day(member) && marks.has_author(member)).count();
    let n_named = members.iter().filter(|member| has_day(member) || marks.has_author(member)).count();
    let has_text = |member: &&Member| {
        let of = |start: usize, end: usize| letters[end] - letters[start];
        let inside: u32 = member.inside.iter().map(|(start, end)| of(*start, *end)).sum();
        of(member.element.index(), member.end) - inside >= LEAST_LETTERS
    };
    let n_with_text = members.iter().filter(has_text).count();
    let n_teasers = members.iter().filter(|member| is_teaser(member, teasers)).count();
    let is_group = share(if is_typed { n_named } else { n_complete }) >= LEAST_SHARE
        && share(n_with_text) >= 0.3
        && share(n_teasers) <= 0.5;
    is_group.then_some(Group { members, n_complete, is_typed })
}

/// The elements as members, but for those around the heading of the page: they are the page.
fn members(tree: &Tree, mut elements: Vec<NodeId>, headings: &[NodeId]) -> Vec<Member> {
    let is_around = |element: NodeId, heading: &NodeId| tree.shape.subtree(element).contains(&heading.index());
    elements.retain(|element| type_of(tree, *element).is_some() || !headings.iter().any(|at| is_around(*element, at)));
    elements.sort_unstable();
    let mut members: Vec<Member> = Vec::with_capacity(elements.len());
    // The members that are open, the innermost last.
    let mut open: Vec<usize> = Vec::new();
    for element in elements {
        let (start, end) = (element.index(), tree.shape.subtree(element).end);
        while open.last().is_some_and(|last| members[*last].end <= start) {
            open.pop();
        }
        if let Some(around) = open.last() {
            members[*around].inside.push((start, end));
        }
        open.push(members.len());
        members.push(Member { element, end, inside: Vec::new() });
    }
    members
}

/// The links of headings to other pages that are no author's.
fn heading_links(tree: &Tree) -> Vec<NodeId> {
    let headings = ["h2", "h3", "h4", "h5"].iter().flat_map(|name| tree.all(name));
    let around = |heading: NodeId| ancestors(tree, heading).take(2).find(|above| tree.name(*above) == "a");
    let links = headings.flat_map(|heading| {
        let inside = tree.shape.subtree(heading).map(NodeId::new).filter(|node| tree.name(*node) == "a");
        inside.chain(around(heading))
    });
    let mut links: Vec<NodeId> = links.filter(|link| tree.attr(*link, "href").is_some_and(leads_to_page)).collect();
    links.sort_unstable();
    links
}

fn leads_to_page(href: &str) -> bool {
    !href.contains('#') && !leads_to_author(href)
}

/// Whether an element is the summary of another page: its heading leads there.
fn is_teaser(member: &Member, heading_links: &[NodeId]) -> bool {
    let start = heading_links.partition_point(|link| *link < member.element);
    heading_links[start..].iter().take_while(|link| link.index() < member.end).any(|link| member.has(*link))
}

/// Letters outside of links before each node.
fn letters_before(tree: &Tree) -> Vec<u32> {
    let mut sums = Vec::with_capacity(tree.len() + 1);
    let (mut sum, mut link_end) = (0_u32, 0);
    for node in tree.nodes() {
        sums.push(sum);
        if tree.name(node) == "a" {
            link_end = link_end.max(tree.shape.subtree(node).end);
        }
        if tree.is_text(node) && node.index() >= link_end {
            sum += tree.text(node).chars().filter(|c| c.is_alphanumeric()).count() as u32;
        }
    }
    sums.push(sum);
    sums
}
