//! Made-up pages at any size: news under one known template, and piles of many templates.
#![allow(dead_code, reason = "each bench uses some")]

/// Words by Zipf's law.
pub struct Zipf {
    words: Vec<String>,
    /// Running sums of their weights.
    sums: Vec<f64>,
    state: u64,
}

const SYLLABLES: [&str; 24] = [
    "ba", "be", "bi", "bo", "da", "de", "di", "do", "ka", "ke", "ki", "ko", "la", "le", "li", "lo", "ma", "me", "mi",
    "mo", "ta", "te", "ti", "to",
];

impl Zipf {
    pub fn new(n_words: usize, seed: u64) -> Zipf {
        let mut zipf = Zipf { words: Vec::new(), sums: Vec::new(), state: seed };
        let mut sum = 0.0;
        for rank in 0..n_words {
            // The number of a word in base 24, so that no two are alike.
            let (mut rest, mut word) = (rank, String::new());
            loop {
                word += SYLLABLES[rest % SYLLABLES.len()];
                rest /= SYLLABLES.len();
                if rest == 0 {
                    break;
                }
            }
            zipf.words.push(word);
            sum += 1.0 / (rank as f64 + 2.7);
            zipf.sums.push(sum);
        }
        zipf
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % n.max(1) as u64) as usize
    }

    pub fn text(&mut self, n: usize) -> String {
        let mut out = String::new();
        for at in 0..n {
            let x = self.below(1 << 40) as f64 / (1_u64 << 40) as f64 * self.sums[self.sums.len() - 1];
            let word = &self.words[self.sums.partition_point(|sum| *sum < x).min(self.words.len() - 1)];
            if at > 0 {
                out.push(' ');
            }
            out.push_str(word);
            if at % 17 == 16 {
                out.push('.');
            }
        }
        out
    }
}

/// News pages under one template: menu, date line, article, sidebar, foot.
pub struct News {
    zipf: Zipf,
    pub menu: String,
    pub side: String,
    pub foot: String,
}

impl News {
    pub fn new() -> News {
        let mut zipf = Zipf::new(60_000, 7);
        let menu: Vec<String> = (0..60)
            .map(|n| format!("<li class=\"item-{n}\"><a href=\"/section/{n}\">{}</a></li>", zipf.text(2)))
            .collect();
        let side: Vec<String> = (0..30)
            .map(|_| format!("<div class=\"box\"><h3>{}</h3><p>{}</p></div>", zipf.text(3), zipf.text(25)))
            .collect();
        let foot: Vec<String> = (0..12).map(|_| format!("<p>{}</p>", zipf.text(30))).collect();
        News { menu: menu.concat(), side: side.concat(), foot: foot.concat(), zipf }
    }

    pub fn page(&mut self) -> String {
        let n = 8 + self.zipf.below(15);
        let paragraphs: Vec<String> = (0..n)
            .map(|_| {
                let words = 40 + self.zipf.below(80);
                format!("<p>{}</p>", self.zipf.text(words))
            })
            .collect();
        let (day, hour) = (1 + self.zipf.below(28), 10 + self.zipf.below(13));
        let title = self.zipf.text(8);
        format!(
            "<html><head><title>{title}</title></head><body><div id=\"top\"><ul class=\"menu\">{}</ul>\
            <span class=\"date\">Monday, {day} March 2007 {hour}:15</span></div><div id=\"main\"><h1>{title}</h1>{}</div>\
            <div id=\"side\">{}</div><div id=\"foot\">{}</div></body></html>",
            self.menu,
            paragraphs.concat(),
            self.side,
            self.foot
        )
    }
}

/// Menu, boxes, foot, and the element around the content.
type Template = (Vec<String>, Vec<String>, Vec<String>, &'static str);

/// A pile of pages of many templates, in turn; the template of page n is n modulo their number.
pub struct Pile {
    zipf: Zipf,
    templates: Vec<Template>,
    next: usize,
    /// Percent of the pages that have a part of the foot: with 100 they all share that.
    foot: usize,
}

impl Pile {
    pub fn new(n_templates: usize, foot: usize) -> Pile {
        let mut zipf = Zipf::new(20_000, 11);
        let templates = (0..n_templates)
            .map(|n| {
                let items = 30 + zipf.below(40);
                let menu = (0..items).map(|i| format!("<li><a href=\"/{i}\">{}</a></li>", zipf.text(3))).collect();
                let boxes = 5 + zipf.below(10);
                let side = (0..boxes)
                    .map(|_| format!("<div><h3>{}</h3><p>{}</p></div>", zipf.text(3), zipf.text(9)))
                    .collect();
                let spans = 20 + zipf.below(30);
                let foot = (0..spans).map(|_| format!("<span>{}</span>", zipf.text(4))).collect();
                let wrap = ["div", "section", "main", "article"][n % 4];
                (menu, side, foot, wrap)
            })
            .collect();
        Pile { zipf, templates, next: 0, foot }
    }

    pub fn page(&mut self) -> String {
        let at = self.next % self.templates.len();
        self.next += 1;
        let paragraphs = 3 + self.zipf.below(6);
        let own: Vec<String> = (0..paragraphs).map(|_| format!("<p>{}</p>", self.zipf.text(20))).collect();
        // Some items and boxes are missing now and then.
        let zipf = &mut self.zipf;
        let mut some = |of: usize, share: usize| (0..of).map(|_| zipf.below(100) < share).collect::<Vec<bool>>();
        let (menu, side, foot, wrap) = &self.templates[at];
        let (in_menu, in_side, in_foot) = (some(menu.len(), 97), some(side.len(), 90), some(foot.len(), self.foot));
        let pick = |list: &[String], keep: &[bool]| {
            list.iter().zip(keep).filter(|(_, keep)| **keep).map(|(item, _)| item.as_str()).collect::<String>()
        };
        let title = self.zipf.text(4);
        format!(
            "<html><head><title>{title}</title></head><body><nav><ul>{}</ul></nav><{wrap}><h1>{title}</h1>{}</{wrap}>\
            <aside>{}</aside><footer>{}</footer></body></html>",
            pick(menu, &in_menu),
            own.concat(),
            pick(side, &in_side),
            pick(foot, &in_foot),
        )
    }
}

/// Most memory that the process has held, in bytes; 0 where the system does not say.
pub fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok()).unwrap_or(0) * 1024
}
