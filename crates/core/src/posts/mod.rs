//! The posts of a thread, the answers to a question, the comments on an article: which part of a page who wrote when.
//!
//! Posts are elements that are alike, each with the name of an author, a day, and text of its own (`groups.rs`). Names
//! and days are found by what pages say in markup, and by the words of classes and addresses (`marks.rs`). What the
//! posts hold is decided by the labels of the page (`written.rs`).

mod groups;
mod marks;
mod opening;
mod written;

pub(crate) use opening::opening;
pub use written::{Post, posts};
pub(crate) use written::{keeps_words, lines_above_posts};

use groups::{Group, groups};
use marks::{DayMark, Marks};

use crate::metadata::{DateReader, MetadataInput};
use dehusk_html::NodeId;

/// Posts of a page that are told apart.
const MOST_POSTS: usize = 2000;

/// A post, and what the page says of it.
#[derive(Clone, Debug)]
struct FoundPost {
    element: NodeId,
    author: Option<(NodeId, String)>,
    /// Where it says when, and the day.
    day: Option<(NodeId, Option<String>)>,
    /// Which posts it is like: the number of their group.
    group: usize,
}

/// The posts of a page, in its order.
fn find(page: &MetadataInput<'_>) -> Vec<FoundPost> {
    let marks = Marks::new(page.tree, &DateReader::of_document(page));
    let mut found: Vec<FoundPost> = Vec::new();
    if !marks.are_enough() {
        return found;
    }
    for (number, Group { members, is_typed, .. }) in groups(page.tree, &marks).into_iter().enumerate() {
        let authors = marks.authors_of(&members);
        let days = marks.days_of(&members);
        let is_known = |(author, day): (&Option<_>, &Option<DayMark>)| {
            author.is_some() || (is_typed && day.is_some_and(|mark| mark.day.is_some()))
        };
        if authors.iter().zip(&days).filter(|facts| is_known(*facts)).count() * 2 < members.len() {
            continue;
        }
        found.extend(members.iter().zip(authors).zip(days).map(|((member, author), day)| FoundPost {
            element: member.element,
            author,
            day: day.map(|mark| (mark.node, mark.day.map(|day| day.to_string()))),
            group: number,
        }));
    }
    found.sort_by_key(|post| post.element.index());
    found.truncate(MOST_POSTS);
    found
}

#[cfg(test)]
mod tests;
