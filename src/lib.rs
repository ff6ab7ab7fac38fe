//! dehusk crawls lists of web sites politely, learns each site's page template from a few of the site's own pages, and
//! stores every page with the template removed. No hand-written rules.
//!
//! The façade for pages in memory is [`SiteModel`] with [`Page`] and [`Cleaned`]; it is the crate `dehusk-core`. The
//! modules here are the program: settings, politeness, fetching, the store, the crawl and the command line. They are
//! public for the program's own tests and change with it. ARCHITECTURE.md says which module may use which.

pub mod outline;

pub mod safe_html;

pub mod cli;
pub mod demo;
pub mod evaluate;
#[cfg(feature = "serve")]
pub mod serve;

pub use dehusk_core::{
    CleanOptions, Cleaned, Html, KeepText, LearnError, Method, ModelError, Page, PageOptions, ParseOptions, SiteModel,
    SiteModelOptions,
};
