//! The settings that a run used for a site, by the names that they have in crawl.toml.

use maud::{Markup, html};
use serde::Serialize;
use serde_json::Value;

use super::layout::facts;

/// Keys of crawl.toml with their place in the settings of a run.
const SHOWN: [(&str, &str); 13] = [
    ("crawl.mode", "/crawl/mode"),
    ("crawl.pages_per_site", "/crawl/pages_per_site"),
    ("crawl.depth", "/crawl/depth"),
    ("crawl.order", "/crawl/order"),
    ("crawl.scope", "/crawl/scope"),
    ("crawl.include", "/crawl/include"),
    ("crawl.exclude", "/crawl/exclude"),
    ("politeness.delay", "/politeness/delay"),
    ("fetch.user_agent", "/fetch/user_agent"),
    ("label.by", "/core/learn/label_by"),
    ("subdigraph.n", "/core/learn/search/n"),
    ("clean.keep", "/core/clean/keep"),
    ("clean.favor", "/core/clean/favor"),
];

/// What was asked of a site's last run.
#[derive(Serialize)]
pub(super) struct InForce {
    /// Seconds between two requests: the setting, or what robots.txt asks for if that is more.
    delay: f64,
    /// Whether robots.txt asks for more than the setting.
    is_delay_of_robots: bool,
    settings: Vec<(&'static str, String)>,
}

impl InForce {
    /// `settings` of the run, as JSON; `crawl_delay` of the site's robots.txt, in seconds.
    pub(super) fn new(settings: &Value, crawl_delay: Option<f64>) -> InForce {
        let own = settings.pointer("/politeness/delay").and_then(seconds).unwrap_or_default();
        let most = settings.pointer("/politeness/max_crawl_delay").and_then(seconds).unwrap_or(f64::MAX);
        let asked = crawl_delay.unwrap_or_default().min(most);
        let shown = |(key, place): &(&'static str, &str)| Some((*key, written(settings.pointer(place)?)));
        InForce {
            delay: own.max(asked),
            is_delay_of_robots: asked > own,
            settings: SHOWN.iter().filter_map(shown).collect(),
        }
    }

    pub(super) fn render(&self) -> Markup {
        let source = if self.is_delay_of_robots { "robots.txt" } else { "politeness.delay" };
        let delay = html! { (self.delay) " s " span.source { (source) } };
        let values = self.settings.iter().map(|(key, value)| (*key, html! { code { (value) } }));
        facts(&std::iter::once(("between two requests", delay)).chain(values).collect::<Vec<_>>())
    }
}

/// A length of time, as it is stored.
fn seconds(value: &Value) -> Option<f64> {
    let part = |name: &str| value.get(name)?.as_f64();
    Some(part("secs")? + part("nanos")? / 1e9)
}

/// A value as crawl.toml would have it.
fn written(value: &Value) -> String {
    match seconds(value) {
        Some(seconds) => seconds.to_string(),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_settings::Settings;

    #[test]
    fn every_setting_that_is_shown_is_found() {
        let settings = serde_json::to_value(Settings::default()).unwrap();
        let in_force = InForce::new(&settings, None);
        assert_eq!(in_force.settings.len(), SHOWN.len());
        assert!(!in_force.is_delay_of_robots && in_force.delay > 0.0);
        let text = in_force.render().into_string();
        assert!(text.contains("<dt>subdigraph.n</dt><dd><code>8</code></dd>"), "{text}");
        let slow = InForce::new(&settings, Some(1000.0));
        assert_eq!((slow.delay, slow.is_delay_of_robots), (60.0, true), "no longer than politeness.max_crawl_delay");
    }
}
