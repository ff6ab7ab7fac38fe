//! All integration tests in one binary.

mod corpus;
mod dom;
mod quality;
