//! Function words of large languages: those that a related language does not have.

/// Share of the words of a text that function words make up at least.
const LEAST_SHARE: f64 = 0.06;

/// Words of a text that are looked at.
const MOST_WORDS: usize = 600;

#[rustfmt::skip]
const WORDS: [(&str, &[&str]); 12] = [
    ("en", &["the", "of", "and", "to", "is", "was", "that", "for", "with", "you"]),
    ("de", &["der", "die", "und", "das", "ist", "nicht", "ein", "eine", "mit", "zu", "auf"]),
    ("fr", &["le", "les", "des", "est", "et", "une", "dans", "que", "pour", "qui"]),
    ("es", &["el", "los", "las", "y", "una", "con", "por", "para", "del", "es"]),
    ("pt", &["não", "em", "uma", "um", "são", "com", "os", "ao", "pela", "também"]),
    ("it", &["il", "di", "che", "della", "è", "una", "per", "gli", "sono", "nel"]),
    ("nl", &["het", "een", "van", "ik", "niet", "zijn", "voor", "aan", "ook", "naar"]),
    ("ru", &["и", "в", "не", "что", "с", "по", "это", "как", "из", "для"]),
    ("pl", &["w", "i", "na", "się", "z", "nie", "jest", "że", "do", "oraz"]),
    ("sv", &["och", "att", "det", "som", "en", "på", "är", "av", "för", "inte"]),
    ("tr", &["ve", "bir", "bu", "için", "ile", "da", "de", "olarak", "daha", "gibi"]),
    ("ar", &["في", "من", "على", "إلى", "أن", "التي", "هذا", "عن", "مع", "ما"]),
];

/// Whether a text has the function words of a language as often as texts in it do. A language without a list has none.
pub(super) fn has_function_words(text: &str, code: &str) -> bool {
    let Some((_, list)) = WORDS.iter().find(|(language, _)| *language == code) else { return false };
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS)
        .map(str::to_lowercase)
        .collect();
    let n = words.iter().filter(|word| list.contains(&word.as_str())).count();
    n as f64 >= LEAST_SHARE * words.len().max(1) as f64 && n > 0
}

#[cfg(test)]
mod tests {
    use super::has_function_words;

    #[test]
    fn a_related_language_has_other_words() {
        assert!(has_function_words("Het roggebrood is een van de oudste broden van Nederland", "nl"));
        assert!(!has_function_words("D'Kar ass eng Planz, déi an de kale Géigende wiisst", "nl"));
        assert!(!has_function_words("", "en"));
        assert!(!has_function_words("the of and", "xx"));
    }
}
