//! All parameters of learning one site, and the published presets.

use serde::{Deserialize, Serialize};

use crate::cluster::GottronOptions;
use crate::etdm::EtdmOptions;
use crate::links::{LinkOptions, LinkOrderBy};
use crate::site_model::SiteModelOptions;
use crate::subdigraph::{MOST_LOADS, SearchOptions, SubdigraphMode};
use crate::text_mdl::TextOptions;

/// How a site is learned, and how its template is applied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LearnOptions {
    /// Which links are candidates, and their order.
    pub links: LinkOptions,
    /// How training pages are searched for.
    pub search: SearchOptions,
    /// Exact top-down mapping and its votes.
    pub etdm: EtdmOptions,
    /// What is kept of training pages.
    pub site_model: SiteModelOptions,
    /// How `label_by = Gottron` finds its training set.
    #[serde(skip_serializing_if = "is_default")]
    pub gottron: GottronOptions,
    /// How `label_by = Text` clusters pages.
    #[serde(skip_serializing_if = "is_default")]
    pub text: TextOptions,
    /// What decides which nodes are template.
    pub label_by: LabelBy,
}

fn is_default<T: Default + PartialEq>(options: &T) -> bool {
    *options == T::default()
}

impl LearnOptions {
    /// With the search that `label_by` asks for. `Gottron` considers all linked pages in the order of their links, or
    /// as many as its options say (Gottron 2008, section 3).
    pub fn in_effect(&self) -> LearnOptions {
        let mut options = self.clone();
        if self.label_by == LabelBy::Gottron {
            let n = match self.gottron.candidates {
                0 => MOST_LOADS,
                n => n,
            };
            options.links.order = LinkOrderBy::Paper;
            let search = &mut options.search;
            (search.mode, search.n, search.max_loads, search.stop_after) = (SubdigraphMode::First, n, n, 0);
            search.max_requests = search.max_requests.max(2 * n);
        }
        options
    }
}

/// What decides which nodes of a page are template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelBy {
    /// Votes on the nodes of the key page. Other pages are mapped to the template that results (the thesis).
    Votes,
    /// Evidence of all training pages, weighted by similarity; the labels of a page are decided jointly.
    #[default]
    SiteModel,
    /// Document frequency of texts over those linked pages that share the layout of the key page (Gottron 2008).
    Gottron,
    /// The template paths of the cluster of a page among the training pages (Kim and Shim 2011).
    Text,
}

/// A published parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Measured best on real sites; see docs/results.md. The same as [`LearnOptions::default`].
    Dehusk,
    /// The best variant of the thesis' votes on real sites.
    Votes,
    /// Alarte's thesis of 2014, section 5.2.3.
    Thesis2014,
    /// The later tuning in the authors' HybEx.
    Hybex2020,
}

impl Preset {
    /// All presets with the names that settings and `--preset` use.
    pub const ALL: [(&'static str, Preset); 5] = [
        ("dehusk", Preset::Dehusk),
        ("votes", Preset::Votes),
        ("thesis2014", Preset::Thesis2014),
        ("hybex2020", Preset::Hybex2020),
        ("hybex", Preset::Hybex2020),
    ];

    /// The parameters of this preset.
    pub fn learn(self) -> LearnOptions {
        match self {
            Preset::Dehusk => LearnOptions::default(),
            Preset::Votes => votes(),
            Preset::Thesis2014 => thesis2014(),
            Preset::Hybex2020 => LearnOptions { etdm: EtdmOptions::hybex2020(), ..thesis2014() },
        }
    }
}

fn thesis2014() -> LearnOptions {
    LearnOptions {
        links: LinkOptions::thesis2014(),
        search: SearchOptions::thesis2014(),
        etdm: EtdmOptions::thesis2014(),
        site_model: SiteModelOptions::default(),
        gottron: GottronOptions::default(),
        text: TextOptions::default(),
        label_by: LabelBy::Votes,
    }
}

/// The best of the sweep in docs/lab/2026-11-26-preset-votes-sweep.md that loads at most 24 pages a site: the first six
/// usable links vote instead of a complete subdigraph.
fn votes() -> LearnOptions {
    LearnOptions {
        links: LinkOptions { slug_dirs: true, skip_nofollow: true, ..LinkOptions::thesis2014() },
        search: SearchOptions { mode: SubdigraphMode::First, n: 6, ..SearchOptions::thesis2014() },
        label_by: LabelBy::Votes,
        ..LearnOptions::default()
    }
}
