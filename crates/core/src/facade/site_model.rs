//! What the pages of a site have in common.

use std::borrow::Borrow;
use std::ops::Deref;

use crate::clean::{CleanOptions, TemplateMatcher, comment_labels, label_page};
use crate::facade::{Cleaned, ModelError, Page, model_bytes};
use dehusk_content::Labels;
use dehusk_html::Tree;
use dehusk_template::site_model::{SiteModelOptions, TrainingSet};

/// The model of one site: a few of its pages, reduced to numbers.
///
/// A model is learned from two or more pages, labels any page of the site, and learns from further pages. It holds
/// hashes of names and texts and none of the words, some kilobytes for each training page.
///
/// ```
/// use dehusk_core::{Page, PageOptions, SiteModel};
///
/// let page = |title: &str, words: &str| {
///     let html = format!("<nav>Home</nav><h1>{title}</h1><p>{words}</p><footer>Some rights</footer>");
///     Page::parse(&html, &PageOptions::default())
/// };
/// let pages = [page("Rye", "A hardy grain."), page("Oats", "Porridge."), page("Corn", "Also called maize.")];
/// let model = SiteModel::learn(&pages)?;
/// let new = page("Rice", "It grows in water.");
/// assert_eq!(model.clean(&new).text(), "Rice\n\nIt grows in water.\n");
/// # Ok::<(), dehusk_core::LearnError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SiteModel {
    matcher: TemplateMatcher,
    options: SiteModelOptions,
}

/// The options of two models differ, so that no model has the pages of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the models were learned with different options")]
pub struct MergeError;

/// Why no model could be learned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LearnError {
    /// A template is what pages share. It takes two that differ.
    #[error("{given} pages, {distinct} of them different; a site model needs at least two different pages")]
    TooFewPages {
        /// Pages given.
        given: usize,
        /// Pages with different content.
        distinct: usize,
    },
    /// The pages have nothing in common; they may be of different sites.
    #[error("the {given} pages share nothing but their body")]
    NothingShared {
        /// Pages given.
        given: usize,
    },
}

impl SiteModel {
    /// Learns from pages of one site. Their order does not matter. Six to nine pages of different kinds are enough;
    /// more kinds of pages know more.
    ///
    /// # Errors
    ///
    /// [`LearnError::TooFewPages`] for fewer than two different pages, [`LearnError::NothingShared`] when no page shows
    /// anything of another.
    pub fn learn<P: Borrow<Page>>(pages: &[P]) -> Result<SiteModel, LearnError> {
        SiteModel::learn_with(pages, &SiteModelOptions::default())
    }

    /// The same with other options.
    ///
    /// # Errors
    ///
    /// As [`SiteModel::learn`].
    pub fn learn_with<P: Borrow<Page>>(pages: &[P], options: &SiteModelOptions) -> Result<SiteModel, LearnError> {
        let given = pages.len();
        let trees: Vec<(u64, &Tree)> = pages.iter().map(Borrow::borrow).map(|page| (page.id(), &page.tree)).collect();
        let Some((set, labels)) = TrainingSet::learn(&trees, options) else {
            let mut contents: Vec<u64> = pages.iter().map(|page| page.borrow().content()).collect();
            contents.sort_unstable();
            contents.dedup();
            return Err(LearnError::TooFewPages { given, distinct: contents.len() });
        };
        // Every page has a body.
        if labels.iter().all(|labels| labels.is_template.iter().filter(|is| **is).count() <= 1) {
            return Err(LearnError::NothingShared { given });
        }
        Ok(SiteModel::from_training_set(set, *options))
    }

    fn from_training_set(set: TrainingSet, options: SiteModelOptions) -> SiteModel {
        SiteModel { matcher: TemplateMatcher::from_training_set(set), options }
    }

    fn training_set(&self) -> TrainingSet {
        self.matcher.training_set().cloned().unwrap_or_default()
    }

    /// Adds a page of the site. Returns whether the page is kept.
    ///
    /// Beside the pages that the model was learned from, a bounded sample is kept: which pages are in it does not
    /// depend on their order. A page with the URL of a known page replaces it.
    pub fn add(&mut self, page: &Page) -> bool {
        let labeled = self.matcher.candidate(&page.tree);
        self.matcher.add_page(page.id(), labeled)
    }

    /// The model that knows the pages of both. The order of merging does not matter, and the result is bounded: a site
    /// of any size can be learned in parts.
    ///
    /// # Errors
    ///
    /// [`MergeError`] for models that were learned with different options.
    ///
    /// ```
    /// # use dehusk_core::{Page, PageOptions, SiteModel};
    /// # let page = |n: u32| Page::parse(&format!("<nav>Home</nav><p>Page {n}."), &PageOptions::default());
    /// # let part = |from: u32| SiteModel::learn(&[page(from), page(from + 1)]);
    /// let (one, two) = (part(0)?, part(2)?);
    /// let all = one.merge(&two)?;
    /// assert_eq!(all.n_pages(), 4);
    /// assert_eq!(all.to_bytes(), two.merge(&one)?.to_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(&self, other: &SiteModel) -> Result<SiteModel, MergeError> {
        // When blocks are made is no property of the model.
        let options = SiteModelOptions { blocks_at_once: self.options.blocks_at_once, ..other.options };
        if options != self.options {
            return Err(MergeError);
        }
        Ok(SiteModel::from_training_set(self.training_set().merge(&other.training_set()), self.options))
    }

    /// Number of pages that the model keeps.
    pub fn n_pages(&self) -> usize {
        self.matcher.training_set().map_or(0, TrainingSet::n_pages)
    }

    /// Cleans a page of the site.
    ///
    /// The first step that fits labels the page: the model; the document frequency of its texts, when it resembles no
    /// training page; the page model, when it shows nothing of the site. [`Cleaned::step`] says which one it
    /// was.
    pub fn clean<P: Deref<Target = Page>>(&self, page: P) -> Cleaned<P> {
        self.clean_with(page, &CleanOptions::default())
    }

    /// The same with other options, such as main text only.
    ///
    /// ```
    /// use dehusk_core::{CleanOptions, KeepText};
    ///
    /// let main_text_only = CleanOptions { keep: KeepText::Main, ..CleanOptions::default() };
    /// ```
    pub fn clean_with<P: Deref<Target = Page>>(&self, page: P, options: &CleanOptions) -> Cleaned<P> {
        let labeled = label_page(&page.tree, None, Some(&self.matcher), options);
        let kind = self.matcher.kind_of(&labeled);
        Cleaned::by_model(page, labeled, kind)
    }

    /// The text of the comments of a page of the site.
    pub fn comments(&self, page: &Page, options: &CleanOptions) -> String {
        self.comment_labels(page, options).text(&page.tree)
    }

    /// Labels by which the comments of a page of the site are its own, and all else is not.
    pub fn comment_labels(&self, page: &Page, options: &CleanOptions) -> Labels {
        comment_labels(&page.tree, Some(&self.matcher), options)
    }

    /// The model as bytes, with a version and a checksum. Equal models give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        model_bytes::write(&self.training_set().store(), &self.options)
    }

    /// Reads what [`SiteModel::to_bytes`] has written.
    ///
    /// ```
    /// # use dehusk_core::{ModelError, SiteModel};
    /// assert!(matches!(SiteModel::from_bytes(b"something else"), Err(ModelError::NotAModel)));
    /// ```
    ///
    /// # Errors
    ///
    /// [`ModelError`] when the bytes are not a model, of a later version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<SiteModel, ModelError> {
        let (stored, options) = model_bytes::read(bytes)?;
        Ok(SiteModel::from_training_set(stored.load(&options), options))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facade::PageOptions;
    use crate::test_pages;
    use dehusk_template::method::Method;

    fn page(html: &str) -> Page {
        Page::parse(html, &PageOptions::default())
    }

    fn article(name: &str) -> Page {
        page(&format!(
            "<nav><a href=/>Home</a></nav><main><h1>{name}</h1><p>All about {name}.</main><footer>Foot</footer>"
        ))
    }

    fn articles() -> SiteModel {
        SiteModel::learn(&["rye", "oats", "corn"].map(article)).unwrap()
    }

    #[test]
    fn models_of_different_options_are_not_merged() {
        let pages: Vec<Page> = ["<nav>Home</nav><p>Rye.", "<nav>Home</nav><p>Oats."].map(page).into();
        let usual = SiteModel::learn(&pages).unwrap();
        let options = SiteModelOptions { max_nodes: 99, ..SiteModelOptions::default() };
        let other = SiteModel::learn_with(&pages, &options).unwrap();
        assert_eq!(usual.merge(&other).map(drop), Err(MergeError));
        let later = SiteModelOptions { blocks_at_once: false, ..SiteModelOptions::default() };
        assert!(usual.merge(&SiteModel::learn_with(&pages, &later).unwrap()).is_ok());
    }

    #[test]
    fn too_few_pages_and_pages_of_nothing_in_common_are_told() {
        assert_eq!(SiteModel::learn::<Page>(&[]).unwrap_err(), LearnError::TooFewPages { given: 0, distinct: 0 });
        let twins = [article("rye"), article("rye")];
        assert_eq!(SiteModel::learn(&twins).unwrap_err(), LearnError::TooFewPages { given: 2, distinct: 1 });
        let strangers = [page("<p>one"), page("<table><tr><td>two</table>")];
        let refusal = SiteModel::learn(&strangers).unwrap_err();
        assert_eq!(refusal.to_string(), "the 2 pages share nothing but their body");
    }

    #[test]
    fn a_model_labels_learns_and_survives_its_bytes() {
        let mut model = articles();
        let new = article("rice");
        let cleaned = model.clean(&new);
        assert_eq!((cleaned.text().as_str(), cleaned.step()), ("rice\n\nAll about rice.\n", Method::SiteModel));
        assert_eq!(cleaned.labels().len(), new.n_nodes());
        assert!(cleaned.confidence() > 0.9 && cleaned.html().contains("<h1>rice</h1>"));
        assert!(model.add(&new) && !model.add(&new), "what is known is not added again");
        assert_eq!(model.n_pages(), 4);
        let read = SiteModel::from_bytes(&model.to_bytes()).unwrap();
        assert_eq!(read.to_bytes(), model.to_bytes());
        assert_eq!(read.clean(&article("malt")).text(), model.clean(&article("malt")).text());
    }

    #[test]
    fn a_later_version_replaces_the_page_of_its_url() {
        let mut model = articles();
        let at = |page: Page| page.with_url("http://a.org/rice").unwrap();
        assert!(model.add(&at(article("rice"))) && model.add(&at(article("rice of today"))));
        assert_eq!(model.n_pages(), 4);
        assert!(article("rye").with_url("no url").is_err());
    }

    #[test]
    fn damaged_models_are_refused() {
        let bytes = articles().to_bytes();
        assert!(matches!(SiteModel::from_bytes(&bytes[..bytes.len() - 1]), Err(ModelError::Damaged { .. })));
        for at in [20, 40, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(matches!(SiteModel::from_bytes(&damaged), Err(ModelError::Damaged { .. })), "byte {at}");
        }
        let later = [b"dehusk site model 9\n", &bytes[20..]].concat();
        assert!(SiteModel::from_bytes(&later).unwrap_err().to_string().contains("version 9"));
        assert!(matches!(SiteModel::from_bytes(b""), Err(ModelError::NotAModel)));
    }

    proptest! {
        #[test]
        fn parts_merge_in_any_order(pages in test_pages::pages(6, 0..14), new in test_pages::pages(1, 0..14)) {
            let pages: Vec<Page> = pages.iter().map(|html| page(html)).collect();
            let parts: Vec<SiteModel> = pages.chunks(2).filter_map(|part| SiteModel::learn(part).ok()).collect();
            let new = page(&new[0]);
            let merged = parts.iter().cloned().reduce(|a, b| a.merge(&b).unwrap());
            let reversed = parts.iter().rev().cloned().reduce(|a, b| a.merge(&b).unwrap());
            if let (Some(merged), Some(reversed)) = (merged, reversed) {
                prop_assert_eq!(merged.to_bytes(), reversed.to_bytes());
                let (one, two) = (merged.clean(&new), reversed.clean(&new));
                prop_assert_eq!(one.labels(), two.labels());
                let read = SiteModel::from_bytes(&merged.to_bytes()).unwrap();
                let three = read.clean(&new);
                prop_assert_eq!(one.labels(), three.labels());
            }
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let framed = [b"dehusk site model 1\n".as_slice(), &bytes].concat();
            prop_assert!(SiteModel::from_bytes(&bytes).is_err() && SiteModel::from_bytes(&framed).is_err());
            let _ = Page::parse(&bytes, &PageOptions::default()).clean().text();
        }
    }
}
