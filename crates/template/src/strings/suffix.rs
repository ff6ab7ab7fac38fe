//! Suffix array and longest common prefixes over token ids.

use libsais::SuffixArrayConstruction;

use super::StringsError;

/// A text of token ids with its sorted suffixes.
pub(super) struct Suffixes {
    pub(super) text: Vec<i32>,
    /// Start of the suffix of each rank.
    pub(super) array: Vec<i32>,
    /// For each text position, the length of the longest common prefix of its suffix and the suffix of the previous
    /// rank. This permuted form avoids a second array of that size.
    permuted: Vec<i32>,
}

impl Suffixes {
    /// Builds the array in linear time: libsais with induced sorting, and the prefixes after Kärkkäinen, Manzini and
    /// Puglisi.
    pub(super) fn new(mut text: Vec<i32>) -> Result<Suffixes, StringsError> {
        if text.is_empty() {
            return Ok(Suffixes { text, array: Vec::new(), permuted: Vec::new() });
        }
        let failed = |e: libsais::LibsaisError| StringsError::SuffixArray(format!("{e:?}"));
        let array = SuffixArrayConstruction::for_text_mut(&mut text)
            .in_owned_buffer32()
            .single_threaded()
            .run()
            .map_err(failed)?;
        let with_prefixes = array.plcp_construction().single_threaded().run().map_err(failed)?;
        let (array, permuted, ..) = with_prefixes.into_parts();
        Ok(Suffixes { text, array, permuted })
    }

    /// Length of the common prefix of the suffixes of ranks `rank - 1` and `rank`; 0 for the first rank.
    pub(super) fn prefix(&self, rank: usize) -> u32 {
        if rank == 0 { 0 } else { self.permuted[self.array[rank] as usize] as u32 }
    }

    /// Drops the prefixes to free memory.
    pub(super) fn without_prefixes(self) -> Suffixes {
        Suffixes { permuted: Vec::new(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn suffixes(text: &str) -> Suffixes {
        Suffixes::new(text.bytes().map(i32::from).collect()).unwrap()
    }

    #[test]
    fn kingkong() {
        let of_kingkong = suffixes("KINGKONG");
        assert_eq!(of_kingkong.array, [7, 3, 1, 0, 4, 6, 2, 5]);
        let prefixes: Vec<u32> = (0..8).map(|rank| of_kingkong.prefix(rank)).collect();
        assert_eq!(prefixes, [0, 1, 0, 0, 1, 0, 2, 0]);
        assert!(suffixes("").array.is_empty());
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_plain_sort(text in proptest::collection::vec(0..5_i32, 0..200)) {
            let suffixes = Suffixes::new(text.clone()).unwrap();
            let mut sorted: Vec<i32> = (0..text.len() as i32).collect();
            sorted.sort_by(|a, b| text[*a as usize..].cmp(&text[*b as usize..]));
            prop_assert_eq!(&suffixes.array, &sorted);
            for rank in 1..text.len() {
                let (a, b) = (&text[sorted[rank - 1] as usize..], &text[sorted[rank] as usize..]);
                let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
                prop_assert_eq!(suffixes.prefix(rank), shared as u32);
            }
        }
    }
}
