//! One page and a template to what is the page's own.

mod apply;
mod chain;
mod density;

pub use apply::{Applied, Applier};
pub use chain::{Chained, chain};
