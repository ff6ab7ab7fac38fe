//! Keys of the published methods that can be compared, of clusters and of template strings.

use dehusk_content::tps::TpsGap;
use dehusk_content::tps::TpsKeep;
use dehusk_content::tps::TpsSearch;
use dehusk_template::cluster::ClusterBy;
use dehusk_template::strings::HistogramWeight;
use dehusk_template::strings::InnerStrings;
use dehusk_template::strings::StringTokens;
use dehusk_template::text_mdl::TextCost;
use dehusk_template::text_mdl::TextMethod;

use super::{Key, keys};
use crate::values::{bytes, fraction, number, one_of, share, truth, whole};

pub(super) const PAPERS: &[Key] = keys! {
    "papers.tps.gap" = "\"abs\"", "Method tps: difference between the two sides of a cut: abs (absolute), paper (as printed, which never keeps a left side).",
        |s, v| s.core.clean.tps.gap => one_of(v, &[("abs", TpsGap::Abs), ("paper", TpsGap::Paper)])?;
    "papers.tps.search" = "\"first\"", "Which cut is tried: first (the paper), best (the one with the most unequal sides).",
        |s, v| s.core.clean.tps.search => one_of(v, &[("first", TpsSearch::First), ("best", TpsSearch::Best)])?;
    "papers.tps.split_margin" = "0.2", "Minimum difference between the two sides, as a share of both, for the larger side to be kept.",
        |s, v| s.core.clean.tps.split_margin => share(v)?;
    "papers.tps.complement" = "true", "Whether the rest of the page is kept instead if it has more text outside links. false = the paper.",
        |s, v| s.core.clean.tps.complement => truth(v)?;
    "papers.tps.keep" = "\"list\"", "Which regions are kept: main (the paper), list (all that are large enough, as in the authors' program of 2013, and have text outside links).",
        |s, v| s.core.clean.tps.keep => one_of(v, &[("main", TpsKeep::Main), ("list", TpsKeep::List)])?;
    "papers.tps.min_region" = "0.1", "Minimum share of the page in a region of the list.",
        |s, v| s.core.clean.tps.min_region => share(v)?;
    "papers.tps.max_splits" = "200", "Number of cuts after which the search ends.",
        |s, v| s.core.clean.tps.max_splits => whole(v, 0, 1_000_000)?;
    "papers.cluster.by" = "\"cps\"", "Features that pages are clustered by (Gottron 2008): cp (tag paths), cps (shingles of tag paths), ctss (shingles of the tag sequence).",
        |s, v| s.papers.cluster.by => one_of(v, &[("cp", ClusterBy::Cp), ("cps", ClusterBy::Cps), ("ctss", ClusterBy::Ctss)])?;
    "papers.cluster.shingle" = "4", "Number of tag names in a shingle.",
        |s, v| s.papers.cluster.shingle => whole(v, 1, 64)?;
    "papers.cluster.distance" = "0.3", "Maximum distance of two pages in one cluster. 0 = the paper: cp 0.7, cps 0.6, ctss 0.85, found on five sites of its year.",
        |s, v| s.papers.cluster.distance => share(v)?;
    "papers.gottron.candidates" = "0", "Method gottron and label.by = gottron: number of linked pages from which the training set is chosen. 0 = all (the paper), up to 1,000.",
        |s, v| s.core.learn.gottron.candidates => whole(v, 0, 1000)?;
    "papers.gottron.by" = "\"cp\"", "Features that the pages of a training set share: cp, cps, ctss, as in papers.cluster.by.",
        |s, v| s.core.learn.gottron.cluster.by => one_of(v, &[("cp", ClusterBy::Cp), ("cps", ClusterBy::Cps), ("ctss", ClusterBy::Ctss)])?;
    "papers.gottron.shingle" = "4", "Number of tag names in a shingle.",
        |s, v| s.core.learn.gottron.cluster.shingle => whole(v, 1, 64)?;
    "papers.gottron.distance" = "0.0", "Maximum distance of two pages in one training set. 0 = the paper: cp 0.7, cps 0.6, ctss 0.85.",
        |s, v| s.core.learn.gottron.cluster.distance => share(v)?;
    "papers.gottron.frequent" = "\"1/3\"", "Methods gottron and df: share of the training set, the page among it, above which a text is template. 1/3 = the paper.",
        |s, v| s.core.learn.site_model.frequent_share => fraction(v)?;
    "papers.strings.tokens" = "\"auto\"", "Tokens of template strings (Foschini 2007): auto (html for pages, ws for text), ws (blanks), f2007 (blanks, hyphens), html (tags, words, punctuation).",
        |s, v| s.core.strings.tokens => one_of(v, &[("auto", StringTokens::Auto), ("ws", StringTokens::Ws), ("f2007", StringTokens::F2007), ("html", StringTokens::Html)])?;
    "papers.strings.patterns" = "\"\"", "TOML file of mutable patterns ([[pattern]] with name, regex, test) for dehusk strings and method strings. Empty = built-in: dates, numbers, addresses.",
        |s, v| s.string_patterns => v.as_str().ok_or("expected a text")?.trim().to_owned();
    "papers.strings.min_tokens" = "2", "Minimum number of tokens in a template string.",
        |s, v| s.core.strings.min_tokens => whole(v, 1, 1_000_000)?;
    "papers.strings.min_df" = "0.05", "Minimum share of the documents with a string for it to be counted. Never fewer than two documents.",
        |s, v| s.core.strings.min_df_share => share(v)?;
    "papers.strings.weight" = "\"log\"", "Weight of a bin in the histogram that separates idioms from template: log (of its count), raw (its count, the paper, with a low threshold).",
        |s, v| s.core.strings.weight => one_of(v, &[("log", HistogramWeight::Log), ("raw", HistogramWeight::Raw)])?;
    "papers.strings.min_ratio" = "0.5", "Minimum share of the documents that contain a template string. 0 = the paper.",
        |s, v| s.core.strings.min_ratio => share(v)?;
    "papers.strings.inner" = "\"keep\"", "Strings frequent only inside longer ones: keep (the paper, also removes them elsewhere), drop.",
        |s, v| s.core.strings.inner => one_of(v, &[("keep", InnerStrings::Keep), ("drop", InnerStrings::Drop)])?;
    "papers.strings.max_idiom" = "4", "Strings of at most this many tokens that are distributed over documents like ordinary words are idioms and stay. 0 = the paper.",
        |s, v| s.core.strings.max_idiom => whole(v, 0, 1000)?;
    "papers.strings.max_sites" = "0.05", "A string that is template in more than this share of the other sources, and in more than two, is an idiom and stays.",
        |s, v| s.core.strings.max_sites_share => share(v)?;
    "papers.strings.longest_idiom" = "8", "Maximum number of tokens in an idiom. Longer strings are template even if many sources share them. 0 = no limit (the paper).",
        |s, v| s.core.strings.longest_idiom => whole(v, 0, 1_000_000)?;
    "papers.strings.merge_gap" = "12", "Cuts in plain text separated by fewer characters, none of them a letter or digit, are merged. 0 = never.",
        |s, v| s.core.strings.merge_gap => whole(v, 0, 1_000_000)?;
    "papers.strings.merge_text" = "false", "Whether cuts are merged over words, too, which are removed with them (the paper, section 3.4.1).",
        |s, v| s.core.strings.merge_text => truth(v)?;
    "papers.strings.min_cut" = "0", "Minimum number of characters in a cut. Shorter ones are not removed.",
        |s, v| s.core.strings.min_cut => whole(v, 0, 1_000_000)?;
    "papers.strings.max_total" = "\"5MB\"", "Maximum number of tokens in all strings of one template. The shortest strings above it are dropped and counted.",
        |s, v| s.core.strings.max_total => bytes(v)?.max(1);
    "papers.text.method" = "\"max\"", "How dehusk cluster picks pairs to merge (TEXT): mdl (cost of all pairs, up to 2,000 pages), hash (estimated cost of all pairs; measured no faster than mdl here), max (only pairs that share the most; the fastest).",
        |s, v| s.core.learn.text.method => one_of(v, &[("mdl", TextMethod::Mdl), ("hash", TextMethod::Hash), ("max", TextMethod::Max)])?;
    "papers.text.signature" = "128", "Length of a MinHash signature, by one-permutation hashing. The paper finds 50 enough.",
        |s, v| s.core.learn.text.signature => whole(v, 1, 4096)?;
    "papers.text.min_support" = "2", "Minimum number of pages with an essential path. 1 = the paper, which keeps all paths when most occur on one page only.",
        |s, v| s.core.learn.text.min_support => whole(v, 1, 1_000_000)? as u32;
    "papers.text.universal" = "0.5", "Paths on more than this share of all pages, such as html/body, do not decide which paths of a page are essential. 1 = the paper.",
        |s, v| s.core.learn.text.universal => share(v)?;
    "papers.text.threshold" = "0.9", "Factor on the threshold of essential paths, which is the most frequent support on a page. Below 1, paths count that some pages of a template lack: more pages come together, in more time. 1 = the paper; its experiment runs from 0.1 to 1.1.",
        |s, v| s.core.learn.text.threshold => number(v).filter(|x| (0.01..=10.0).contains(x)).ok_or("expected a number from 0.01 to 10")?;
    "papers.text.implied" = "true", "Whether elements without a tag in the source, such as head and tbody, are parts of paths in dehusk cluster. false = the paper.",
        |s, v| s.core.learn.text.implied => truth(v)?;
    "papers.text.cost" = "\"count\"", "With mdl: cost of a clustering: count (ones of the matrices), entropy (bits by their entropy, the paper's definition; up to 1,000 pages).",
        |s, v| s.core.learn.text.cost => one_of(v, &[("count", TextCost::Count), ("entropy", TextCost::Entropy)])?;
    "papers.text.bucket" = "64", "With max: number of the newest clusters with an equal signature value that are considered as partners.",
        |s, v| s.core.learn.text.bucket => whole(v, 1, 100_000_000)?;
};
