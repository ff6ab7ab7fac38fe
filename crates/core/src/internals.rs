//! What the `dehusk` program needs of this crate beyond the façade.
//!
//! These names follow the program and change with it. Use [`Page`](crate::Page) and [`SiteModel`](crate::SiteModel)
//! instead.

/// The baselines of the papers.
pub mod baselines {
    pub use crate::baselines::{DataRecord, RtdmPage, RtdmTemplate, by_records, by_slope, data_records, rtdm_distance};
}

/// Dates without a clock.
pub mod calendar {
    pub use crate::calendar::{days_since_1970, digits, iso_8601, year};
}

/// One page and a template to what is the page's own.
pub mod clean {
    pub use crate::clean::{
        Alone, CleanOptions, HiddenText, KeepText, LabeledPage, TemplateMatcher, comments_text, label_candidate,
        label_page,
    };
}

/// Clusters of pages by layout (Gottron 2008).
pub mod cluster {
    pub use crate::cluster::{
        ClusterBy, ClusterOptions, Features, GottronOptions, component, dunn, dunn_by, precision_and_recall, rand,
        single_linkage, single_linkage_by, training_set,
    };
}

/// Exact top-down mapping and its votes.
pub mod etdm {
    pub use crate::etdm::{
        AttrMode, ChildMap, Equality, EqualityWeights, EtdmOptions, Mapped, NodeText, Pair, Side, Votes, map_children,
        map_trees, position_score, vote,
    };
}

/// Stored forms of plain values.
pub mod serialized {
    pub use crate::serialized::json_of;
}

/// All parameters of learning one site.
pub mod learn_options {
    pub use crate::learn_options::{LabelBy, LearnOptions, Preset};
}

/// One site, from its key page to its template.
pub mod learner {
    pub use crate::learner::{FoundPage, Learned, Learner, LinkFilter};
}

/// The outlinks of a page and their order.
pub mod links {
    pub use crate::links::{
        DomRef, LinkOptions, LinkOrder, LinkOrderBy, Outlink, hyperlink_distance, outlinks, relevance,
        scanned_outlinks, words,
    };
}

/// What a page says about itself.
pub mod metadata {
    pub use crate::metadata::{Fact, Metadata, SiteMetadata, Source, find_date};
}

/// The identifiers of the methods.
pub mod method {
    pub use crate::method::{Method, UnknownMethod};
}

/// The table of the methods.
pub mod methods {
    pub use crate::methods::{METHODS, MethodEntry, MethodKind, Model};
}

/// What the robots directives of a page ask for.
pub mod page_rules {
    pub use crate::page_rules::{PageRules, product_token, token_of};
}

/// The training pages of a site.
pub mod site_model {
    pub use crate::site_model::{
        Candidate, Kinds, PageSample, SiteModelOptions, StoredError, StoredTrainingSet, TrainingSet,
    };
}

/// Template strings (Foschini 2007).
#[cfg(feature = "strings")]
pub mod strings {
    pub use crate::strings::{
        CleanedText, Corpus, Document, HistogramWeight, InnerStrings, Pattern, Patterns, PatternsError, StringCleaner,
        StringOptions, StringTemplate, StringTokens, StringsError, TemplateString, TokenizedDocument,
    };
}

/// The search for training pages.
pub mod subdigraph {
    pub use crate::subdigraph::{Answer, Found, Search, SearchOptions, Step, SubdigraphMode};
}

/// Templates, and exact top-down mapping with votes.
pub mod template {
    pub use crate::template::{Block, Provenance, SCHEMA, Template, TemplateError, TemplateNode, changes};
}

/// TEXT clustering (Kim and Shim 2011).
pub mod text_mdl {
    pub use crate::text_mdl::{
        Cluster, Clustering, Essential, Paths, TextCost, TextMethod, TextOptions, TextTemplate, TextTemplates,
        TextTemplatesError, cluster, entropy_cost, path_names,
    };
}

/// Tag path sequences (Velloso and Dorneles 2013).
pub mod tps {
    pub use crate::tps::{Sequence, TpsGap, TpsKeep, TpsOptions, TpsSearch, by_tag_paths, main_region, region_list};
}
