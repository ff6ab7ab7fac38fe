//! When the next fetch of a key may start.

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

/// How long the requests of a key were under way.
///
/// A request is at its server somewhere between the moment it was sent and the head of the answer. One that opened a
/// connection, or waited for a core of ours, arrives later than the next one may, and measured from the start the gap
/// at the server would fall short by that. The fastest answer so far says how much of an answer's time was not delay on
/// the way: only what exceeds it can have been.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatencyEstimate {
    fastest: Option<Duration>,
    n: u32,
}

/// Answers after which the fastest one is believed. Until then, and whenever an answer is clearly faster than all before
/// it, the whole time of the answer counts as the way: there is nothing to compare it with.
const ENOUGH: u32 = 3;

/// What even the fastest answer may have been held up.
const MARGIN: Duration = Duration::from_millis(5);

impl LatencyEstimate {
    /// Takes an answer into account; returns how long after its sending the request may have arrived.
    fn longest(&mut self, took: Duration) -> Duration {
        self.n = self.n.saturating_add(1);
        let before = self.fastest.unwrap_or(took);
        let fastest = before.min(took);
        self.fastest = Some(fastest);
        match self.n <= ENOUGH || took + MARGIN < before {
            true => took,
            false => (took - fastest + MARGIN).min(took),
        }
    }
}

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

    /// Earliest next fetch; `own_delay` is what the key asked for, and never shortens the delay. `slowdown` is the
    /// factor that an overloaded key has earned.
    pub fn next_fetch(
        &self,
        times: Times,
        latency: &mut LatencyEstimate,
        own_delay: Duration,
        slowdown: u32,
    ) -> Instant {
        let took = times.ended.saturating_duration_since(times.sent);
        let delay = self.delay.max(own_delay).max(took.mul_f64(self.adaptive).min(self.most));
        let delay = if slowdown > 1 { (delay * slowdown).min(self.most).max(delay) } else { delay };
        match self.from {
            DelayFrom::End => times.ended + delay,
            DelayFrom::Start => {
                let arrived = times.answered.unwrap_or(times.ended);
                times.sent + latency.longest(arrived.saturating_duration_since(times.sent)) + delay
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    fn pace(from: DelayFrom, adaptive: f64) -> Pace {
        let delay = Duration::from_millis(1000);
        Pace::new(&Politeness { delay, delay_from: from, adaptive, ..Settings::default().politeness })
    }

    #[test]
    fn from_the_end_the_longest_delay_counts() {
        let start = Instant::now();
        let times = Times { sent: start, answered: Some(at(start, 30)), ended: at(start, 400) };
        let next = |pace: Pace, own, slowdown| {
            pace.next_fetch(times, &mut LatencyEstimate::default(), Duration::from_millis(own), slowdown) - start
        };
        let ms = Duration::from_millis;
        assert_eq!(next(pace(DelayFrom::End, 0.0), 0, 1), ms(1400));
        assert_eq!(next(pace(DelayFrom::End, 0.0), 2000, 1), ms(2400));
        assert_eq!(next(pace(DelayFrom::End, 0.0), 1, 1), ms(1400), "never shorter");
        assert_eq!(next(pace(DelayFrom::End, 0.0), 0, 4), ms(4400));
        assert_eq!(next(pace(DelayFrom::End, 5.0), 0, 1), ms(2400));
    }

    #[test]
    fn from_the_start_what_exceeds_the_fastest_answer_may_have_been_the_way() {
        let start = Instant::now();
        let mut latency = LatencyEstimate::default();
        let mut next = |took| {
            let times = Times { sent: start, answered: Some(at(start, took)), ended: at(start, took + 400) };
            (pace(DelayFrom::Start, 0.0).next_fetch(times, &mut latency, Duration::ZERO, 1) - start).as_millis() - 1000
        };
        // The first ones open the connection, and nothing is known to compare them with.
        assert_eq!([next(300), next(50), next(60)], [300, 50, 60]);
        assert_eq!([next(50), next(70), next(46), next(43), next(5000)], [5, 25, 5, 5, 4962]);
        assert_eq!([next(30), next(30), next(2)], [30, 5, 2], "a new fastest one");
    }
}
