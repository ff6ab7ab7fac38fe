//! When the next fetch of a key may start.

use std::time::{Duration, Instant};

use dehusk_settings::{DelayFrom, Politeness};

/// Times of one fetch.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// When the request was handed to the HTTP client.
    pub sent: Instant,
    /// When the response head arrived, or the request failed. The request had reached the server by then.
    pub answered: Option<Instant>,
    /// When the last byte arrived, or the fetch failed.
    pub ended: Instant,
}

/// Computes the delay between two fetches of one key.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    delay: Duration,
    from: DelayFrom,
    adaptive: f64,
    most: Duration,
}

/// Estimates how long a request may take to reach the server.
///
/// With `delay_from = start` the gap between two requests must hold at the server. Connection set-up or CPU load here
/// can delay a request on its way and so shrink the gap to the next one. Upper bound of that time: the response time
/// minus the fastest response time seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatencyEstimate {
    fastest: Option<Duration>,
    n: u32,
}

/// Responses after which the fastest one is a reference. Before that, and for a response clearly faster than all
/// earlier ones, the upper bound is the whole response time.
const ENOUGH: u32 = 3;

/// Time by which even the fastest request may have been delayed.
const MARGIN: Duration = Duration::from_millis(5);

impl LatencyEstimate {
    /// Records a response time. Returns the longest time that the request may have taken to reach the server.
    fn longest(&mut self, took: Duration) -> Duration {
        self.n = self.n.saturating_add(1);
        let before = self.fastest.unwrap_or(took);
        let fastest = before.min(took);
        self.fastest = Some(fastest);
        if self.n <= ENOUGH || took + MARGIN < before { took } else { (took - fastest + MARGIN).min(took) }
    }
}

impl Pace {
    /// The delay rule of the settings.
    pub fn new(politeness: &Politeness) -> Pace {
        Pace {
            delay: politeness.delay,
            from: politeness.delay_from,
            adaptive: politeness.adaptive,
            most: politeness.max_back_off,
        }
    }

    /// Earliest time of the next fetch. `own_delay` is the key's own `Crawl-delay`; it never shortens the delay.
    /// `slowdown` is the factor of its back-off.
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
    use dehusk_settings::Settings;

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
        // The first requests open the connection, and there is no reference yet.
        assert_eq!([next(300), next(50), next(60)], [300, 50, 60]);
        assert_eq!([next(50), next(70), next(46), next(43), next(5000)], [5, 25, 5, 5, 4962]);
        assert_eq!([next(30), next(30), next(2)], [30, 5, 2], "a new fastest one");
    }
}
