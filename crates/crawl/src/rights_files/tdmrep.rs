//! `/.well-known/tdmrep.json` (TDM Reservation Protocol, W3C Community Group Report, 2024): an array of rules, each
//! with `location`, `tdm-reservation` and perhaps `tdm-policy`.

use serde_json::Value;

use crate::robots::{PathPattern, path_and_query};
use dehusk_core::rights::{Form, Place, Statement, tdm_reservation};
use dehusk_html::PageUrl;

/// Rules that are kept.
const MAX_RULES: usize = 1000;

/// The pages of a location, and what is said about them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TdmRule {
    location: PathPattern,
    reservation: String,
    policy: Option<String>,
}

/// The rules of a file; `None` where it is no array.
pub(super) fn read(text: &str) -> Option<Vec<TdmRule>> {
    let Ok(Value::Array(rules)) = serde_json::from_str(text.trim_start_matches('\u{feff}')) else { return None };
    let rule = |rule: &Value| {
        let reservation = match rule.get("tdm-reservation")? {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.clone(),
            _ => return None,
        };
        let location = PathPattern::new(rule.get("location")?.as_str()?)?;
        let policy = rule.get("tdm-policy").and_then(Value::as_str).map(str::to_owned);
        Some(TdmRule { location, reservation, policy })
    };
    Some(rules.iter().filter_map(rule).take(MAX_RULES).collect())
}

/// What the first rule whose location matches says.
pub(super) fn statement(rules: &[TdmRule], url: &PageUrl) -> Option<Statement> {
    let path = path_and_query(url);
    let rule = rules.iter().find(|rule| rule.location.matches(&path))?;
    let policy = rule.policy.as_ref().map(|policy| format!(", policy {policy}")).unwrap_or_default();
    let words = format!("{} {}{policy}", rule.location.text(), rule.reservation);
    Some(Statement::new(Form::Tdmrep, Place::File, words, tdm_reservation(&rule.reservation)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_core::rights::{Use, Verdict};

    fn train(text: &str, path: &str) -> Option<Verdict> {
        let url = PageUrl::parse(&format!("http://s.com{path}")).unwrap();
        let statement = statement(&read(text)?, &url)?;
        statement.uses.iter().find(|(of, _)| *of == Use::Train).map(|(_, verdict)| *verdict)
    }

    #[test]
    fn the_first_location_that_matches_counts() {
        let rules = r#"[{"location": "/open/", "tdm-reservation": 0},
            {"location": "/*.pdf$", "tdm-reservation": "1"},
            {"location": "/", "tdm-reservation": 1, "tdm-policy": "https://s.com/policy.json"}]"#;
        assert_eq!(train(rules, "/open/a.pdf"), Some(Verdict::Allow));
        assert_eq!(train(rules, "/a.pdf"), Some(Verdict::Deny));
        assert_eq!(train(rules, "/a"), Some(Verdict::Deny));
        let url = PageUrl::parse("http://s.com/a").unwrap();
        assert_eq!(statement(&read(rules).unwrap(), &url).unwrap().words, "/ 1, policy https://s.com/policy.json");
    }

    #[test]
    fn what_is_malformed_says_nothing() {
        for text in [
            "",
            "<html>",
            "{}",
            "[1, null, []]",
            r#"[{"location": "/"}]"#,
            r#"[{"tdm-reservation": 1}]"#,
            r#"[{"location": 1, "tdm-reservation": 1}]"#,
            r#"[{"location": "/", "tdm-reservation": true}]"#,
            r#"[{"location": "/", "tdm-reservation": 2}]"#,
            r#"[{"location": "", "tdm-reservation": 1}]"#,
        ] {
            assert_eq!(train(text, "/a"), None, "{text}");
        }
    }
}
