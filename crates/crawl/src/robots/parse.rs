//! The lines of a robots.txt, before an agent is chosen.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::rule::Rule;
use super::usage::UsageRule;
use super::{product_token, token_of};
use dehusk_core::rights::Form;

/// Maximum number of `Sitemap` lines kept.
const MAX_SITEMAPS: usize = 1000;

/// Maximum number of licences kept.
pub(super) const MAX_LICENCES: usize = 50;

/// The lines of a robots.txt.
#[derive(Default)]
pub(super) struct Groups {
    /// Lower-case product tokens, and `*`.
    pub(super) agents: Vec<String>,
    pub(super) lines: Vec<Line>,
    pub(super) sitemaps: Vec<String>,
    /// Licences that hold for all agents.
    pub(super) licences: Vec<String>,
}

/// A directive and the agents that it applies to.
pub(super) struct Line {
    pub(super) agents: Rc<[usize]>,
    pub(super) directive: Directive,
}

pub(super) enum Directive {
    Rule(Rule),
    Delay(Duration),
    /// What paths may be used for.
    Usage(UsageRule),
    /// Address of a licence.
    Licence(String),
}

impl Groups {
    pub(super) fn read(body: &[u8]) -> Groups {
        let text;
        let body = match encoding_rs::Encoding::for_bom(body) {
            Some((encoding, n)) if encoding != encoding_rs::UTF_8 => {
                text = encoding.decode_without_bom_handling(&body[n..]).0;
                text.as_bytes()
            }
            Some((_, n)) => &body[n..],
            None => body,
        };
        let mut parser = Parser::default();
        for line in body.split(|byte| matches!(byte, b'\r' | b'\n')) {
            if let Some((key, value)) = key_and_value(line) {
                parser.line(&key, value);
            }
        }
        parser.end_agents();
        parser.groups
    }
}

/// What is known while a robots.txt is read line by line.
#[derive(Default)]
struct Parser {
    groups: Groups,
    /// Numbers of the agents by name.
    ids: FxHashMap<String, usize>,
    /// Agents of the current group.
    current: Vec<usize>,
    /// The same as one list. All rules of a group share it, so that memory does not grow with agents times rules.
    shared: Option<Rc<[usize]>>,
    /// Agents named since the last delay.
    named_since_delay: Vec<usize>,
    /// The last group that named each agent.
    last_named: FxHashMap<usize, usize>,
    n_group: usize,
    in_rules: bool,
    /// Records of the current group that are no rules, while its list of agents may go on.
    others: Vec<Directive>,
    after_delay: bool,
    has_agents: bool,
}

impl Parser {
    fn line(&mut self, key: &str, value: &[u8]) {
        match key {
            "user-agent" | "useragent" | "user agent" => self.user_agent(value),
            "allow" => self.rule(Rule::parse(true, value)),
            "disallow" | "dissallow" | "dissalow" | "disalow" | "diasllow" | "disallaw" => {
                self.rule(Rule::parse(false, value));
            }
            "crawl-delay" | "crawldelay" | "crawl delay" => self.delay(value),
            "sitemap" | "site-map" | "site map" => self.sitemap(value),
            "content-signal" => self.other(Directive::Usage(UsageRule::parse(Form::ContentSignal, value))),
            "content-usage" => self.other(Directive::Usage(UsageRule::parse(Form::ContentUsage, value))),
            "license" => self.licence(value),
            _ => {}
        }
    }

    fn user_agent(&mut self, value: &[u8]) {
        self.has_agents = true;
        if std::mem::replace(&mut self.after_delay, false) || self.in_rules {
            self.named_since_delay.clear();
        }
        if std::mem::replace(&mut self.in_rules, false) {
            self.current.clear();
            self.n_group += 1;
        }
        self.shared = None;
        // A line without an agent name still begins a group. That group applies to no agent.
        let Some(name) = agent_name(value) else { return };
        let agents = &mut self.groups.agents;
        let id = *self.ids.entry(name).or_insert_with_key(|name| {
            agents.push(name.clone());
            agents.len() - 1
        });
        // A repeated agent in one group has no effect. Hostile files repeat agents many times.
        if self.last_named.insert(id, self.n_group) != Some(self.n_group) {
            self.current.push(id);
        }
        self.named_since_delay.push(id);
    }

    fn rule(&mut self, rule: Option<Rule>) {
        self.end_agents();
        self.in_rules = true;
        let Some(rule) = rule else { return };
        let Some(agents) = self.agents() else { return };
        if let Some(folder) = rule.folder_of_index() {
            self.groups.lines.push(Line { agents: agents.clone(), directive: Directive::Rule(folder) });
        }
        self.groups.lines.push(Line { agents, directive: Directive::Rule(rule) });
    }

    /// The agents of the current group. Rules before the first group, which the RFC does not define, apply to all
    /// agents. Rules of a group without an agent apply to none.
    fn agents(&mut self) -> Option<Rc<[usize]>> {
        if self.groups.agents.is_empty() && !self.has_agents {
            self.ids.insert("*".to_owned(), 0);
            self.groups.agents.push("*".to_owned());
            self.current.push(0);
        }
        if self.current.is_empty() {
            return None;
        }
        let current = &self.current;
        Some(self.shared.get_or_insert_with(|| Rc::from(current.as_slice())).clone())
    }

    /// A record that is no rule of RFC 9309: it does not end a list of agents, so that no rule is lost to any of them,
    /// and it is for all of them.
    fn other(&mut self, directive: Directive) {
        self.others.push(directive);
        if self.in_rules || !self.has_agents {
            self.end_agents();
        }
    }

    /// The agents of the group are known.
    fn end_agents(&mut self) {
        if self.others.is_empty() {
            return;
        }
        let others = std::mem::take(&mut self.others);
        if let Some(agents) = self.agents() {
            let lines = others.into_iter().map(|directive| Line { agents: agents.clone(), directive });
            self.groups.lines.extend(lines);
        }
    }

    /// A licence before the first group holds for all.
    fn licence(&mut self, value: &[u8]) {
        let address = String::from_utf8_lossy(value).into_owned();
        if !self.has_agents && self.groups.licences.len() < MAX_LICENCES {
            self.groups.licences.push(address);
        } else if self.has_agents {
            self.other(Directive::Licence(address));
        }
    }

    /// Other records must not interfere with groups (RFC 9309, 2.2.4). A delay does not end a list of agents, and it
    /// applies only to agents named since the last delay.
    fn delay(&mut self, value: &[u8]) {
        let is_first = !std::mem::replace(&mut self.after_delay, true);
        if let Some(delay) = seconds(value).filter(|_| is_first && !self.named_since_delay.is_empty()) {
            let agents = Rc::from(self.named_since_delay.as_slice());
            self.groups.lines.push(Line { agents, directive: Directive::Delay(delay) });
        }
    }

    fn sitemap(&mut self, value: &[u8]) {
        if self.groups.sitemaps.len() < MAX_SITEMAPS && !value.is_empty() {
            self.groups.sitemaps.push(String::from_utf8_lossy(value).into_owned());
        }
    }
}

/// Key and value of a line, without comment and white space. A missing colon is accepted.
fn key_and_value(line: &[u8]) -> Option<(String, &[u8])> {
    let line = trim(line.split(|byte| *byte == b'#').next().unwrap_or_default());
    let at = line
        .iter()
        .position(|byte| *byte == b':')
        .or_else(|| line.iter().position(u8::is_ascii_whitespace).filter(|_| has_two_words(line)))?;
    let key = String::from_utf8_lossy(line[..at].trim_ascii()).to_ascii_lowercase();
    Some((key, trim(&line[at + 1..])))
}

/// Removes white space and NUL bytes at both ends.
fn trim(mut line: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    while let Some((_, rest)) = line.split_first().filter(|(first, _)| is_blank(first)) {
        line = rest;
    }
    while let Some((_, rest)) = line.split_last().filter(|(last, _)| is_blank(last)) {
        line = rest;
    }
    line
}

fn has_two_words(line: &[u8]) -> bool {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() == 2
}

/// The product token of a `User-agent` line: up to the first character that a token cannot contain (2.2.1).
///
/// Digits and non-ASCII letters are accepted: the RFC's tokens have none, but real files name `2bot` and `Jävla-bot`.
fn agent_name(value: &[u8]) -> Option<String> {
    if value.first() == Some(&b'*') && value.get(1).is_none_or(u8::is_ascii_whitespace) {
        return Some("*".to_owned());
    }
    let text = String::from_utf8_lossy(value);
    // Some copy the whole line of a request, which begins with a browser's name.
    let token = product_token(&text).unwrap_or_else(|| token_of(&text));
    (!token.is_empty()).then(|| token.to_lowercase())
}

fn seconds(value: &[u8]) -> Option<Duration> {
    // Half of the world writes 1,5.
    let seconds: f64 = std::str::from_utf8(value).ok()?.replace(',', ".").parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
