//! The page as Markdown: with its title, and with author and day above each post.

use crate::metadata::{Metadata, MetadataInput};
use crate::posts::{keeps_words, lines_above_posts};
use dehusk_html::{NodeId, PageUrl, Tree, normalized};
use dehusk_render::{MarkdownOptions, MarkdownWriter};

/// The nodes that `keeps` selects as Markdown.
///
/// The heading of the page is written even where it is not kept, if it is the title of the page: main content does not
/// always have it. Where the page has two posts or more, each begins with its author and day.
pub fn write_page_markdown(
    tree: &Tree,
    url: Option<&PageUrl>,
    options: &MarkdownOptions,
    keeps: impl Fn(NodeId) -> bool,
) -> String {
    let page = MetadataInput::new(tree, url);
    write_titled(&page, || Metadata::read(&page).title.map(|title| title.value), options, keeps)
}

/// The same for a page whose title may be known.
pub(crate) fn write_titled(
    page: &MetadataInput<'_>,
    title: impl FnOnce() -> Option<String>,
    options: &MarkdownOptions,
    keeps: impl Fn(NodeId) -> bool,
) -> String {
    let tree = page.tree;
    let heading = lost_heading(tree, title, &keeps).map(|heading| tree.shape.subtree(heading));
    let (lines, heads) = lines_above_posts(page, &keeps);
    let is_heading = |node: NodeId| heading.as_ref().is_some_and(|heading| heading.contains(&node.index()));
    let is_shown = |node: NodeId| is_heading(node) || (keeps(node) && !heads.contains(&node));
    let mut writer = MarkdownWriter::new(tree, page.url, options, is_shown);
    for (post, facts) in lines {
        writer.put_above(post, facts);
    }
    writer.write()
}

/// The heading that is the title of the page, if no first heading is kept.
fn lost_heading(tree: &Tree, title: impl FnOnce() -> Option<String>, keeps: &dyn Fn(NodeId) -> bool) -> Option<NodeId> {
    let headings: Vec<NodeId> = tree.all("h1").filter(|heading| tree.counted().contains(&heading.index())).collect();
    let has_text = tree.counted().map(NodeId::new).any(|node| tree.is_text(node) && keeps(node));
    if headings.is_empty() || !has_text || headings.iter().any(|heading| keeps_words(tree, *heading, keeps)) {
        return None;
    }
    let title = letters(&title()?);
    let is_title = |heading: &NodeId| letters(&text(tree, *heading)) == title;
    let is_elsewhere = ["h2", "h3"]
        .iter()
        .flat_map(|name| tree.all(name))
        .any(|heading| keeps_words(tree, heading, keeps) && is_title(&heading));
    headings.into_iter().find(is_title).filter(|_| !is_elsewhere)
}

fn text(tree: &Tree, element: NodeId) -> String {
    tree.shape.subtree(element).map(|node| tree.text(NodeId::new(node))).collect::<Vec<_>>().join(" ")
}

fn letters(text: &str) -> String {
    normalized(text).to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn the_title_is_written_where_main_content_lacks_it() {
        let written = |html: &str| {
            let tree = parse(html, &ParseOptions::default());
            let main = tree.all("main").next().unwrap();
            let keeps = |node: NodeId| tree.shape.subtree(main).contains(&node.index());
            write_page_markdown(&tree, None, &MarkdownOptions::default(), keeps)
        };
        let page =
            |heading: &str, main: &str| format!("<title>Rye - Grain</title>{heading}<nav>Home</nav><main>{main}");
        assert_eq!(written(&page("<h1><a href=/r>Rye</a></h1>", "<p>A grass.")), "# [Rye](/r)\n\nA grass.\n");
        assert_eq!(written(&page("<h1><a href=/>Grain</a></h1>", "<p>A grass.")), "A grass.\n", "the name of the site");
        assert_eq!(written(&page("<h1>Rye</h1>", "<h2>Rye</h2><p>A grass.")), "## Rye\n\nA grass.\n");
        assert_eq!(written(&page("<h1>Rye</h1>", "<h1>Rye</h1><p>A grass.")), "# Rye\n\nA grass.\n");
        assert_eq!(written(&page("<h1>Rye</h1>", "")), "", "nothing is kept");
    }
}
