//! Document frequency of texts over the training pages (Gottron 2008, section 4).

use super::TrainingSet;
use super::encoded_page::EncodedPage;
use dehusk_content::Labels;
use dehusk_html::Tree;

impl TrainingSet {
    /// Labels by the share of the training set, the page itself among it, that holds a text: more than a third of it
    /// does ([`SiteModelOptions::frequent_share`](super::SiteModelOptions)), and a second page at all. An element is
    /// template when all of its text is.
    ///
    /// The paper has no "second page": with two pages or one it would delete everything. A training page with the
    /// content of this page does not count.
    pub fn label_by_frequency(&self, tree: &Tree) -> Labels {
        let mut page = EncodedPage::new(tree, &self.vocabulary);
        page.number(&self.interner);
        let n = page.len();
        let mut holders = vec![0_u16; n];
        let mut of_subtree = vec![0_u32; self.interner.n_subtrees()];
        let others = self.evidence_pages().filter(|other| other.digest != page.digest());
        let (mut n_others, mut subtrees) = (0, Vec::new());
        for (training_page, number) in others.zip(1..) {
            training_page.columns.subtree.write_to(&mut subtrees);
            subtrees.iter().for_each(|subtree| of_subtree[*subtree as usize] = number);
            for (node, holders) in holders.iter_mut().enumerate() {
                let known = of_subtree.get(page.columns.subtree[node] as usize);
                *holders += u16::from(page.signature(node).is_text() && known == Some(&number));
            }
            n_others += 1;
        }
        let most_of_own = self.options.frequent_share * f64::from(n_others + 1);
        let is_frequent = |holders: u16| holders >= 1 && f64::from(u32::from(holders) + 1) > most_of_own;
        // Texts below each node, and those of them that are not frequent.
        let (mut texts, mut own) = (vec![0_u32; n], vec![0_u32; n]);
        let mut is_template = vec![false; n];
        for node in (0..n).rev() {
            if page.signature(node).is_text() {
                (texts[node], own[node]) = (1, u32::from(!is_frequent(holders[node])));
            }
            is_template[node] = texts[node] > 0 && own[node] == 0;
            if node > 0 {
                let above = page.parent[node] as usize;
                (texts[above], own[above]) = (texts[above] + texts[node], own[above] + own[node]);
            }
        }
        let share = if texts.is_empty() || texts[0] == 0 { 0.0 } else { 1.0 - f64::from(own[0]) / f64::from(texts[0]) };
        Labels { is_template, support: holders, confidence: share, nearest: None }.shifted(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_model::SiteModelOptions;
    use dehusk_html::ParseOptions;
    use dehusk_html::{NodeId, parse};

    fn own(pages: &[&str]) -> Option<String> {
        own_above(pages, 1.0 / 3.0)
    }

    fn own_above(pages: &[&str], frequent_share: f64) -> Option<String> {
        let trees: Vec<Tree> = pages.iter().map(|html| parse(html, &ParseOptions::default())).collect();
        let numbered: Vec<(u64, &Tree)> = (0..).zip(&trees).collect();
        let (set, _) =
            TrainingSet::learn(&numbered, &SiteModelOptions { frequent_share, ..SiteModelOptions::default() })?;
        let labels = set.label_by_frequency(&trees[0]);
        let own =
            trees[0].counted().map(NodeId::new).filter(|n| trees[0].is_text(*n) && !labels.is_template[n.index()]);
        Some(own.map(|n| trees[0].text(n).to_owned()).collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn a_third_of_the_set_and_a_second_page() {
        let (a, b, c) = ("<p>menu<p>one", "<p>menu<p>two", "<p>three");
        assert_eq!(own(&[a]), None, "one page is no training set");
        assert_eq!(own(&[a, b]).unwrap(), "one", "the paper would delete all of a page of two");
        assert_eq!(own(&[a, b, c]).unwrap(), "one", "df 1 of 3 is not more than a third");
        // Two of six are no more than a third.
        assert_eq!(own(&[a, b, c, "<p>4", "<p>5", "<p>6"]).unwrap(), "menu|one");
        assert_eq!(own(&[a, b, c, "<p>4", "<p>5"]).unwrap(), "one");
        // A lower share takes what two of six have, a higher one leaves what two of three have.
        assert_eq!(own_above(&[a, b, c, "<p>4", "<p>5", "<p>6"], 0.2).unwrap(), "one");
        assert_eq!(own_above(&[a, b, c], 0.7).unwrap(), "menu|one");
    }

    #[test]
    fn a_third_is_exact_for_every_number_of_pages() {
        for n in 1..=4096_u32 {
            let most = 1.0 / 3.0 * f64::from(n);
            for holders in [n / 3, n / 3 + 1] {
                assert_eq!(f64::from(holders) > most, 3 * holders > n, "{holders} of {n}");
            }
        }
    }
}
