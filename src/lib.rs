//! dehusk crawls lists of web sites politely, learns each site's page template from a handful of its own pages, and
//! hands back every page without that template.
//!
//! The modules stand in the order of the data: a seed becomes a request in the [`frontier`], an answer of the
//! [`fetch`] gate becomes a [`dom`] tree, its [`links`] feed the [`subdigraph`] search, the pages found vote on a
//! [`template`], and [`clean`] applies it. [`learner`] runs these for one site, [`crawl`] for many at once.
//! ARCHITECTURE.md says which module may use which.
//!
//! ```
//! use dehusk::clean::Applier;
//! use dehusk::dom::parse;
//! use dehusk::page::PageUrl;
//! use dehusk::settings::Settings;
//! use dehusk::template::{Template, vote};
//!
//! let settings = Settings::default();
//! let page = |text: &str| {
//!     parse(&format!("<nav><a href=/>Home</a></nav><h1>{text}</h1>"), &settings.page)
//! };
//! let (key, one, two) = (page("first"), page("second"), page("third"));
//! let votes = vote(&key, &[&one, &two], &settings.learn);
//! let url = PageUrl::parse("http://example.org/").unwrap();
//! let template = Template::of(&key, &url, &[], 2, &votes, &settings.learn);
//!
//! let new = page("news of the day");
//! assert_eq!(Applier::new(&template).apply(&new).text(&new), "news of the day\n");
//! ```

pub mod page;
pub mod settings;
pub mod calendar;

pub mod robots;
pub mod scope;
pub mod sitemap;
pub mod frontier;

pub mod dom;
pub mod cluster;
pub mod text_mdl;
pub mod tps;
pub mod strings;
pub mod links;
pub mod subdigraph;
pub mod witness;
pub mod template;
pub mod clean;
pub mod baselines;
pub mod methods;
pub mod learner;

pub mod fetch;
pub mod folder;
pub mod seeds;
pub mod store;
pub mod warc;

pub mod crawl;

pub mod cli;
pub mod demo;
pub mod evaluate;
