//! Numbers of two bits.

/// Numbers from 0 to 3, four in a byte.
#[derive(Clone, Debug, Default)]
pub struct TwoBits {
    n: usize,
    /// The first number of each byte has its lowest bits.
    packed: Box<[u8]>,
}

impl TwoBits {
    /// Packs numbers; of a greater one, the lowest two bits.
    pub fn new(numbers: &[u8]) -> TwoBits {
        let byte = |four: &[u8]| four.iter().rev().fold(0, |byte, number| byte << 2 | number & 3);
        TwoBits { n: numbers.len(), packed: numbers.chunks(4).map(byte).collect() }
    }

    /// Number of numbers.
    pub fn n_values(&self) -> usize {
        self.n
    }

    /// The numbers.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut numbers = Vec::with_capacity(4 * self.packed.len());
        self.packed.iter().for_each(|byte| numbers.extend([0, 2, 4, 6].map(|bits| byte >> bits & 3)));
        numbers.truncate(self.n);
        numbers
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_given_back(numbers in proptest::collection::vec(0..4_u8, 0..40)) {
            let packed = TwoBits::new(&numbers);
            prop_assert_eq!(packed.n_values(), numbers.len());
            prop_assert_eq!(packed.to_vec(), numbers);
        }
    }
}
