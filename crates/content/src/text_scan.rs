//! Scans of texts, many bytes at a time.
//!
//! A branch for each byte of a text is mispredicted at most word boundaries. Here, bytes are compared without branches,
//! and only what was found is visited. Each function has its literal form in a test.
//!
//! - **Masks of 64 bytes** ([`Step::bits`], [`bits`]). Each byte becomes a flag of 0 or 1. Eight flags are a number of
//!   64 bits, with flag `i` at bit `8i`. [`GATHER`] has the bits 7, 14, .. 56. A product has flag `i` at bit `8i + 7k`
//!   for each `k` from 1 to 8. With `k = 8 - i` this is bit `56 + i`; every other pair lies below bit 56 or beyond bit
//!   63. No two pairs have the same bit, so nothing is carried. The highest byte of the product is the eight flags.
//! - **Runs** ([`for_each_run`]). A run begins or ends where a bit differs from the one before it: the mask XOR the
//!   mask shifted by one, with the last bit of the mask before.
//! - **Lower case** ([`hash_part`]). In ASCII, a capital and its small letter differ in one bit (0x20), which digits
//!   have, too. Eight bytes are lowered by one OR. What lies behind the part is cut off by a mask.
//! - **Sums in bytes** ([`count_bytes`], [`sum_of_classes`]). Of at most 255 bytes, each adds 0 or 1 to a byte of the
//!   sum, which cannot overflow. A loop over bytes is compiled to vector instructions; eight classes are counted at
//!   once in the eight bytes of a number.

use std::ops::Range;

use dehusk_html::mix;

/// Bits of a mask.
pub(super) const N: usize = 64;

/// Brings the lowest bits of eight bytes into the highest byte of the product.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// A bit for each flag, the first one lowest. A flag is 0 or 1.
pub(super) fn bits(flags: &[u8; N]) -> u64 {
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

/// Calls `each` with every longest run of bytes of a class, which does not have the byte 0.
pub(super) fn for_each_run(text: &[u8], is: impl Fn(u8) -> bool, mut each: impl FnMut(Range<usize>)) {
    let (mut open, mut last) = (None, 0);
    for (from, step) in steps(text) {
        // Bytes of 0 follow the text, and end its last run.
        let bits = step.bits(&is);
        for at in places(bits ^ (bits << 1 | last)) {
            match open.take() {
                Some(begin) => each(begin..from + at),
                None => open = Some(from + at),
            }
        }
        last = bits >> (N - 1);
    }
    if let Some(begin) = open {
        each(begin..text.len());
    }
}

/// Bytes whose sums fit into a byte.
const MOST_IN_BYTE: usize = 255;

/// Number of bytes of a class.
pub(super) fn count_bytes(text: &[u8], is: impl Fn(u8) -> bool) -> u32 {
    let count = |part: &[u8]| part.iter().map(|byte| u8::from(is(*byte))).sum::<u8>();
    text.chunks(MOST_IN_BYTE).map(|part| u32::from(count(part))).sum()
}

/// How many bytes of a text are of each of eight classes. `classes` has for each byte a 1 in the byte of each of its
/// classes.
pub(super) fn sum_of_classes(text: &[u8], classes: &[u64; 256]) -> [u32; 8] {
    let mut sums = [0; 8];
    for part in text.chunks(MOST_IN_BYTE) {
        let in_part: u64 = part.iter().map(|byte| classes[usize::from(*byte)]).sum();
        sums.iter_mut().zip(in_part.to_le_bytes()).for_each(|(sum, n)| *sum += u32::from(n));
    }
    sums
}

/// The bit of lower case letters, in eight bytes. Digits have it, and `_` becomes 0x7f.
pub(super) const LOWER_CASE: u64 = 0x2020_2020_2020_2020;

/// Hash of a part of a text, with these bits set in each eight of its bytes.
pub(super) fn hash_part(text: &[u8], part: Range<usize>, set: u64) -> u64 {
    let mut hash = part.len() as u64;
    for at in part.clone().step_by(8) {
        let n = (part.end - at).min(8);
        let bytes = match text[at..].first_chunk::<8>() {
            Some(bytes) => *bytes,
            None => {
                let mut bytes = [0; 8];
                bytes[..n].copy_from_slice(&text[at..at + n]);
                bytes
            }
        };
        hash = mix(hash, (u64::from_le_bytes(bytes) | set) & (u64::MAX >> (64 - 8 * n)));
    }
    hash
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

    #[test]
    fn runs_are_those_of_a_loop_over_the_bytes() {
        let is = |byte: u8| byte.is_ascii_lowercase();
        for n in [0, 1, 63, 64, 65, 128, 200] {
            for every in [1, 2, 5, 64, 300] {
                let text: Vec<u8> = (0..n).map(|at| if at % every == every - 1 { b' ' } else { b'a' }).collect();
                let (mut expected, mut open) = (Vec::new(), None);
                for at in 0..=n {
                    match (text.get(at).is_some_and(|byte| is(*byte)), open) {
                        (true, None) => open = Some(at),
                        (false, Some(begin)) => {
                            expected.push(begin..at);
                            open = None;
                        }
                        _ => {}
                    }
                }
                let mut found = Vec::new();
                for_each_run(&text, is, |run| found.push(run));
                assert_eq!(found, expected, "{n} {every}");
            }
        }
    }

    #[test]
    fn sums_are_those_of_a_loop_over_the_bytes() {
        let text: Vec<u8> = (0..2000_u32).map(|n| (n * n % 251) as u8).collect();
        let is_low = |byte: u8| byte < 200;
        let mut classes = [0_u64; 256];
        classes
            .iter_mut()
            .enumerate()
            .for_each(|(byte, of)| *of = u64::from(byte < 200) | u64::from(byte % 2 == 0) << 56);
        let count = |is: &dyn Fn(u8) -> bool| text.iter().filter(|byte| is(**byte)).count() as u32;
        assert_eq!(count_bytes(&text, is_low), count(&is_low));
        assert_eq!(sum_of_classes(&text, &classes), [count(&is_low), 0, 0, 0, 0, 0, 0, count(&|byte| byte % 2 == 0)]);
        assert_eq!(count_bytes(&[1; 600], |_| true), 600);
    }

    #[test]
    fn a_part_has_the_hash_of_its_lower_case_alone() {
        let text = b"The RYE, the barley2 and THE_oats";
        for begin in 0..text.len() {
            for end in begin..=text.len() {
                let lowered: Vec<u8> = text[begin..end].iter().map(|byte| byte | 0x20).collect();
                let expected = hash_part(&lowered, 0..lowered.len(), 0);
                assert_eq!(hash_part(text, begin..end, LOWER_CASE), expected, "{begin}..{end}");
            }
        }
    }
}
