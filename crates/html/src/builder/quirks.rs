//! Whether a document type means quirks mode (WHATWG HTML, 13.2.6.4.1), in which a table does not close a paragraph.

use super::Doctype;

/// Public identifiers of documents of quirks.
const PUBLIC: &[&str] = &["-//w3o//dtd w3 html strict 3.0//en//", "-/w3c/dtd html 4.0 transitional/en", "html"];

/// Beginnings of their public identifiers, up to `//dtd `: who wrote them, and what.
const PUBLIC_BEGINNINGS: &[(&str, &[&str])] = &[
    ("+//silmaril//", &["html pro v0r11 19970101//"]),
    ("-//as//", &["html 3.0 aswedit + extensions//"]),
    ("-//advasoft ltd//", &["html 3.0 aswedit + extensions//"]),
    (
        "-//ietf//",
        &[
            "html 2.0 level 1//",
            "html 2.0 level 2//",
            "html 2.0 strict level 1//",
            "html 2.0 strict level 2//",
            "html 2.0 strict//",
            "html 2.0//",
            "html 2.1e//",
            "html 3.0//",
            "html 3.2 final//",
            "html 3.2//",
            "html 3//",
            "html level 0//",
            "html level 1//",
            "html level 2//",
            "html level 3//",
            "html strict level 0//",
            "html strict level 1//",
            "html strict level 2//",
            "html strict level 3//",
            "html strict//",
            "html//",
        ],
    ),
    ("-//metrius//", &["metrius presentational//"]),
    (
        "-//microsoft//",
        &[
            "internet explorer 2.0 html strict//",
            "internet explorer 2.0 html//",
            "internet explorer 2.0 tables//",
            "internet explorer 3.0 html strict//",
            "internet explorer 3.0 html//",
            "internet explorer 3.0 tables//",
        ],
    ),
    ("-//netscape comm. corp.//", &["html//", "strict html//"]),
    ("-//o'reilly and associates//", &["html 2.0//", "html extended 1.0//", "html extended relaxed 1.0//"]),
    ("-//sq//", &["html 2.0 hotmetal + extensions//"]),
    ("-//softquad software//", &["hotmetal pro 6.0::19990601::extensions to html 4.0//"]),
    ("-//softquad//", &["hotmetal pro 4.0::19971010::extensions to html 4.0//"]),
    ("-//spyglass//", &["html 2.0 extended//"]),
    ("-//sun microsystems corp.//", &["hotjava html//", "hotjava strict html//"]),
    (
        "-//w3c//",
        &[
            "html 3 1995-03-24//",
            "html 3.2 draft//",
            "html 3.2 final//",
            "html 3.2//",
            "html 3.2s draft//",
            "html 4.0 frameset//",
            "html 4.0 transitional//",
            "html experimental 19960712//",
            "html experimental 970421//",
            "w3 html//",
        ],
    ),
    ("-//w3o//", &["w3 html 3.0//"]),
    ("-//webtechs//", &["mozilla html 2.0//", "mozilla html//"]),
];

/// Beginnings that mean quirks without a system identifier.
const WITHOUT_SYSTEM: &[&str] = &["-//w3c//dtd html 4.01 frameset//", "-//w3c//dtd html 4.01 transitional//"];

const SYSTEM: &str = "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd";

/// Whether the pages of this document type are parsed in quirks mode.
pub(super) fn is_quirky(doctype: &Doctype) -> bool {
    let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_ascii_lowercase());
    let (public, system) = (lower(&doctype.public_id), lower(&doctype.system_id));
    if doctype.force_quirks || doctype.name.as_deref() != Some("html") || system.as_deref() == Some(SYSTEM) {
        return true;
    }
    let Some(public) = public else { return false };
    let begins = |writer: &str, what: &str| {
        let rest = public.strip_prefix(writer).and_then(|rest| rest.strip_prefix("dtd "));
        rest.is_some_and(|rest| rest.starts_with(what))
    };
    PUBLIC.contains(&public.as_str())
        || PUBLIC_BEGINNINGS.iter().any(|(writer, all)| all.iter().any(|what| begins(writer, what)))
        || (system.is_none() && WITHOUT_SYSTEM.iter().any(|begin| public.starts_with(begin)))
}
