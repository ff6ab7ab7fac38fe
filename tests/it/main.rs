//! All integration tests in one binary.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, clippy::print_stdout, reason = "tests")]

#[cfg(feature = "serve")]
mod azure;
mod book;
mod browser;
mod changes;
mod chunks;
mod clean_corpus;
mod clean_learn;
mod clean_url;
mod cli;
mod clock;
mod cluster;
mod common_crawl;
mod corpus;
mod crawl;
mod docs;
mod dom;
mod export;
mod false_alarms;
mod farm;
mod first_steps;
mod followed_exports;
mod followers;
mod fuzz;
mod generated;
mod hostile;
#[cfg(feature = "serve")]
mod hostile_pages;
mod html5lib;
mod http;
mod inert;
mod injection;
mod packaging;
mod paper_forms;
mod parquet_sources;
mod politeness;
mod quality;
#[cfg(feature = "parquet")]
mod readers;
mod records;
mod redesign;
#[cfg(feature = "render")]
mod rendering;
mod restore;
mod rights;
mod robots;
mod kill;
mod main_content;
mod markdown;
mod markdown_gold;
mod missing_pages;
mod moves;
mod models;
mod near_duplicates;
mod new_pages;
mod nightly;
mod no_links;
mod notify;
mod objects;
mod operating;
#[cfg(feature = "serve")]
mod serve;
mod seeds;
mod site_tables;
mod situations;
mod states;
mod skipped;
mod soak;
mod streams;
mod strings;
mod teco;
mod summaries;
mod teach;
mod template_page;
mod tidy;
mod text_options;
mod vectors;
#[cfg(feature = "postgres")]
mod postgres_server;
#[cfg(feature = "serve")]
mod programs;
#[cfg(feature = "postgres")]
mod visits;
mod warc_heads;
mod workers;
mod year;
