//! The page that a site gives for an address that it does not have.

use dehusk_html::hash_str;
use serde::{Deserialize, Serialize};

/// The own words of the page that a site gives with status 200 for an address that it does not have, as hashes; none,
/// if it says that there is no such page.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MissingPage(Vec<u32>);

/// Share of the words of two pages that both have, from which on they say the same.
const ALIKE: f64 = 0.9;

impl MissingPage {
    /// The words of a text, but for those of its address: such a page often repeats it.
    pub fn new(text: &str, address: &str) -> MissingPage {
        let words = |text: &str| {
            let text = text.to_lowercase();
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(|word| hash_str(word) as u32).collect::<Vec<u32>>()
        };
        let of_address = words(address);
        let mut own: Vec<u32> = words(text).into_iter().filter(|word| !of_address.contains(word)).collect();
        own.sort_unstable();
        own.dedup();
        MissingPage(own)
    }

    /// Whether another page says the same. A page without words says nothing.
    pub fn is_alike(&self, other: &MissingPage) -> bool {
        let shared = self.0.iter().filter(|word| other.0.binary_search(word).is_ok()).count();
        let all = self.0.len() + other.0.len() - shared;
        shared > 0 && shared as f64 >= ALIKE * all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_say_the_same_are_alike() {
        let page = |text: &str, address: &str| MissingPage::new(text, address);
        let missing = page("Nothing is here at /x17. Try the search, or begin at the front page.", "/x17");
        assert!(
            missing.is_alike(&page("Nothing is here at /rye. Try the search, or begin at the front page.", "/rye"))
        );
        assert!(!missing.is_alike(&page("Rye is a grain. Try the search for more of it.", "/rye")));
        assert!(page("Nope", "/x").is_alike(&page("nope!", "/y")) && !page("Nope", "/x").is_alike(&page("Yes", "/y")));
        assert!(!page("", "/x").is_alike(&page("", "/y")) && !MissingPage::default().is_alike(&missing));
    }
}
