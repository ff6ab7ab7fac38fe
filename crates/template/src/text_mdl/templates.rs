//! The templates that TEXT has found, applied to pages.
//!
//! A template is a set of tag paths, texts included. A page has the template that saves most of its cost: that of which
//! it has the most paths and lacks the fewest. A node is template if its path is.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::paths::{Implied, node_paths};
use super::{Essential, Paths, TextOptions, cluster};
use crate::serialized::json_of;
use dehusk_content::Labels;
use dehusk_html::Tree;

/// Version of the stored form.
const SCHEMA: u32 = 1;

/// The templates of a collection of pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextTemplates {
    schema: u32,
    /// The templates, in the order of their first pages.
    pub templates: Vec<TextTemplate>,
}

/// The template of one cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextTemplate {
    /// Pages that it was found on.
    pub n_pages: usize,
    /// Hashes of its paths, ascending.
    paths: Vec<u64>,
}

/// Why stored templates were refused.
#[derive(Debug, thiserror::Error)]
pub enum TextTemplatesError {
    /// Not of the expected form.
    #[error("not templates of TEXT: {0}")]
    Form(serde_json::Error),
    /// Written by a later version.
    #[error("templates of TEXT of version {0} are not known; please update dehusk")]
    Schema(u32),
}

impl TextTemplates {
    /// Finds the templates of pages. A cluster of one page has none: nothing says what it shares.
    pub fn learn(pages: &[&Tree], options: &TextOptions) -> TextTemplates {
        let paths: Vec<Paths> = crate::parallel::map(pages, |page| Paths::new(page));
        let (essential, hashes) = Essential::find_all(&paths, options);
        let found = cluster(&essential, options);
        let of = |cluster: &super::Cluster| {
            let paths: Vec<u64> = cluster.template().into_iter().map(|path| hashes[path as usize]).collect();
            TextTemplate::new(cluster.members.len(), &paths)
        };
        TextTemplates::new(found.clusters.iter().map(of).collect())
    }

    /// The templates of clusters of more than one page.
    pub fn new(mut templates: Vec<TextTemplate>) -> TextTemplates {
        templates.retain(|template| template.n_pages > 1 && !template.paths.is_empty());
        TextTemplates { schema: SCHEMA, templates }
    }

    /// Labels a page by the template that fits it best. Nothing is template where none fits. The confidence is the
    /// share of the template that the page has.
    pub fn label(&self, page: &Tree) -> Labels {
        let nodes = node_paths(page, &Implied::default());
        let own: FxHashSet<u64> = nodes.iter().copied().collect();
        let n_shared = |template: &TextTemplate| template.paths.iter().filter(|path| own.contains(path)).count();
        let fits = self.templates.iter().map(|template| (n_shared(template), template));
        let saved = |(shared, template): &(usize, &TextTemplate)| 2 * *shared as i64 - template.paths.len() as i64;
        let best = fits.max_by_key(|fit| (saved(fit), std::cmp::Reverse(fit.1.paths.len())));
        let Some((shared, template)) = best.filter(|fit| saved(fit) > 0) else { return Labels::none(page) };
        let mut labels = Labels::none(page);
        for node in page.counted() {
            labels.is_template[node] = template.paths.binary_search(&nodes[node]).is_ok();
        }
        labels.with_confidence(shared as f64 / template.paths.len() as f64)
    }

    /// The stored form.
    pub fn to_json(&self) -> Vec<u8> {
        json_of(self)
    }

    /// Reads the stored form.
    ///
    /// # Errors
    ///
    /// [`TextTemplatesError`] when the bytes are of another form or of a later version.
    pub fn from_json(bytes: &[u8]) -> Result<TextTemplates, TextTemplatesError> {
        let mut read: TextTemplates = serde_json::from_slice(bytes).map_err(TextTemplatesError::Form)?;
        if read.schema > SCHEMA {
            return Err(TextTemplatesError::Schema(read.schema));
        }
        read.templates.iter_mut().for_each(|template| template.paths.sort_unstable());
        Ok(read)
    }
}

impl TextTemplate {
    /// The template of a cluster: its number of pages and the hashes of its paths.
    pub fn new(n_pages: usize, paths: &[u64]) -> TextTemplate {
        let mut paths = paths.to_vec();
        paths.sort_unstable();
        TextTemplate { n_pages, paths }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    fn page(kind: usize, own: &str) -> Tree {
        let menu = ["<nav><a>Home</a><b>Shop</b></nav>", "<table><tr><td>Start<td>Mail</table>"][kind];
        parse(&format!("<body>{menu}<main><h1>{own}</h1><p>{own} text</p></main>"), &ParseOptions::default())
    }

    #[test]
    fn each_page_is_labeled_by_its_own_template() {
        let trees: Vec<Tree> = (0..8).map(|n| page(n % 2, ["a", "b", "c", "d", "e", "f", "g", "h"][n])).collect();
        let found = TextTemplates::learn(&trees.iter().collect::<Vec<_>>(), &TextOptions::default());
        let text = |tree: &Tree| found.label(tree).text_nodes(tree);
        assert_eq!((text(&page(0, "new")), text(&page(1, "new"))), ("new new text".into(), "new new text".into()));
        let strange = parse("<p>something else", &ParseOptions::default());
        assert_eq!(found.label(&strange), Labels::none(&strange));
        assert_eq!(TextTemplates::from_json(&found.to_json()).unwrap(), found);
        let later = String::from_utf8(found.to_json()).unwrap().replace("\"schema\":1", "\"schema\":9");
        assert!(matches!(TextTemplates::from_json(later.as_bytes()), Err(TextTemplatesError::Schema(9))));
        assert!(TextTemplates::from_json(b"[]").is_err());
        assert!(TextTemplates::learn(&[], &TextOptions::default()).templates.is_empty());
    }
}
