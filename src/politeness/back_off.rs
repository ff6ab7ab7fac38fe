//! How much longer than usual a key in back_off is left alone.
//!
//! An answer of 429 or 503, or none at all, doubles the wait each time; a few good answers halve it again, so that a
//! server that recovers is not pushed over at once.

use std::time::Duration;

/// Good answers in a row that undo one doubling.
const GOOD_ANSWERS: u8 = 3;

/// Nothing is put off for longer.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// Doublings at most.
const MOST: u8 = 16;

/// The n_back_offs of one key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BackOff {
    level: u8,
    good: u8,
    /// Connection failures in a row.
    failures: u32,
    /// Troubles so far; stirs the jitter.
    n_back_offs: u32,
}

impl BackOff {
    /// The wait after back_off: `base` doubled once more, a quarter more or less by chance, never under what was `asked`.
    pub(super) fn back_off(&mut self, base: Duration, asked: Duration, most: Duration, seed: u64) -> Duration {
        self.level = (self.level + 1).min(MOST);
        self.good = 0;
        self.n_back_offs = self.n_back_offs.wrapping_add(1);
        let mixed = (seed ^ u64::from(self.n_back_offs)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let jitter = 0.75 + 0.5 * mixed as f64 / (1_u64 << 24) as f64;
        let wait = base.saturating_mul(1 << u32::from(self.level)).min(most).mul_f64(jitter);
        wait.max(asked).min(LONGEST)
    }

    /// One more request without an answer; says how many in a row.
    pub(super) fn failed(&mut self) -> u32 {
        self.failures += 1;
        self.failures
    }

    /// The server has answered.
    pub(super) fn answered(&mut self) {
        self.failures = 0;
    }

    /// A good answer.
    pub(super) fn record_success(&mut self) {
        self.good += 1;
        if self.good >= GOOD_ANSWERS {
            self.good = 0;
            self.level = self.level.saturating_sub(1);
        }
    }

    /// Factor on the delay.
    pub(super) fn slowdown(&self) -> u32 {
        1 << u32::from(self.level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_with_jitter_and_recover_slowly() {
        let mut back_off = BackOff::default();
        let (base, most) = (Duration::from_secs(1), Duration::from_secs(60));
        let mut last = Duration::ZERO;
        for level in 1..=4 {
            let wait = back_off.back_off(base, Duration::ZERO, most, 7);
            let plain = base * (1 << level);
            assert!(wait >= plain.mul_f64(0.75) && wait <= plain.mul_f64(1.25) && wait > last, "{wait:?}");
            last = wait;
        }
        assert_eq!(back_off.slowdown(), 16);
        (0..3).for_each(|_| back_off.record_success());
        assert_eq!(back_off.slowdown(), 8);
        (0..90).for_each(|_| back_off.record_success());
        assert_eq!(back_off.slowdown(), 1);
        assert_eq!(back_off.back_off(base, Duration::from_secs(500), most, 7), Duration::from_secs(500));
        for _ in 0..100 {
            let _ = back_off.back_off(base, Duration::ZERO, most, 7);
        }
        assert!(back_off.back_off(base, Duration::ZERO, most, 7) <= most.mul_f64(1.25));
    }
}
