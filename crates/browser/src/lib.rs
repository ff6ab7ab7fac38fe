//! Renders pages in Chromium, and leaves every request of the browser to the caller.
//!
//! The caller has fetched the page. [`Browser::render`] gives it to a browser, answers what its scripts ask for through
//! a [`Gate`], and returns the tree that they have built, as HTML. The browser itself sends nothing: requests are taken
//! from it before they are sent (`Fetch.enable` of the DevTools protocol), and what would get past that ends at a proxy
//! that accepts nothing.
//!
//! The clock of a page is virtual: it stands still while a request of the page waits for its answer, and runs as fast
//! as the machine allows otherwise. A politeness delay of a minute is none for the page, and a timer of five seconds
//! takes no time.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod answers;
mod browser;
mod connection;
mod error;
mod gate;
mod memory;
mod page;
mod process;

pub use browser::{Browser, BrowserOptions};
pub use error::RenderError;
pub use gate::{Answer, Gate, Origins, Wanted};
pub use page::{Document, Limits, Rendered};
