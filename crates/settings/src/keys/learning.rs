//! Keys of pages, of template learning and of cleaning.

use dehusk_core::clean::Alone;
use dehusk_html::KeepNodes;
use dehusk_html::ParserKind;
use dehusk_template::etdm::AttrMode;
use dehusk_template::etdm::ChildMap;
use dehusk_template::etdm::NodeText;
use dehusk_template::learn_options::LabelBy;
use dehusk_template::links::DomRef;
use dehusk_template::links::LinkOrderBy;
use dehusk_template::subdigraph::SubdigraphMode;

use super::{Key, keys};
use crate::SAME_SITE;
use crate::values::{bytes, one_of, share, truth, whole};

pub(super) const LEARNING: &[Key] = keys! {
    "page.max_bytes" = "\"40MB\"", "Decoded bytes of a page that are parsed. The rest is cut off and noted.",
        |s, v| s.core.parse.max_bytes => bytes(v)?;
    "page.max_nodes" = "1000000", "Nodes after which parsing stops. The rest of the page is cut off and noted.",
        |s, v| s.core.parse.max_nodes => whole(v, 16, 100_000_000)?;
    "page.max_depth" = "512", "Maximum nesting depth of elements. Deeper elements are replaced by their children, as in browsers, and noted.",
        |s, v| s.core.parse.max_depth => whole(v, 16, 4096)? as u16;
    "page.max_attributes" = "1000", "Maximum number of attributes kept per element.",
        |s, v| s.core.parse.max_attributes => whole(v, 1, 100_000)?;
    "page.keep" = "\"counted\"", "Nodes kept in a page tree: counted (elements and text), browser (comments and blank text, too).",
        |s, v| s.core.parse.keep => one_of(v, &[("counted", KeepNodes::Counted), ("browser", KeepNodes::Browser)])?;
    "page.parser" = "\"dehusk\"", "What makes a tree of a page: dehusk, or html5ever, which is slower and gives the same trees.",
        |s, v| s.core.parse.parser => one_of(v, &[("dehusk", ParserKind::Dehusk), ("html5ever", ParserKind::Html5ever)])?;
    "links.same_site" = "\"host\"", "Links that count as links within the site: host (same host, www. ignored), registrable (same registrable domain).",
        |s, v| s.core.learn.links.same_site => one_of(v, &SAME_SITE)?;
    "links.slug_dirs" = "true", "Whether a last path segment without a dot counts as a directory, as in /section.",
        |s, v| s.core.learn.links.slug_dirs => truth(v)?;
    "links.dom_ref" = "\"class\"", "Links that the next link should be far from in the DOM: class (same hyperlink distance, Algorithm 1), global (all chosen links), all.",
        |s, v| s.core.learn.links.dom_ref => one_of(v, &[("class", DomRef::Class), ("global", DomRef::Global), ("all", DomRef::All)])?;
    "links.max" = "5000", "Maximum number of links of a page that are considered.",
        |s, v| s.core.learn.links.max => whole(v, 1, 1_000_000)?;
    "links.skip_nofollow" = "true", "Whether links marked nofollow are excluded from the training set.",
        |s, v| s.core.learn.links.skip_nofollow => truth(v)?;
    "links.order" = "\"turns\"", "Order of links: turns (round-robin over URL forms and main menu), forms (without the menu), menu (menu links first), paper (Algorithm 1), random.",
        |s, v| s.core.learn.links.order => one_of(v, &[("turns", LinkOrderBy::Turns), ("forms", LinkOrderBy::Forms), ("paper", LinkOrderBy::Paper), ("menu", LinkOrderBy::Menu), ("random", LinkOrderBy::Random)])?;
    "subdigraph.mode" = "\"first\"", "Which pages are training pages: complete (pages that all link to each other), first (the first usable ones).",
        |s, v| s.core.learn.search.mode => one_of(v, &[("complete", SubdigraphMode::Complete), ("first", SubdigraphMode::First)])?;
    "subdigraph.n" = "8", "Number of training pages or voters. At most 8 with mode complete.",
        |s, v| s.core.learn.search.n => whole(v, 1, 24)?;
    "subdigraph.min_similarity" = "0.0", "Share of tag paths (CP, Gottron 2008) that a training page has in common with the key page. For a page with less the next link is tried, up to max_loads. 0 = none is exchanged (the thesis).",
        |s, v| s.core.learn.search.min_similarity => share(v)?;
    "subdigraph.stop_after" = "0", "With label.by site_model: stop after this many pages in a row that changed at most 1 % of the key page's labels. 0 = never.",
        |s, v| s.core.learn.search.stop_after => whole(v, 0, 64)?;
    "subdigraph.max_loads" = "8", "Maximum number of pages loaded to learn one site.",
        |s, v| s.core.learn.search.max_loads => whole(v, 1, 64)?;
    "subdigraph.max_requests" = "48", "Maximum number of requests to learn one site, including failed ones.",
        |s, v| s.core.learn.search.max_requests => whole(v, 1, 10_000)?;
    "label.by" = "\"site_model\"", "What decides which nodes are template: site_model (evidence of training pages, weighted by similarity), votes (the thesis), gottron (document frequency, see papers.gottron.candidates), text (the cluster of a page among the training pages, see papers.text).",
        |s, v| s.core.learn.label_by => one_of(v, &[("site_model", LabelBy::SiteModel), ("votes", LabelBy::Votes), ("gottron", LabelBy::Gottron), ("text", LabelBy::Text)])?;
    "site_model.threshold" = "0.35", "Nodes with different subtrees are mapped if their equality probability is above this.",
        |s, v| s.core.learn.site_model.threshold => share(v)?;
    "site_model.max_nodes" = "20000", "Maximum number of nodes kept of a training page.",
        |s, v| s.core.learn.site_model.max_nodes => whole(v, 100, 1_000_000)?;
    "site_model.max_children" = "350", "Maximum number of children kept of one node of a training page, six of seven from the beginning of the list.",
        |s, v| s.core.learn.site_model.max_children => whole(v, 7, 1_000_000)?;
    "site_model.max_pairs" = "4096", "Child lists with more pairs than this are mapped by node signature, in linear time.",
        |s, v| s.core.learn.site_model.max_pairs => whole(v, 1, 100_000_000)?;
    "site_model.max_names" = "50000", "Maximum number of names seen on one page only that are remembered until a second page has them.",
        |s, v| s.core.learn.site_model.max_names => whole(v, 0, 10_000_000)?;
    "site_model.extra_pages" = "8", "Maximum number of further crawled pages added to the site model. 0 = training pages only.",
        |s, v| s.core.learn.site_model.extra_pages => whole(v, 0, 200)?;
    "etdm.min_votes" = "0", "Votes that make a node template. 0 = the majority of the voters.",
        |s, v| s.core.learn.etdm.min_votes => whole(v, 0, 8)?;
    "etdm.near_complete" = "0.98", "A page that maps to this share of the key page raises the required votes by one, because it would vote for what is the key page's own (HybEx). 0 = no page does (the thesis).",
        |s, v| s.core.learn.etdm.near_complete => share(v)?;
    "etdm.w_class" = "0.5", "Weight of the class overlap in the equality probability.",
        |s, v| s.core.learn.etdm.weights.class => share(v)?;
    "etdm.w_attributes" = "0.2", "Weight of the attribute overlap in the equality probability.",
        |s, v| s.core.learn.etdm.weights.attributes => share(v)?;
    "etdm.w_children" = "0.1", "Weight of the ratio of child counts in the equality probability.",
        |s, v| s.core.learn.etdm.weights.children => share(v)?;
    "etdm.w_position" = "0.2", "Weight of the position among the siblings in the equality probability.",
        |s, v| s.core.learn.etdm.weights.position => share(v)?;
    "etdm.p_no_class" = "0.99", "Class overlap of two nodes without classes.",
        |s, v| s.core.learn.etdm.weights.no_class => share(v)?;
    "etdm.p_no_attributes" = "0.25", "Attribute overlap of two nodes without attributes.",
        |s, v| s.core.learn.etdm.weights.no_attributes => share(v)?;
    "etdm.p_no_children" = "1.0", "Child ratio of two nodes without children.",
        |s, v| s.core.learn.etdm.weights.no_children => share(v)?;
    "etdm.threshold" = "0.45", "Two nodes can be mapped if their equality probability is above this.",
        |s, v| s.core.learn.etdm.weights.threshold => share(v)?;
    "etdm.threshold_inclusive" = "false", "Whether a probability equal to the threshold is enough.",
        |s, v| s.core.learn.etdm.weights.threshold_inclusive => truth(v)?;
    "etdm.exact_wins" = "false", "Whether equal classes and equal attributes decide alone.",
        |s, v| s.core.learn.etdm.weights.exact_wins => truth(v)?;
    "etdm.attr_mode" = "\"name_value\"", "What is compared of an attribute: name_value, name.",
        |s, v| s.core.learn.etdm.attr_mode => one_of(v, &[("name_value", AttrMode::NameValue), ("name", AttrMode::Name)])?;
    "etdm.map" = "\"greedy\"", "How children are mapped: greedy (best pair first), dp (heaviest matching).",
        |s, v| s.core.learn.etdm.child_map => one_of(v, &[("greedy", ChildMap::Greedy), ("dp", ChildMap::Dp)])?;
    "etdm.keep_order" = "true", "Whether mapped children must keep their order.",
        |s, v| s.core.learn.etdm.keep_order => truth(v)?;
    "etdm.text" = "\"equal\"", "When a text node is template: equal (its words are equal), structural (by its position, as for elements).",
        |s, v| s.core.learn.etdm.text => one_of(v, &[("equal", NodeText::Equal), ("structural", NodeText::Structural)])?;
    "etdm.ignore_generated" = "true", "Whether class tokens and ids that look generated (long hex, three digits at the end) are ignored.",
        |s, v| s.core.learn.etdm.ignore_generated => truth(v)?;
    "etdm.large_pairs" = "250000", "Child lists with a larger product of lengths are anchored on equal nodes first.",
        |s, v| s.core.learn.etdm.large_pairs => whole(v, 1_000, 100_000_000)?;
    "etdm.min_confidence" = "0.15", "Minimum share of a voted template that a page must show for the template to be applied.",
        |s, v| s.core.learn.etdm.min_confidence => share(v)?;
    "clean.min_confidence" = "0.25", "Minimum share of the template that a page must show. Below it, the document frequency of its texts decides.",
        |s, v| s.core.clean.min_confidence => share(v)?;
    "clean.whole_blocks" = "true", "Whether a paragraph, heading, cell, item or block of code without blocks in it is kept or left out as a whole.",
        |s, v| s.core.clean.whole_blocks => truth(v)?;
    "clean.alone" = "\"page_model\"", "How a page of an unknown site is cleaned: page_model (its main content), tps (its main region by tag paths, as papers.tps says), plain (the whole page is kept).",
        |s, v| s.core.clean.alone => one_of(v, &[("page_model", Alone::PageModel), ("tps", Alone::Tps), ("plain", Alone::Plain)])?;
};
