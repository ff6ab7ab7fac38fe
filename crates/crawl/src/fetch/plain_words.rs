//! Errors of libraries in words that a reader of the summary knows.

/// An error of the TLS library in words that a reader of the summary knows.
pub(super) fn in_plain_words(reason: String) -> String {
    let Some((_, kind)) = reason.split_once("invalid peer certificate: ") else { return reason };
    let explanations = [
        ("UnknownIssuer", "no known authority has signed it"),
        ("NotValidForName", "it is for another name"),
        ("Expired", "it has expired"),
        ("NotValidYet", "it is not valid yet"),
        ("CaUsedAsEndEntity", "it is that of an authority, not of a server"),
        ("Revoked", "it was revoked"),
    ];
    let known = explanations.iter().find(|(name, _)| kind.contains(name)).map(|(_, words)| *words);
    format!("the server's certificate is refused: {}", known.unwrap_or(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_tls_library_are_translated() {
        let explained = |reason: &str| in_plain_words(reason.to_owned());
        let raw = "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))";
        assert_eq!(explained(raw), "the server's certificate is refused: it is that of an authority, not of a server");
        assert_eq!(
            explained("invalid peer certificate: BadEncoding"),
            "the server's certificate is refused: BadEncoding"
        );
        assert_eq!(explained("connection reset"), "connection reset");
    }
}
