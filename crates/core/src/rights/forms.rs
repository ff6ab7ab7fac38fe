//! The forms in which owners speak: one table, from which docs/rights.md derives.

use serde::{Deserialize, Serialize};

/// A form in which owners say what their pages may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `Content-Signal`.
    ContentSignal,
    /// `Content-Usage`.
    ContentUsage,
    /// TDM Reservation Protocol.
    Tdmrep,
    /// `X-Robots-Tag`, and `meta` elements for robots.
    RobotsTag,
    /// `ai.txt`.
    AiTxt,
    /// Really Simple Licensing.
    Rsl,
    /// Creative Commons.
    CreativeCommons,
}

impl Form {
    /// Its name.
    pub fn name(self) -> &'static str {
        FORMS.iter().find(|about| about.form == self).map_or("", |about| about.name)
    }
}

/// What there is to know about a form.
#[derive(Clone, Copy, Debug)]
pub struct FormAbout {
    /// The form.
    pub form: Form,
    /// Its name.
    pub name: &'static str,
    /// Where it is written.
    pub places: &'static str,
    /// The text that it is read by.
    pub source: &'static str,
    /// Day of that text.
    pub date: &'static str,
    /// What follows from it.
    pub effect: &'static str,
}

/// All forms.
#[rustfmt::skip]
pub const FORMS: [FormAbout; 7] = [
    FormAbout {
        form: Form::ContentSignal,
        name: "content-signal",
        places: "robots.txt (`Content-Signal`), header",
        source: "contentsignals.org; draft-romm-aipref-contentsignals-00",
        date: "2025-10-01",
        effect: "`search`, `ai-input`, `ai-train`: `yes` allows, `no` denies. A path before the signals limits them to it; \
                 the longest match counts",
    },
    FormAbout {
        form: Form::ContentUsage,
        name: "content-usage",
        places: "robots.txt (`Content-Usage`), header",
        source: "draft-ietf-aipref-vocab-08, draft-ietf-aipref-attach-04",
        date: "2026-09-14",
        effect: "`search`, `ai-use` (input), `train-ai`: `y` allows, `n` denies, all else is unknown. In robots.txt the \
                 longest matching path counts; a rule without a path, as the first drafts had it, is one for `/`",
    },
    FormAbout {
        form: Form::Tdmrep,
        name: "tdmrep",
        places: "`/.well-known/tdmrep.json`, header, `meta` (`tdm-reservation`, `tdm-policy`)",
        source: "TDM Reservation Protocol, W3C Community Group Report",
        date: "2024-05-10",
        effect: "1 denies input and training, 0 allows them. The policy is kept as words and not followed. In the file the \
                 first matching `location` counts; headers override the file, and the page overrides both",
    },
    FormAbout {
        form: Form::RobotsTag,
        name: "robots-tag",
        places: "header `X-Robots-Tag`, `meta` for `robots` and for our agents",
        source: "Google's, Bing's and DeviantArt's documentation",
        date: "2026-09-01",
        effect: "`noai` denies input and training. `noarchive` denies archives, and as Bing reads it input and training. \
                 `nosnippet` and `max-snippet:0` deny input. `noindex` and `none` deny search. `noimageai` concerns \
                 pictures: it is kept as words",
    },
    FormAbout {
        form: Form::AiTxt,
        name: "ai-txt",
        places: "`/ai.txt`",
        source: "Spawning's ai.txt",
        date: "2023-05-30",
        effect: "`Allow` and `Disallow` as in robots.txt, for training. The end of a path counts as `.html` where it has none",
    },
    FormAbout {
        form: Form::Rsl,
        name: "rsl",
        places: "robots.txt (`License`), header `Link`, `link rel=license` and `script` of type `application/rsl+xml`",
        source: "RSL 1.0, Recommendation",
        date: "2025-11-06",
        effect: "What a licence of the page's address prohibits is denied, what one permits without payment is allowed, for \
                 `search`, `ai-input`, `ai-index` (input), `ai-train`, `ai-all` and `all`. A licence that only the page \
                 names or holds is kept as words and not read",
    },
    FormAbout {
        form: Form::CreativeCommons,
        name: "creative-commons",
        places: "`link` and `a` with `rel=license`, header `Link`, `meta` (`dc.rights`, `dcterms.rights`, `dcterms.license`, \
                 `license`, `rights`)",
        source: "Creative Commons licences, 4.0 and earlier, and their dedications to the public domain",
        date: "2013-11-25",
        effect: "CC0, the public domain mark, BY and BY-SA allow search, input, training and archives; NC and ND allow \
                 search and archives",
    },
];
