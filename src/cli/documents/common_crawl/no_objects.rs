//! In place of `read.rs`, where the program was built without object stores.

use std::marker::PhantomData;
use std::path::PathBuf;

use anyhow::anyhow;

use super::super::{Documents, Reading, unreadable};
use super::Address;
use dehusk_settings::Settings;

/// None.
#[derive(Clone)]
pub(in crate::cli) struct Crawls<'a>(PhantomData<&'a Settings>);

impl<'a> Crawls<'a> {
    pub(in crate::cli) fn new(_: &'a Settings) -> Crawls<'a> {
        Crawls(PhantomData)
    }

    fn open<T>(&self, name: &str) -> anyhow::Result<T> {
        Err(anyhow!("cc:{name}: this program was built without the feature objects, which reads Common Crawl"))
    }
}

impl Reading<'_> {
    pub(in crate::cli::documents) fn of_crawl(&self, address: &Address) -> anyhow::Result<Documents<'_>> {
        self.crawls.open(&address.crawl)
    }

    pub(in crate::cli::documents) fn of_sampled_hosts<'a>(&'a self, sources: &'a [PathBuf]) -> Documents<'a> {
        let all = sources.iter().filter_map(|source| Address::parse(source));
        Box::new(all.flat_map(|address| self.of_crawl(&address).unwrap_or_else(unreadable)))
    }
}
