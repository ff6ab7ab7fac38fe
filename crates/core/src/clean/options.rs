//! What is kept of a page.

use std::str::FromStr;

use serde::Serialize;

use dehusk_content::tps::TpsOptions;
use dehusk_content::{Favor, RestKind, RestKinds};

/// What is kept of a page, and when the site model is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CleanOptions {
    /// What is kept.
    pub keep: KeepText,
    /// Share of the template below which a page does not resemble any training page.
    pub min_confidence: f64,
    /// What labels a page whose site is unknown.
    pub alone: Alone,
    /// How the tag paths of a page are searched for its main region.
    pub tps: TpsOptions,
    /// What is preferred where it is in doubt how much of a page is main content.
    pub favor: Favor,
    /// Whether a paragraph, a heading, a cell, an item or a block of code is kept or left out as a whole.
    pub whole_blocks: bool,
    /// What is done with text that the page hides.
    pub hidden: HiddenText,
}

/// What is kept of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepText {
    /// Everything that is not template.
    Own,
    /// Of that, the main text.
    Main,
    /// The main text, and these kinds of the rest.
    MainAnd(RestKinds),
}

impl FromStr for KeepText {
    type Err = String;

    /// Reads `own`, `main`, or `main` with kinds of the rest, such as `main+comments`.
    fn from_str(text: &str) -> Result<KeepText, String> {
        let kind = |name: &&str| RestKind::ALL.into_iter().find(|kind| kind.name() == *name);
        let parts: Vec<&str> = text.split('+').map(str::trim).collect();
        let found = match parts.as_slice() {
            ["own"] => Some(KeepText::Own),
            ["main"] => Some(KeepText::Main),
            ["main", kinds @ ..] => kinds
                .iter()
                .try_fold(RestKinds::default(), |set, name| kind(name).map(|kind| set.with(kind)))
                .map(KeepText::MainAnd),
            _ => None,
        };
        found.ok_or_else(|| {
            let names = RestKind::ALL.map(RestKind::name).join(", ");
            format!("expected own, main, or main with some of {names}, such as \"main+comments\"")
        })
    }
}

/// What labels a page whose site is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Alone {
    /// The page model: a small net that reads the features of each block.
    PageModel,
    /// Its main region by tag paths (Velloso and Dorneles 2013).
    Tps,
    /// Nothing: the whole page is kept.
    Plain,
}

/// What is done with text below `hidden`, `display:none` or `visibility:hidden`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HiddenText {
    /// It is kept as any other text: closed tabs, answers and menus of a page hold content.
    Keep,
    /// It is left out.
    Drop,
}

impl Default for CleanOptions {
    fn default() -> CleanOptions {
        CleanOptions {
            keep: KeepText::Own,
            min_confidence: 0.25,
            alone: Alone::PageModel,
            tps: TpsOptions::default(),
            favor: Favor::Balanced,
            whole_blocks: true,
            hidden: HiddenText::Keep,
        }
    }
}
