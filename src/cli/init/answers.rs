//! The four questions of `dehusk init`, and the options that answer them.

use std::io::{self, BufRead, Write};

use anyhow::anyhow;

use super::Init;
use crate::cli::Failure;
use dehusk_crawl::seeds::Seeds;

/// Pages of a site in one night, unless the answer is another number.
const PAGES: usize = 500;

/// What is written into the files.
pub(super) struct Answers {
    pub(super) agent: Option<String>,
    pub(super) seeds: Vec<String>,
    pub(super) pages: usize,
    /// Hour and minute; `None` writes no units.
    pub(super) at: Option<String>,
}

impl Answers {
    /// Takes the options, and asks for what they leave open where there is somebody to ask.
    pub(super) fn collect(init: &Init, asks: bool) -> Result<Answers, Failure> {
        let ask = |question: &str, default: &str| if asks { answer(question, default) } else { Ok(String::new()) };
        let agent = match &init.agent {
            Some(agent) => agent.clone(),
            None => ask(
                "Who crawls? A name of your own, with a URL or a mail address for complaints",
                "mybot/1.0 (+https://my.org/bot)",
            )?,
        };
        let seeds = if init.seeds.is_empty() {
            let answer = ask("Which sites? URLs or hosts, with blanks between them", "")?;
            answer.split_whitespace().map(str::to_owned).collect()
        } else {
            init.seeds.clone()
        };
        let mut checked = Seeds::default();
        for seed in &seeds {
            checked.add(seed).map_err(|error| Failure::Usage(error.into()))?;
        }
        let pages = match init.pages {
            Some(pages) => pages,
            None => {
                let text = ask("How many pages of each site in one night?", &PAGES.to_string())?;
                let number = if text.is_empty() { Ok(PAGES) } else { text.parse() };
                number.map_err(|_| Failure::Usage(anyhow!("`{text}` is no number of pages")))?
            }
        };
        let at = match &init.at {
            Some(at) => at.clone(),
            None => ask("When does it begin each night? HH:MM, or never", "never")?,
        };
        let at = if at.is_empty() || at == "never" { None } else { Some(time_of_day(&at)?) };
        Ok(Answers { agent: Some(agent).filter(|agent| !agent.is_empty()), seeds, pages, at })
    }
}

/// One line from the terminal; the default for an empty one.
fn answer(question: &str, default: &str) -> Result<String, Failure> {
    let mut out = io::stderr().lock();
    let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
    write!(out, "{question}{shown}: ")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let line = line.trim();
    Ok(if line.is_empty() { default.to_owned() } else { line.to_owned() })
}

/// A time of day with two digits for the hour.
fn time_of_day(text: &str) -> Result<String, Failure> {
    let parsed = text.split_once(':').and_then(|(hour, minute)| Some((hour.parse().ok()?, minute.parse().ok()?)));
    match parsed {
        Some((hour @ 0..=23_u8, minute @ 0..=59_u8)) => Ok(format!("{hour:02}:{minute:02}")),
        _ => Err(Failure::Usage(anyhow!("`{text}` is no time of day; write one such as 02:00, or never"))),
    }
}
