//! Plots of few figures: stacked bars as SVG that loads nothing, and bars of block characters for a terminal.

pub mod nights;

use std::fmt::Write as _;

use crate::safe_html::escaped;

/// Colors of series, told apart by people who see few colors (Okabe and Ito 2008).
const COLORS: [&str; 5] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#999999"];

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 120.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 34.0;
/// From one panel to the next.
const PANEL: f64 = HEIGHT + TOP + 36.0;

/// Bars over classes, such as nights; the parts of a bar stand on each other.
pub struct Bars {
    /// What is counted.
    pub title: String,
    /// The unit of the values, such as `pages`.
    pub unit: &'static str,
    /// What each bar stands for.
    pub labels: Vec<String>,
    /// Names of the parts, and the value of each for each bar.
    pub series: Vec<(&'static str, Vec<f64>)>,
    /// A line between two bars, and what it stands for.
    pub mark: Option<(f64, String)>,
}

/// Plots below each other, as one SVG file.
pub fn svg(plots: &[Bars]) -> String {
    let height = PANEL * plots.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" font-family=\"sans-serif\" font-size=\"12\" \
         role=\"img\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        LEFT + WIDTH + 16.0
    );
    for (at, plot) in plots.iter().enumerate() {
        let _ = writeln!(out, "<g transform=\"translate(0 {})\">{}</g>", PANEL * at as f64, plot.panel());
    }
    out + "</svg>\n"
}

impl Bars {
    fn total(&self, bar: usize) -> f64 {
        self.series.iter().filter_map(|(_, values)| values.get(bar)).sum()
    }

    fn panel(&self) -> String {
        let n = self.labels.len().max(1);
        let most = (0..n).map(|bar| self.total(bar)).fold(1.0, f64::max);
        let (step, base) = (WIDTH / n as f64, TOP + HEIGHT);
        let mut out = format!("<text x=\"8\" y=\"16\" font-weight=\"bold\">{}</text>", escaped(&self.title));
        for (at, (name, _)) in self.series.iter().enumerate().filter(|_| self.series.len() > 1) {
            let x = LEFT + WIDTH - 110.0 * (self.series.len() - at) as f64;
            let color = COLORS[at % COLORS.len()];
            let _ = write!(
                out,
                "<rect x=\"{x}\" y=\"8\" width=\"9\" height=\"9\" fill=\"{color}\"/><text x=\"{}\" y=\"16\">{}</text>",
                x + 13.0,
                escaped(name)
            );
        }
        for (bar, label) in self.labels.iter().enumerate() {
            let mut y = base;
            let said: Vec<String> =
                self.series.iter().map(|(name, values)| format!("{name} {}", short(values[bar]))).collect();
            let _ = write!(out, "<g><title>{}: {}</title>", escaped(label), escaped(&said.join(", ")));
            for (at, (_, values)) in self.series.iter().enumerate() {
                let height = values[bar].max(0.0) / most * HEIGHT;
                y -= height;
                let _ = write!(
                    out,
                    "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{}\"/>",
                    LEFT + step * bar as f64,
                    (step * 0.9).max(0.5),
                    COLORS[at % COLORS.len()]
                );
            }
            out += "</g>";
        }
        let _ = write!(
            out,
            "<path d=\"M{LEFT} {TOP}V{base}H{}\" fill=\"none\" stroke=\"#555\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><text x=\"{}\" y=\"{base}\" text-anchor=\"end\">0</text>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
            LEFT + WIDTH,
            LEFT - 6.0,
            TOP + 10.0,
            short(most),
            LEFT - 6.0,
            LEFT - 6.0,
            TOP + 26.0,
            self.unit
        );
        if let (Some(first), Some(last)) = (self.labels.first(), self.labels.last()) {
            let y = base + 16.0;
            let _ = write!(out, "<text x=\"{LEFT}\" y=\"{y}\">{}</text>", escaped(first));
            if self.labels.len() > 1 {
                let _ =
                    write!(out, "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{}</text>", LEFT + WIDTH, escaped(last));
            }
        }
        if let Some((at, label)) = &self.mark {
            let x = LEFT + step * at;
            let _ = write!(
                out,
                "<path d=\"M{x:.1} {TOP}V{base}\" stroke=\"#d55e00\" stroke-dasharray=\"4 3\"/>\
                 <text x=\"{:.1}\" y=\"{}\" fill=\"#d55e00\" text-anchor=\"end\">{}</text>",
                x - 4.0,
                TOP + 10.0,
                escaped(label)
            );
        }
        out
    }
}

/// A number with at most three digits and a prefix: `12.3k`.
pub fn short(n: f64) -> String {
    let steps = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (value, prefix) = steps.into_iter().find(|(of, _)| n >= *of).map_or((n, ""), |(of, prefix)| (n / of, prefix));
    let digits = usize::from(value < 100.0 && value.fract() > 0.049);
    format!("{value:.digits$}{prefix}")
}

/// Values as block characters: the greatest is a full one, and what is not zero shows.
pub fn blocks(values: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = values.iter().copied().fold(0.0, f64::max);
    let block = |value: &f64| match value / most {
        share if share > 0.0 => BLOCKS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1],
        _ => ' ',
    };
    values.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_on_each_other_and_names_are_escaped() {
        let plot = Bars {
            title: "a < b".to_owned(),
            unit: "pages",
            labels: vec!["1".to_owned(), "2".to_owned()],
            series: vec![("new", vec![3.0, 0.0]), ("changed", vec![1.0, 2.0])],
            mark: Some((1.0, "delay".to_owned())),
        };
        let text = svg(&[plot]);
        assert!(text.contains("a &lt; b") && !text.contains("a < b"));
        assert!(text.contains("<title>1: new 3, changed 1</title>"));
        // The first bar is the highest: its parts end at the top of the panel.
        assert!(text.contains(&format!("y=\"{TOP:.1}\"")), "{text}");
    }

    #[test]
    fn values_show_as_blocks() {
        assert_eq!(blocks(&[0.0, 1.0, 50.0, 100.0]), " ▁▄█");
        assert_eq!(blocks(&[0.0, 0.0]), "  ");
        assert_eq!([0.0, 999.0, 1000.0, 12_345.0, 1.5e6].map(short), ["0", "999", "1k", "12.3k", "1.5M"]);
    }
}
