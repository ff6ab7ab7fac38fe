//! Which hosts of a crawl are read: those of `--sites`, or those that `--where` asks for.

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::anyhow;
use regex::Regex;

use super::{Address, is_common_crawl};
use crate::cli::Failure;
use dehusk_crawl::seeds::Seeds;

/// The sources, with a crawl of which hosts are named replaced by these. Hosts are named by a file of hosts or
/// addresses, or by a filter that only rows of certain hosts pass.
pub(in crate::cli) fn named_hosts(
    sources: &[String],
    sites: Option<&Path>,
    filter: Option<&str>,
) -> Result<Vec<String>, Failure> {
    let is_whole = |source: &String| Address::parse(Path::new(source)).is_some_and(|address| address.host.is_none());
    if !sources.iter().any(is_whole) {
        return match sites {
            Some(_) => {
                Err(Failure::Usage(anyhow!("--sites names hosts of a crawl: give one, such as cc:CC-MAIN-2026-40")))
            }
            None => Ok(sources.to_vec()),
        };
    }
    let hosts = match sites {
        Some(file) => Some(hosts_of(file)?),
        None => filter.and_then(hosts_of_filter),
    };
    let Some(hosts) = hosts else { return Ok(sources.to_vec()) };
    let of_hosts = |source: &String| -> Vec<String> {
        if is_common_crawl(source) && is_whole(source) {
            hosts.iter().map(|host| format!("{}/{host}", source.trim_end_matches('/'))).collect()
        } else {
            vec![source.clone()]
        }
    };
    Ok(sources.iter().flat_map(of_hosts).collect())
}

/// The hosts of a list of seeds, each once.
pub(in crate::cli) fn hosts_of(file: &Path) -> Result<Vec<String>, Failure> {
    let mut seeds = Seeds::default();
    seeds.add(&file.to_string_lossy()).map_err(|e| Failure::Usage(e.into()))?;
    let mut known = HashSet::new();
    let hosts = seeds.into_seeds().map(|seed| seed.url.authority()).filter(|host| known.insert(host.clone()));
    let hosts: Vec<String> = hosts.collect();
    if hosts.is_empty() {
        return Err(Failure::Usage(anyhow!("{}: no hosts", file.display())));
    }
    Ok(hosts)
}

/// The hosts that rows must have to pass a filter: `host = 'a.org'` or `host IN ('a.org', 'b.org')`, alone or joined to
/// other conditions by AND.
fn hosts_of_filter(filter: &str) -> Option<Vec<String>> {
    static CONDITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let name = r"'[^'\s]+'";
        Regex::new(&format!(r"(?i)^\s*host\s*(?:==?\s*({name})|in\s*\(\s*({name}(?:\s*,\s*{name})*)\s*\))\s*$")).ok()
    });
    let condition = CONDITION.as_ref()?;
    let found = conditions(filter)?.into_iter().find_map(|part| condition.captures(part))?;
    let names = found.get(1).or_else(|| found.get(2))?.as_str();
    Some(names.split(',').map(|name| name.trim().trim_matches('\'').to_owned()).collect())
}

/// The conditions that an expression joins by AND; `None` for one that may join them otherwise.
fn conditions(filter: &str) -> Option<Vec<&str>> {
    let (mut depth, mut is_quoted, mut begin) = (0_i32, false, 0);
    let mut found = Vec::new();
    let is_word = |at: usize, word: &str| {
        let end = at + word.len();
        let bounds = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        filter.get(at..end).is_some_and(|text| text.eq_ignore_ascii_case(word))
            && bounds(at.checked_sub(1).and_then(|before| filter.as_bytes().get(before)))
            && bounds(filter.as_bytes().get(end))
    };
    for (at, byte) in filter.bytes().enumerate() {
        match byte {
            b'\'' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ if depth > 0 => {}
            _ if ["or", "between", "case"].iter().any(|word| is_word(at, word)) => return None,
            _ if is_word(at, "and") => {
                found.push(&filter[begin..at]);
                begin = at + "and".len();
            }
            _ => {}
        }
    }
    found.push(&filter[begin..]);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_hosts_where_only_their_rows_can_pass() {
        let hosts = |filter: &str| hosts_of_filter(filter).map(|hosts| hosts.join(" ")).unwrap_or_default();
        assert_eq!(hosts("host = 'a.org'"), "a.org");
        assert_eq!(hosts("n_words > 3 AND host IN ('a.org', 'b.org') and language = 'en'"), "a.org b.org");
        assert_eq!(hosts("(n_words > 3 or language = 'en') and host == 'a.org'"), "a.org");
        for other in [
            "host = 'a.org' or n_words > 3",
            "host != 'a.org'",
            "not host = 'a.org'",
            "host like 'a%'",
            "title = 'x and host = ''a.org'''",
            "host in (select 'a.org')",
            "the_host = 'a.org'",
            "n_words between 3 and 9 and host = 'a.org'",
            "host = 'a.org' = 0",
            "",
        ] {
            assert_eq!(hosts(other), "", "{other}");
        }
    }

    #[test]
    fn hosts_take_the_place_of_a_crawl() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("hosts.txt");
        std::fs::write(&file, "a.org\n# b.org\nhttps://c.org/x\nhttp://a.org/\n").unwrap();
        let sources = ["x.warc".to_owned(), "cc:CC-1".to_owned(), "cc:CC-2/d.org".to_owned()];
        let named = |sites, filter| named_hosts(&sources, sites, filter).unwrap_or_default().join(" ");
        assert_eq!(named(Some(file.as_path()), None), "x.warc cc:CC-1/a.org cc:CC-1/c.org cc:CC-2/d.org");
        assert_eq!(named(None, Some("host = 'b.org'")), "x.warc cc:CC-1/b.org cc:CC-2/d.org");
        assert_eq!(named(None, None), "x.warc cc:CC-1 cc:CC-2/d.org");
        assert!(named_hosts(&sources[..1], Some(&file), None).is_err());
    }
}
