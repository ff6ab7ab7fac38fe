//! Bytes of others: what is in a file, a folder, a web archive or an HTTP body.
//!
//! [`unpacked`] opens a file, a pipe or standard input and unpacks it, [`folder`] finds the pages of a mirrored site,
//! [`warc`] reads and writes web archives, [`codings`] undoes content codings as browsers do, and [`media_type`] says
//! what kind a body is, whatever is declared. With the feature `objects`, `objects` reads and writes object stores, and
//! `common_crawl` finds the pages of a host in a crawl of Common Crawl.
//!
//! ```
//! use dehusk_files::media_type::essence;
//!
//! assert_eq!(essence(Some("Text/HTML charset=utf-8")), "text/html");
//! ```
//!
//! Whatever is read may come from a stranger: each reader is bounded in memory, takes time linear in its input, and
//! returns an error that names the file.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod codings;
#[cfg(feature = "objects")]
pub mod common_crawl;
pub mod folder;
pub mod media_type;
pub mod on_disk;
#[cfg(feature = "objects")]
pub mod objects;
mod private_file;
pub mod unpacked;
pub mod warc;

pub use private_file::private_file;
