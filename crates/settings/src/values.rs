//! Parses values of settings. An error says what was expected.

use std::time::Duration;

use dehusk_core::clean::KeepText;
use dehusk_html::PageUrl;
use toml::Value;

use crate::Network;

/// Parses text as a TOML value. Text that is not TOML is a string.
pub(super) fn literal(text: &str) -> Value {
    format!("v = {text}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|mut t| t.remove("v"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

pub(super) fn one_of<T: Copy>(value: &Value, choices: &[(&str, T)]) -> Result<T, String> {
    let found = value.as_str().and_then(|s| choices.iter().find(|(name, _)| *name == s));
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// `own`, `main`, or `main` with kinds of the rest: `main+comments`.
pub(super) fn keep_text(value: &Value) -> Result<KeepText, String> {
    value.as_str().unwrap_or_default().parse()
}

pub(super) fn truth(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "expected true or false".to_owned())
}

pub(super) fn text(value: &Value) -> Result<String, String> {
    match value.as_str() {
        Some(s) if !s.trim().is_empty() => Ok(s.to_owned()),
        _ => Err("expected a text that is not empty".to_owned()),
    }
}

/// A text that may be empty.
pub(super) fn any_text(value: &Value) -> Result<String, String> {
    Ok(value.as_str().ok_or("expected a text")?.trim().to_owned())
}

/// A text of one line, which may be empty.
pub(super) fn one_line(value: &Value) -> Result<String, String> {
    let line = any_text(value)?;
    if line.chars().any(char::is_control) { Err("expected a text of one line".to_owned()) } else { Ok(line) }
}

/// An address of http or https, or none.
pub(super) fn web_address(value: &Value) -> Result<String, String> {
    let address = any_text(value)?;
    if address.is_empty() || PageUrl::parse(&address).is_ok() {
        Ok(address)
    } else {
        Err("expected an http or https URL, or an empty text".to_owned())
    }
}

/// Addresses of mail. A line break would begin another header.
pub(super) fn addresses(value: &Value) -> Result<Vec<String>, String> {
    let addresses = strings(value)?;
    let is_address =
        |text: &String| text.contains('@') && !text.chars().any(|c| c.is_control() || c.is_whitespace() || c == ',');
    match addresses.iter().find(|address| !is_address(address)) {
        Some(wrong) => Err(format!("expected addresses of mail, such as me@my.org; {wrong:?} is none")),
        None => Ok(addresses),
    }
}

/// One address of mail, or none.
pub(super) fn sender(value: &Value) -> Result<String, String> {
    if any_text(value)?.is_empty() { Ok(String::new()) } else { addresses(value).map(|found| found.concat()) }
}

pub(super) fn smtp_address(value: &Value) -> Result<String, String> {
    let address = any_text(value)?;
    if address.is_empty() || address.starts_with("smtp://") || address.starts_with("smtps://") {
        Ok(address)
    } else {
        Err("expected a URL such as smtps://user:password@mail.my.org, or an empty text".to_owned())
    }
}

pub(super) fn user_agent(value: &Value) -> Result<String, String> {
    let agent = text(value)?;
    if agent.bytes().any(|b| !(0x20..0x7f).contains(&b)) {
        return Err("expected printable ASCII".to_owned());
    }
    Ok(agent)
}

pub(super) fn strings(value: &Value) -> Result<Vec<String>, String> {
    let wrong = || "expected a list of texts".to_owned();
    match value {
        Value::String(one) => Ok(vec![one.clone()]),
        Value::Array(many) => many.iter().map(|v| v.as_str().map(str::to_owned).ok_or_else(wrong)).collect(),
        _ => Err(wrong()),
    }
}

/// A list of some of these words.
pub(super) fn words_of(value: &Value, known: &[&str]) -> Result<Vec<String>, String> {
    let words = strings(value)?;
    match words.iter().find(|word| !known.contains(&word.as_str())) {
        Some(wrong) => Err(format!("expected words out of {}; {wrong:?} is none", known.join(", "))),
        None => Ok(words),
    }
}

/// Regular expressions that compile.
pub(super) fn patterns(value: &Value) -> Result<Vec<String>, String> {
    let patterns = strings(value)?;
    for pattern in &patterns {
        regex::Regex::new(pattern).map_err(|e| format!("expected regular expressions: {e}"))?;
    }
    Ok(patterns)
}

/// Host names, and regular expressions that compile.
pub(super) fn never(value: &Value) -> Result<Vec<String>, String> {
    let entries = strings(value)?;
    let expressions = entries.iter().filter(|entry| never_host(entry).is_none());
    patterns(&Value::Array(expressions.map(|entry| Value::String(entry.clone())).collect()))?;
    Ok(entries)
}

/// The host that an entry of `crawl.never` names; `None` where it is a regular expression.
pub fn never_host(entry: &str) -> Option<String> {
    let is_host = entry.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_')) && !entry.is_empty();
    let url = is_host.then(|| PageUrl::parse(&format!("http://{entry}/")).ok()).flatten()?;
    Some(url.host().to_owned())
}

/// Names of hosts in a `[[site]]` table: of one with its subdomains, of its subdomains only, or of all.
pub(super) fn host_names(value: Option<&Value>) -> Result<Vec<String>, String> {
    let wrong = || "expected names of hosts, such as \"example.org\" or \"*.example.org\"".to_owned();
    let name = |given: &String| match given.strip_prefix("*.") {
        Some(parent) => Some(format!("*.{}", never_host(parent)?)),
        None if given == "*" => Some("*".to_owned()),
        None => never_host(given),
    };
    let given = strings(value.ok_or_else(wrong)?).map_err(|_| wrong())?;
    let names: Option<Vec<String>> = given.iter().map(name).collect();
    names.filter(|names| !names.is_empty()).ok_or_else(wrong)
}

pub(super) fn networks(value: &Value) -> Result<Vec<Network>, String> {
    let parse = |text: &String| Network::parse(text).ok_or_else(|| format!("`{text}`: expected ADDRESS/BITS"));
    strings(value)?.iter().map(parse).collect()
}

pub(super) fn headers(value: &Value) -> Result<Vec<(String, String)>, String> {
    let pair = |line: &String| {
        let (name, value) = line.split_once(':')?;
        let (name, value) = (name.trim(), value.trim());
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&b));
        let is_value = value.bytes().all(|b| b == b'\t' || (0x20..0x7f).contains(&b));
        (is_name && is_value).then(|| (name.to_owned(), value.to_owned()))
    };
    strings(value)?.iter().map(|line| pair(line).ok_or_else(|| format!("`{line}`: expected \"Name: value\""))).collect()
}

pub(super) fn whole(value: &Value, least: usize, most: usize) -> Result<usize, String> {
    value
        .as_integer()
        .and_then(|n| usize::try_from(n).ok())
        .filter(|n| (least..=most).contains(n))
        .ok_or_else(|| format!("expected a whole number from {least} to {most}"))
}

pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64)).filter(|x| x.is_finite())
}

pub(super) fn share(value: &Value) -> Result<f64, String> {
    number(value).filter(|x| (0.0..=1.0).contains(x)).ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// A share, also as a fraction such as "1/3", which no decimal number is.
pub(super) fn fraction(value: &Value) -> Result<f64, String> {
    let parts = value.as_str().and_then(|text| text.split_once('/'));
    let Some((above, below)) = parts else { return share(value) };
    let whole = |text: &str| text.trim().parse::<u32>().ok();
    let found = whole(above).zip(whole(below)).filter(|(above, below)| *below > 0 && above <= below);
    found
        .map(|(above, below)| f64::from(above) / f64::from(below))
        .ok_or_else(|| "expected a number from 0 to 1, or a fraction such as \"1/3\"".to_owned())
}

/// A number followed by one of `units`.
pub(super) fn measured(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (amount, unit) = text.split_at(at);
    let factor = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1;
    let amount: f64 = amount.trim().parse().ok()?;
    (amount.is_finite() && amount >= 0.0).then_some(amount * factor)
}

pub(super) fn duration(value: &Value) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];
    const YEAR: f64 = 366.0 * 86_400.0;
    number(value)
        .or_else(|| value.as_str().and_then(|s| measured(s, &UNITS)))
        .filter(|seconds| (0.0..=YEAR).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected seconds such as 0.5, or text such as \"500ms\", \"2m\", \"24h\"".to_owned())
}

pub(super) fn at_least(time: Duration, least: Duration) -> Result<Duration, String> {
    (time >= least).then_some(time).ok_or_else(|| format!("expected at least {} s", least.as_secs()))
}

pub(super) fn positive(time: Duration) -> Result<Duration, String> {
    (!time.is_zero()).then_some(time).ok_or_else(|| "expected more than 0".to_owned())
}

pub(super) fn at_most(time: Duration, most: Duration) -> Result<Duration, String> {
    (time <= most).then_some(time).ok_or_else(|| format!("expected at most {} s", most.as_secs()))
}

pub(super) fn bytes(value: &Value) -> Result<usize, String> {
    const UNITS: [(&str, f64); 6] =
        [("B", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("KiB", 1024.0), ("MiB", 1_048_576.0)];
    number(value)
        .or_else(|| value.as_str().and_then(|s| measured(s, &UNITS)))
        .filter(|n| (0.0..=1e12).contains(n))
        .map(|n| n as usize)
        .ok_or_else(|| "expected bytes such as 65536, or text such as \"10MB\"".to_owned())
}
