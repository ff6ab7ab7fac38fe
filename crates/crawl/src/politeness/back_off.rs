//! Back-off of one politeness key after overload or failed connections.
//!
//! Each response 429 or 503 and each failed connection doubles the delay. Three successes in a row halve it once, so
//! that the load on a recovering server rises slowly.

use std::time::Duration;

/// Successes in a row that undo one doubling.
const GOOD_ANSWERS: u8 = 3;

/// Upper bound of any wait.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// Maximum number of doublings.
const MOST: u8 = 16;

/// Back-off state of one key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BackOff {
    level: u8,
    good: u8,
    /// Connection failures in a row.
    failures: u32,
    /// Back-offs so far. Varies the jitter.
    n_back_offs: u32,
}

impl BackOff {
    /// The state that [`BackOff::counts`] gave.
    pub(super) fn restored(doublings: u8, failures: u32) -> BackOff {
        BackOff { level: doublings.min(MOST), failures, ..BackOff::default() }
    }

    /// Number of doublings, and of failed connections in a row.
    pub(super) fn counts(&self) -> (u8, u32) {
        (self.level, self.failures)
    }

    /// Doubles the wait once more and returns it: `base` times the slowdown, at most `most`, with a jitter of ±25 %,
    /// never less than `asked` (`Retry-After`).
    pub(super) fn back_off(&mut self, base: Duration, asked: Duration, most: Duration, seed: u64) -> Duration {
        self.level = (self.level + 1).min(MOST);
        self.good = 0;
        self.n_back_offs = self.n_back_offs.wrapping_add(1);
        let mixed = (seed ^ u64::from(self.n_back_offs)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let jitter = 0.75 + 0.5 * mixed as f64 / (1_u64 << 24) as f64;
        let wait = base.saturating_mul(1 << u32::from(self.level)).min(most).mul_f64(jitter);
        wait.max(asked).min(LONGEST)
    }

    /// Counts a request without a response. Returns the number of them in a row.
    pub(super) fn failed(&mut self) -> u32 {
        self.failures += 1;
        self.failures
    }

    /// Resets the count of failed connections.
    pub(super) fn answered(&mut self) {
        self.failures = 0;
    }

    /// Counts a success; every third one in a row undoes one doubling.
    pub(super) fn record_success(&mut self) {
        self.good += 1;
        if self.good >= GOOD_ANSWERS {
            self.good = 0;
            self.level = self.level.saturating_sub(1);
        }
    }

    /// Factor by which the delay is multiplied.
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
