//! Files about rights are read after the robots.txt of an origin and before its pages, one request after the other.

use std::collections::VecDeque;

use super::request::{QueueEnd, Request, RequestKind};
use super::scheduler::Scheduler;
use crate::fetch::Fetched;
use crate::rights_files::{FileKind, RightsFile, RightsFiles, addresses};
use crate::robots::Robots;
use dehusk_html::PageUrl;
use dehusk_store::{StoredRobots, WriterError};

/// An origin whose files are being read.
pub(super) struct RightsReading {
    answered: StoredRobots,
    robots: Robots,
    waiting: VecDeque<(FileKind, PageUrl)>,
    read: Vec<RightsFile>,
}

impl Scheduler<'_> {
    /// Whether the files of an origin are read: where pages have a purpose that an owner can deny, and may be fetched.
    pub(super) fn reads_rights_files(&self, robots: &Robots) -> bool {
        self.tools.settings.crawl.purpose.is_some() && robots.unreachable().is_none() && !robots.forbids_all()
    }

    /// Begins to read them. Licences are those of the origin itself; an address elsewhere is kept as words.
    pub(super) async fn read_rights_files(
        &mut self,
        answered: StoredRobots,
        robots: Robots,
    ) -> Result<(), WriterError> {
        let origin = answered.origin.clone();
        let waiting = addresses(&origin, &robots).into();
        let reading = RightsReading { answered, robots, waiting, read: Vec::new() };
        self.rights_reading.insert(origin.clone(), reading);
        self.ask_for_rights_file(&origin).await
    }

    async fn ask_for_rights_file(&mut self, origin: &str) -> Result<(), WriterError> {
        let Some(reading) = self.rights_reading.get_mut(origin) else { return Ok(()) };
        if let Some((file, url)) = reading.waiting.pop_front() {
            let kind = RequestKind::Rights { origin: origin.to_owned(), file };
            return Box::pin(self.push(Request::new(url, kind), QueueEnd::Front)).await;
        }
        let Some(reading) = self.rights_reading.remove(origin) else { return Ok(()) };
        let RightsReading { answered, robots, read, .. } = reading;
        let robots = robots.with_files(RightsFiles::new(&read, &self.tools.agents));
        let rights_files = serde_json::to_string(&read).ok();
        Box::pin(self.take_rules(StoredRobots { rights_files, ..answered }, robots)).await
    }

    /// Takes a file, or that it could not be had. The next one is asked for, and after the last one the pages.
    pub(super) async fn take_rights_file(
        &mut self,
        origin: &str,
        kind: FileKind,
        url: &PageUrl,
        fetched: Option<&Fetched>,
    ) -> Result<(), WriterError> {
        let Some(reading) = self.rights_reading.get_mut(origin) else { return Ok(()) };
        let response = fetched.and_then(|fetched| fetched.outcome.as_ref().ok());
        reading.read.push(RightsFile::new(kind, url, response));
        if self.is_stopping { Ok(()) } else { self.ask_for_rights_file(origin).await }
    }
}
