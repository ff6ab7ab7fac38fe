//! Bit masks of 64 bytes or flags at a time.
//!
//! A branch for each byte of a text is mispredicted at most word boundaries. The masks are computed without branches,
//! and only their set bits are visited.

/// Bits of a mask.
pub(super) const N: usize = 64;

/// A bit for each flag, the first one lowest. A flag is 0 or 1.
pub(super) fn bits(flags: &[u8; N]) -> u64 {
    /// Brings the lowest bits of eight bytes into the highest byte of the product.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, _) = flags.as_chunks::<8>();
    let gathered = eights.iter().map(|eight| u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56);
    gathered.enumerate().fold(0, |bits, (at, eight)| bits | eight << (8 * at))
}

/// The places of the bits that are set, ascending.
pub(super) fn places(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros() as usize;
        bits &= bits.checked_sub(1)?;
        Some(at)
    })
}

/// 64 bytes of a text; behind its end they are 0.
pub(super) struct Step([u8; N]);

/// The steps of a text, each with the place where it begins.
pub(super) fn steps(text: &[u8]) -> impl Iterator<Item = (usize, Step)> + '_ {
    text.chunks(N).enumerate().map(|(at, bytes)| {
        let mut step = [0; N];
        step[..bytes.len()].copy_from_slice(bytes);
        (at * N, Step(step))
    })
}

impl Step {
    /// A bit for each byte of a class.
    pub(super) fn bits(&self, is: impl Fn(u8) -> bool) -> u64 {
        bits(&self.0.map(|byte| u8::from(is(byte))))
    }
}

/// The characters of a text that are not ASCII.
pub(super) fn non_ascii(text: &str) -> impl Iterator<Item = char> + '_ {
    let begins = |(from, step): (usize, Step)| places(step.bits(|byte| byte >= 0xc0)).map(move |at| from + at);
    steps(text.as_bytes()).flat_map(begins).filter_map(|at| text.get(at..)?.chars().next())
}

/// The place of the first byte of a class.
pub(super) fn first_byte(text: &[u8], is: impl Fn(u8) -> bool) -> Option<usize> {
    steps(text).find_map(|(from, step)| places(step.bits(&is)).next().map(|at| from + at).filter(|at| *at < text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_say_which_bytes_are_asked_for() {
        let text: Vec<u8> = (0..150_u32).map(|n| (n * n % 127) as u8).collect();
        let is = |byte: u8| byte > 60;
        let found = steps(&text).flat_map(|(from, step)| places(step.bits(is)).map(move |at| from + at));
        let expected: Vec<usize> = (0..text.len()).filter(|at| is(text[*at])).collect();
        assert_eq!(found.collect::<Vec<usize>>(), expected);
        assert_eq!((first_byte(&text, is), first_byte(&text, |byte| byte == 127)), (Some(expected[0]), None));
        assert_eq!((first_byte(b"a", |byte| byte == 0), first_byte(&[1; 64], |byte| byte == 1)), (None, Some(0)));
        assert_eq!((places(u64::MAX).count(), places(0).count(), steps(b"").count()), (64, 0, 0));
    }

    #[test]
    fn characters_beyond_ascii_are_found() {
        let text = "a\u{a9}b\u{5317}\u{4eac} \u{1f33e}".repeat(30);
        assert!(non_ascii(&text).eq(text.chars().filter(|c| !c.is_ascii())));
        assert_eq!(non_ascii("rye").count() + non_ascii("").count(), 0);
    }
}
