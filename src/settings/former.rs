//! Keys and values of earlier versions. They are accepted with a warning that gives the current name.

/// Former key, current key.
const KEYS: [(&str, &str); 13] = [
    ("crawl.keep_template", "template.min_freshness"),
    ("crawl.relearn", "template.relearn"),
    ("witness.threshold", "site_model.threshold"),
    ("witness.max_nodes", "site_model.max_nodes"),
    ("witness.max_children", "site_model.max_children"),
    ("witness.max_pairs", "site_model.max_pairs"),
    ("witness.max_names", "site_model.max_names"),
    ("witness.further", "site_model.extra_pages"),
    ("etdm.t", "etdm.min_votes"),
    ("apply.min", "etdm.min_confidence"),
    ("clean.doubt", "clean.min_confidence"),
    ("tps.least_region", "tps.min_region"),
    ("page.tokenizer", "page.parser"),
];

/// Key, former value, current value.
const VALUES: [(&str, &str, &str); 2] =
    [("label.by", "witness", "site_model"), ("clean.alone", "density", "page_model")];

/// The current name of a key, if this one is a former name.
pub(super) fn current_key(key: &str) -> Option<&'static str> {
    KEYS.iter().find(|(former, _)| *former == key).map(|(_, current)| *current)
}

/// The current value of a key, if this one is a former value.
pub(super) fn current_value(key: &str, value: &str) -> Option<&'static str> {
    VALUES.iter().find(|(of, former, _)| *of == key && *former == value).map(|(_, _, current)| *current)
}

/// Whether a table has only former keys.
pub(super) fn is_former_section(name: &str) -> bool {
    KEYS.iter().any(|(former, _)| former.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

#[cfg(test)]
mod tests {
    use super::super::keys::KEYS as CURRENT;
    use super::*;

    #[test]
    fn former_keys_lead_to_current_ones() {
        for (former, current) in KEYS {
            assert!(CURRENT.iter().all(|key| key.name != former), "{former} is a key");
            assert!(CURRENT.iter().any(|key| key.name == current), "{current} is no key");
        }
        assert_eq!(current_key("clean.doubt"), Some("clean.min_confidence"));
        assert_eq!(current_value("label.by", "witness"), Some("site_model"));
    }
}
