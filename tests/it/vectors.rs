//! robots.txt and URL cases that others recorded, where they lie beside the project or where a variable names a file.

use std::path::PathBuf;

use dehusk_crawl::robots::Robots;
use dehusk_html::PageUrl;
use serde_json::Value;

use crate::corpus;
use crate::skipped::skipped;

/// The file of the variable, or the usual one; `None` when it is not there.
fn cases(variable: &str, usual: &str) -> Option<Vec<Value>> {
    let path = std::env::var_os(variable).map_or_else(|| corpus::shared(usual), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(&path) else {
        assert!(std::env::var_os(variable).is_none(), "{variable}: {} cannot be read", path.display());
        skipped(&format!("{} is not there", path.display()));
        return None;
    };
    let file: Value = serde_json::from_str(&text).unwrap();
    Some(file["cases"].as_array().unwrap().clone())
}

fn robots_agree(case: &Value) -> Result<(), String> {
    let text = match case["robots_b64"].as_str() {
        Some(encoded) => base64(encoded),
        None => case["robots"].as_str().unwrap_or_default().as_bytes().to_vec(),
    };
    let agents: Vec<String> =
        case["agents"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    let robots = Robots::parse(&text, &agents);
    let expected = &case["expected"];
    let got = match case["kind"].as_str() {
        Some("crawl_delay") => robots.delay().map_or(Value::Null, |delay| delay.as_secs_f64().into()),
        Some("sitemaps") => robots.sitemaps().iter().map(String::as_str).collect::<Vec<_>>().into(),
        _ => {
            let url = case["url"].as_str().unwrap_or_default();
            let base = PageUrl::parse("http://example.org/").unwrap();
            let url = base.join(url).ok_or_else(|| format!("{url:?} is no URL"))?;
            robots.allows(&url).into()
        }
    };
    let same = match (&got, expected) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            let (mut a, mut b) = (a.clone(), b.clone());
            a.sort_by_key(ToString::to_string);
            b.sort_by_key(ToString::to_string);
            a == b
        }
        _ => got == *expected,
    };
    if same { Ok(()) } else { Err(format!("expected {expected}, got {got}")) }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut n) = (Vec::new(), 0_u32, 0);
    for digit in text.bytes().filter_map(|byte| DIGITS.iter().position(|d| *d == byte)) {
        bits = bits << 6 | digit as u32;
        n += 6;
        if n >= 8 {
            n -= 8;
            out.push((bits >> n) as u8);
        }
    }
    out
}

/// Counts a part of the cases and prints `passed N of M` with what was missed.
fn count(part: &str, cases: &[&Value], agree: fn(&Value) -> Result<(), String>) -> (usize, usize) {
    let mut passed = 0;
    for case in cases {
        match agree(case) {
            Ok(()) => passed += 1,
            Err(why) => {
                let name = case["id"].as_str().or(case["input"].as_str()).unwrap_or_default();
                let url: String = case["url"].as_str().unwrap_or_default().chars().take(60).collect();
                println!("  missed {name} {} {url}: {why}", case["test"].as_str().unwrap_or_default());
            }
        }
    }
    println!("{part}: passed {passed} of {}", cases.len());
    (passed, cases.len())
}

#[test]
fn robots_cases() {
    let Some(cases) = cases("DEHUSK_ROBOTS_CASES", "crawl/robots_cases.json") else { return };
    let is = |case: &Value, key: &str, value: bool| case[key].as_bool() == Some(value);
    let single = |case: &&Value| case["agents"].as_array().is_some_and(|agents| agents.len() <= 1);
    let of = |source: &str| {
        let source = source.to_owned();
        move |case: &&Value| case["source"].as_str() == Some(&source)
    };
    let all: Vec<&Value> = cases.iter().collect();
    let google: Vec<&Value> =
        cases.iter().filter(of("google-robotstxt")).filter(|c| !is(c, "google_only", true)).collect();
    let exact: Vec<&Value> = cases.iter().filter(of("crawler-commons")).filter(|c| is(c, "exact_ua", true)).collect();
    let rfc: Vec<&Value> = cases
        .iter()
        .filter(single)
        .filter(|case| !is(case, "google_only", true) && !is(case, "exact_ua", false))
        .collect();
    let (passed, n) = count("Google, RFC part", &google, robots_agree);
    // One case asks that the rule /foo/bar/%62%61%7A does not match /foo/bar/baz. RFC 9309, 2.2.2, has that very
    // example as a match, and so has crawler-commons. Another asks for a URL that was not encoded, which no client
    // sends.
    assert!(passed + 2 >= n);
    let (passed, n) = count("crawler-commons, exact", &exact, robots_agree);
    assert_eq!(passed, n);
    let (passed, n) = count("single agent, RFC 9309", &rfc, robots_agree);
    assert!(passed * 100 >= n * 98, "{passed} of {n}");
    count("all, other dialects too", &all, robots_agree);
}

fn url_agrees(case: &Value) -> Result<(), String> {
    let input = case["input"].as_str().unwrap_or_default();
    let base = case["base"].as_str().map(PageUrl::parse);
    let url = match &base {
        Some(Ok(base)) => base.join(input),
        _ => PageUrl::parse(input).ok(),
    };
    let is_canonical = case["kind"].as_str() == Some("normalise");
    let got = url.map(|url| if is_canonical { url.canonical_text() } else { url.to_string() });
    // A page's name has neither fragment nor user; what the suites expect is compared without.
    let expected = case["expected"].as_str().and_then(|expected| {
        if is_canonical { Some(expected.to_owned()) } else { PageUrl::parse(expected).ok().map(|url| url.to_string()) }
    });
    if got == expected { Ok(()) } else { Err(format!("expected {expected:?}, got {got:?}")) }
}

#[test]
fn url_cases() {
    let Some(cases) = cases("DEHUSK_URLNORM_CASES", "crawl/urlnorm_cases.json") else { return };
    let kind = |kind: &'static str| cases.iter().filter(move |case| case["kind"].as_str() == Some(kind));
    let normalise: Vec<&Value> = kind("normalise").collect();
    let is_http = |case: &&Value| {
        let starts = |key: &str| case[key].as_str().is_some_and(|text| text.trim_start().starts_with("http"));
        starts("expected") || (case["expected"].is_null() && (starts("input") || starts("base")))
    };
    let whatwg: Vec<&Value> = kind("whatwg_parse").filter(is_http).collect();
    let rest: Vec<&Value> =
        cases.iter().filter(|case| ["resolve", "invalid"].map(Some).contains(&case["kind"].as_str())).collect();
    let (passed, n) = count("crawler-commons, normalise", &normalise, url_agrees);
    assert!(passed * 10 >= n * 9, "{passed} of {n}");
    let (passed, n) = count("WHATWG, http(s)", &whatwg, url_agrees);
    let slashes = whatwg
        .iter()
        .filter(|case| url_agrees(case).is_err())
        .filter(|case| case["input"].as_str().is_some_and(|i| i.contains("//")));
    assert_eq!(passed + slashes.count(), n);
    let (passed, n) = count("crawler-commons, resolve and invalid", &rest, url_agrees);
    assert_eq!(passed, n);
}
