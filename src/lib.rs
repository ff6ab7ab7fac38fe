//! dehusk crawls lists of web sites politely, learns each site's page template from a few of the site's own pages, and
//! stores every page with the template removed. No hand-written rules.
//!
//! The façade for pages in memory is [`SiteModel`] with [`Page`] and [`Cleaned`]; it is the crate `dehusk-core`. The
//! crawler is `dehusk-crawl`, the database `dehusk-store`, exports are `dehusk-corpus`. The modules here are the
//! program: commands, inspector, evaluation, demo. They are public for the program's own tests and change with it.
//! ARCHITECTURE.md has all crates.

pub mod cli;
pub mod demo;
pub mod evaluate;
pub mod outline;
pub mod plot;
pub mod safe_html;
#[cfg(feature = "serve")]
pub mod serve;

pub use dehusk_core::{
    CleanOptions, Cleaned, Html, KeepText, LearnError, Method, ModelError, Page, PageOptions, ParseOptions, SiteModel,
    SiteModelOptions,
};
