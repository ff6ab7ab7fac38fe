//! When the next fetch of a domain may start.

use std::time::{Duration, Instant};

use crate::settings::{DelayFrom, Politeness};

/// The moments of one fetch.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// When the request was handed to the connection.
    pub sent: Instant,
    /// When the head of the answer came; the request had arrived by then.
    pub answered: Option<Instant>,
    /// When the last byte came, or the fetch failed.
    pub ended: Instant,
}

/// The rule for the gap between two fetches.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    delay: Duration,
    from: DelayFrom,
    adaptive: f64,
    most: Duration,
}

/// Most that a request can be thought to be under way. A request that opens a connection arrives later than the
/// next one on the same connection; measured from the start, the gap at the server would fall short by that.
const LONGEST_WAY: Duration = Duration::from_millis(50);

impl Pace {
    /// The rule of the settings.
    pub fn new(politeness: &Politeness) -> Pace {
        Pace {
            delay: politeness.delay,
            from: politeness.delay_from,
            adaptive: politeness.adaptive,
            most: politeness.max_back_off,
        }
    }

    /// Earliest next fetch; `own_delay` is what the domain asked for, and never shortens the delay. `slowdown` is the
    /// factor that an overloaded domain has earned.
    pub fn next_fetch(&self, times: Times, own_delay: Duration, slowdown: u32) -> Instant {
        let took = times.ended.saturating_duration_since(times.sent);
        let delay = self.delay.max(own_delay).max(took.mul_f64(self.adaptive).min(self.most));
        let delay = if slowdown > 1 { (delay * slowdown).min(self.most).max(delay) } else { delay };
        match self.from {
            DelayFrom::End => times.ended + delay,
            DelayFrom::Start => {
                let arrived = times.answered.unwrap_or(times.ended);
                let way = arrived.saturating_duration_since(times.sent).min(LONGEST_WAY);
                times.sent + way + delay
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn the_gap_runs_from_the_end_or_from_the_arrival() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let times = Times { sent: at(0), answered: Some(at(30)), ended: at(400) };
        let mut politeness = Settings::default().politeness;
        politeness.delay = Duration::from_millis(1000);
        assert_eq!(Pace::new(&politeness).next_fetch(times, Duration::ZERO, 1), at(1400));
        assert_eq!(Pace::new(&politeness).next_fetch(times, Duration::from_secs(2), 1), at(2400));
        assert_eq!(Pace::new(&politeness).next_fetch(times, Duration::from_millis(1), 1), at(1400), "never shorter");
        politeness.delay_from = DelayFrom::Start;
        assert_eq!(Pace::new(&politeness).next_fetch(times, Duration::ZERO, 1), at(1030));
        let slow = Times { answered: Some(at(5000)), ..times };
        assert_eq!(Pace::new(&politeness).next_fetch(slow, Duration::ZERO, 1), at(1050));
        politeness.delay_from = DelayFrom::End;
        assert_eq!(Pace::new(&politeness).next_fetch(times, Duration::ZERO, 4), at(4400));
        politeness.adaptive = 5.0;
        assert_eq!(Pace::new(&politeness).next_fetch(times, Duration::ZERO, 1), at(2400));
    }
}
