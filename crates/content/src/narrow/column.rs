//! Numbers of up to 32 bits, most of which are small.

/// A column of numbers. Each is kept in as many bytes as most of them need; greater ones are in a list beside it.
#[derive(Clone, Debug, Default)]
pub struct NarrowColumn {
    values: Values,
    /// The greater numbers with their places, ascending.
    greater: Box<[(u32, u32)]>,
}

#[derive(Clone, Debug)]
enum Values {
    Bytes(Box<[u8]>),
    Shorts(Box<[u16]>),
    Words(Box<[u32]>),
}

impl Default for Values {
    fn default() -> Values {
        Values::Bytes(Box::default())
    }
}

impl NarrowColumn {
    /// Takes the width that needs the least memory.
    pub fn new(numbers: &[u32]) -> NarrowColumn {
        let beyond = |most: u32| numbers.iter().filter(|number| **number > most).count();
        let size = |most: u32, bytes: usize| bytes * numbers.len() + size_of::<(u32, u32)>() * beyond(most);
        let (bytes, shorts) = (size(u8::MAX.into(), 1), size(u16::MAX.into(), 2));
        let (values, most) = if bytes.min(shorts) >= 4 * numbers.len() {
            (Values::Words(numbers.into()), u32::MAX)
        } else if bytes <= shorts {
            (Values::Bytes(numbers.iter().map(|number| *number as u8).collect()), u8::MAX.into())
        } else {
            (Values::Shorts(numbers.iter().map(|number| *number as u16).collect()), u16::MAX.into())
        };
        let greater = numbers.iter().zip(0..).filter(|(number, _)| **number > most);
        NarrowColumn { values, greater: greater.map(|(number, at)| (at, *number)).collect() }
    }

    /// Number of numbers.
    pub fn n_values(&self) -> usize {
        match &self.values {
            Values::Bytes(values) => values.len(),
            Values::Shorts(values) => values.len(),
            Values::Words(values) => values.len(),
        }
    }

    /// Writes the numbers into a buffer.
    pub fn write_to(&self, numbers: &mut Vec<u32>) {
        numbers.clear();
        match &self.values {
            Values::Bytes(values) => numbers.extend(values.iter().map(|value| u32::from(*value))),
            Values::Shorts(values) => numbers.extend(values.iter().map(|value| u32::from(*value))),
            Values::Words(values) => numbers.extend_from_slice(values),
        }
        self.greater.iter().for_each(|(at, number)| numbers[*at as usize] = *number);
    }

    /// The numbers.
    pub fn to_vec(&self) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.n_values());
        self.write_to(&mut numbers);
        numbers
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_column_gives_back_what_it_was_given(
            numbers in proptest::collection::vec(prop_oneof![9 => 0..256_u32, 2 => 0..65_537_u32, 1 => any::<u32>()], 0..99),
        ) {
            let column = NarrowColumn::new(&numbers);
            let mut buffer = vec![7; 3];
            column.write_to(&mut buffer);
            prop_assert_eq!(&buffer, &numbers);
            prop_assert_eq!(column.to_vec().len(), column.n_values());
        }
    }

    #[test]
    fn a_column_is_as_wide_as_most_of_its_numbers() {
        let width = |numbers: &[u32]| match NarrowColumn::new(numbers).values {
            Values::Bytes(_) => 1,
            Values::Shorts(_) => 2,
            Values::Words(_) => 4,
        };
        let mut numbers = [200; 40];
        assert_eq!(width(&numbers), 1);
        numbers[0] = 70_000;
        assert_eq!(width(&numbers), 1, "one greater number");
        numbers.fill(60_000);
        assert_eq!(width(&numbers), 2);
        numbers.fill(70_000);
        assert_eq!(width(&numbers), 4);
    }
}
