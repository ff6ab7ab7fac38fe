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

/// What a page says about itself.
pub mod metadata {
    pub use crate::metadata::{Fact, Metadata, SiteMetadata, Source, find_date};
}

/// The table of the methods.
pub mod methods {
    pub use crate::methods::{METHODS, MethodEntry, MethodKind, Model};
}

/// What the robots directives of a page ask for.
pub mod page_rules {
    pub use crate::page_rules::{PageRules, product_token, token_of};
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
