//! What the values of headers and rules say.

use sfv::{BareItem, Dictionary, ListEntry, Parser};

use super::{Use, Verdict};

/// The uses that a `Content-Usage` value names (draft-ietf-aipref-vocab-08, 6.5). What is no dictionary of structured
/// fields says nothing, and so does a value that is neither the token `y` nor `n`.
pub fn content_usage(value: &str) -> Vec<(Use, Verdict)> {
    let Ok(dictionary) = Parser::new(value).parse::<Dictionary>() else { return Vec::new() };
    let verdict = |label: &str| match dictionary.get(label) {
        Some(ListEntry::Item(item)) => match &item.bare_item {
            BareItem::Token(token) if token.as_str() == "y" => Some(Verdict::Allow),
            BareItem::Token(token) if token.as_str() == "n" => Some(Verdict::Deny),
            _ => None,
        },
        _ => None,
    };
    let labels = [(Use::Search, "search"), (Use::Input, "ai-use"), (Use::Train, "train-ai")];
    labels.into_iter().filter_map(|(of, label)| Some((of, verdict(label)?))).collect()
}

/// The uses that a `Content-Signal` value names: `search=yes, ai-train=no`. Of a signal that is there twice with
/// different values, `no` counts.
pub fn content_signal(value: &str) -> Vec<(Use, Verdict)> {
    let mut uses: Vec<(Use, Verdict)> = Vec::new();
    for signal in value.split([',', ';']) {
        let Some((name, value)) = signal.split_once('=') else { continue };
        let of = match name.trim().to_ascii_lowercase().as_str() {
            "search" => Use::Search,
            "ai-input" => Use::Input,
            "ai-train" => Use::Train,
            _ => continue,
        };
        let verdict = match value.trim().to_ascii_lowercase().as_str() {
            "yes" => Verdict::Allow,
            "no" => Verdict::Deny,
            _ => continue,
        };
        match uses.iter_mut().find(|(one, _)| *one == of) {
            Some((_, known)) if verdict == Verdict::Deny => *known = verdict,
            Some(_) => {}
            None => uses.push((of, verdict)),
        }
    }
    uses
}

/// The uses that a `tdm-reservation` value decides: those by which text is analysed to make something new (Directive
/// (EU) 2019/790, article 2). Search is not one of them.
pub fn tdm_reservation(value: &str) -> Vec<(Use, Verdict)> {
    let verdict = match value.trim() {
        "1" => Verdict::Deny,
        "0" => Verdict::Allow,
        _ => return Vec::new(),
    };
    vec![(Use::Input, verdict), (Use::Train, verdict)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [(Use, Verdict); 0] = [];

    #[test]
    fn content_usage_as_the_draft_has_it() {
        use Verdict::{Allow, Deny};
        assert_eq!(content_usage("train-ai=y, search=n"), [(Use::Search, Deny), (Use::Train, Allow)]);
        assert_eq!(content_usage("train-ai=n"), [(Use::Train, Deny)]);
        assert_eq!(content_usage("ai-use=n;x=1, future=\"?\""), [(Use::Input, Deny)]);
        // The last value of a key counts, parameters do not.
        assert_eq!(content_usage("train-ai;allow=n, train-ai=y"), [(Use::Train, Allow)]);
        for unknown in [
            "train-ai=y, train-ai, search=n, search=\"n\"",
            "train-ai;has;parameters=\"?\"",
            "train-ai",
            "Train-AI=n",
            "train-ai=N",
            "train-ai=no",
            "train-ai=n,,",
            "train-ai=(n)",
            "",
            "\u{e9}",
        ] {
            assert_eq!(content_usage(unknown), NONE, "{unknown}");
        }
    }

    #[test]
    fn signals_are_read_leniently_and_no_counts() {
        use Verdict::{Allow, Deny};
        let all = content_signal("ai-train=no, search=yes, ai-input=yes");
        assert_eq!(all, [(Use::Train, Deny), (Use::Search, Allow), (Use::Input, Allow)]);
        assert_eq!(content_signal("Search = YES;AI-Train=No"), [(Use::Search, Allow), (Use::Train, Deny)]);
        assert_eq!(content_signal("ai-train=no, ai-train=yes"), [(Use::Train, Deny)]);
        assert_eq!(content_signal("ai-train=yes, ai-train=no"), [(Use::Train, Deny)]);
        for unknown in ["", "ai_train=no", "ai-train", "ai-train=maybe", "=no", "no"] {
            assert_eq!(content_signal(unknown), NONE, "{unknown}");
        }
    }

    #[test]
    fn a_reservation_is_one_or_zero() {
        assert_eq!(tdm_reservation(" 1 "), [(Use::Input, Verdict::Deny), (Use::Train, Verdict::Deny)]);
        assert_eq!(tdm_reservation("0"), [(Use::Input, Verdict::Allow), (Use::Train, Verdict::Allow)]);
        for unknown in ["", "2", "true", "1, 0"] {
            assert_eq!(tdm_reservation(unknown), NONE, "{unknown}");
        }
    }
}
