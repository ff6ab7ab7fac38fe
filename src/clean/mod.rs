//! One page and a template to what is the page's own.

mod apply;

pub use apply::{Applied, Applier};
