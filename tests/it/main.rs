//! All integration tests in one binary.

mod corpus;
mod crawl;
mod dom;
mod quality;
