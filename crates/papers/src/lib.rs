//! The published methods beside the product's own, under one table, so that they can be run and compared.
//!
//! [`dehusk_content::tps`] finds the main region of a page by its sequence of tag paths (Velloso and Dorneles 2013).
//! [`dehusk_template::text_mdl`] clusters mixed pages by template (Kim and Shim 2011). [`baselines`] are what the
//! papers compare with: RTDM, DSC and MDR. [`records`] gives the data records that TPS and MDR find as rows. The
//! backbone of the product, votes by top-down mapping and clusters of training pages, is in `dehusk_template`.
//! [`method_table::METHODS`] is the table of all of them: a [`method_table::MethodEntry`] learns from pages of a site
//! where the method needs them, and labels a page. [`scores`] says how well.
//!
//! ```
//! use dehusk_core::Options;
//! use dehusk_html::{ParseOptions, parse};
//! use dehusk_papers::{Method, PapersOptions, method_table::MethodEntry};
//!
//! let html = "<a>Home</a><a>News</a><a>Shop</a><p>Rye is a hardy grain that grows in the cold.</p>";
//! let page = parse(html, &ParseOptions::default());
//! let tps = MethodEntry::find(Method::Tps).unwrap();
//! let cleaned = tps.label(&page, None, &Options::default(), &PapersOptions::default());
//! assert_eq!(cleaned.labels.text(&page), "Rye is a hardy grain that grows in the cold.\n");
//! ```
//!
//! Everything here is a pure function of its input: no I/O, no clock.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod baselines;
pub mod method_table;
mod options;
pub mod records;
pub mod scores;
#[cfg(test)]
#[path = "../../core/src/test_pages.rs"]
mod test_pages;

pub use dehusk_template::method::Method;
pub use options::PapersOptions;
