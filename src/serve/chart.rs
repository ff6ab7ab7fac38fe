//! Small charts as SVG, with their figures in a text for those who do not see them.

use maud::{Markup, html};

/// Bars of equal width. `labels` are said of each bar when it is pointed at.
pub(super) fn bars(title: &str, values: &[(i64, String)], mark: Option<usize>) -> Markup {
    const HEIGHT: f64 = 80.0;
    let most = values.iter().map(|(n, _)| *n).max().unwrap_or(0).max(1) as f64;
    let width = 600.0 / values.len().max(1) as f64;
    html! {
        svg.chart viewBox="0 0 600 84" preserveAspectRatio="none" role="img" aria-label=(title) {
            @for (at, (n, label)) in values.iter().enumerate() {
                @let height = (*n as f64 / most * HEIGHT).max(if *n > 0 { 1.0 } else { 0.0 });
                rect x=(format!("{:.2}", at as f64 * width)) y=(format!("{:.2}", 82.0 - height))
                    width=(format!("{:.2}", (width * 0.9).max(0.4))) height=(format!("{height:.2}")) { title { (label) } }
            }
            line.axis x1="0" y1="83" x2="600" y2="83" {}
            @if let Some(at) = mark {
                @let x = format!("{:.2}", at as f64 * width);
                line.mark x1=(x) y1="0" x2=(x) y2="83" {}
            }
        }
    }
}

/// A line of values from 0 to 1. Nothing for a single one.
pub(super) fn sparkline(values: &[f64]) -> Markup {
    let step = 58.0 / values.len().saturating_sub(1).max(1) as f64;
    let place = |(at, value): (usize, &f64)| {
        format!("{:.1},{:.1}", 1.0 + at as f64 * step, 15.0 - value.clamp(0.0, 1.0) * 14.0)
    };
    let points: Vec<String> = values.iter().enumerate().map(place).collect();
    let said = values.iter().map(|value| format!("{value:.2}")).collect::<Vec<_>>().join(", ");
    html! {
        @if values.len() > 1 {
            svg.spark viewBox="0 0 60 16" role="img" aria-label=(format!("confidence by run: {said}")) {
                title { (said) }
                polyline points=(points.join(" ")) {}
            }
        }
    }
}
