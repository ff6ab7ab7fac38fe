//! What Markdown keeps of links and pictures.

use serde::Serialize;

/// How a page is written as Markdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MarkdownOptions {
    /// How links are written.
    pub links: MarkdownLinks,
    /// What is kept of pictures.
    pub images: MarkdownImages,
}

/// How links are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkdownLinks {
    /// `[text](address)`.
    #[default]
    Inline,
    /// `[text][1]`, with the addresses at the end.
    Reference,
    /// Their text only.
    Drop,
}

/// What is kept of pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkdownImages {
    /// `![text](address)`.
    #[default]
    Keep,
    /// The text that stands for the picture.
    Alt,
    /// Nothing.
    Drop,
}
