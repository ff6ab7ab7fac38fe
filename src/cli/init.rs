//! `dehusk init`: writes what a nightly crawl needs into a folder.

mod answers;
mod unit;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use super::{Failure, Outcome};
use answers::Answers;
use dehusk_settings::{Settings, SettingsError, render, render_some};

/// Write a commented crawl.toml, a seed list and systemd units into a folder.
///
/// On a terminal four questions are asked, unless options answer them. No file that is there is written over.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk init
  dehusk init crawl --agent 'mybot/1.0 (+https://my.org/bot)' --seed https://docs.example.org/ --at 02:00
  dehusk init --all-keys

Then `dehusk doctor` checks the files, and `dehusk crawl` begins.")]
pub(super) struct Init {
    /// The folder; it is made where there is none.
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The user agent: your own name, with a URL or a mail address for complaints.
    #[arg(long, value_name = "TEXT")]
    agent: Option<String>,
    /// A URL or a host to crawl; can be given more than once.
    #[arg(long = "seed", value_name = "URL")]
    seeds: Vec<String>,
    /// Pages of each site to fetch in one night.
    #[arg(long, value_name = "COUNT")]
    pages: Option<usize>,
    /// When the crawl begins each night, such as 02:00: units for systemd are written.
    ///
    /// `never` writes none.
    #[arg(long, value_name = "HH:MM")]
    at: Option<String>,
    /// Write every key into crawl.toml, not only those that people set first.
    #[arg(long)]
    all_keys: bool,
}

/// Keys that people set first. Values come from the answers.
const FIRST_KEYS: [&str; 12] = [
    "fetch.user_agent",
    "crawl.seeds",
    "crawl.pages_per_site",
    "crawl.scope",
    "crawl.never",
    "crawl.purpose",
    "crawl.max_seconds",
    "politeness.delay",
    "clean.keep",
    "store.path",
    "store.keep_versions",
    "store.keep_bytes",
];

impl Init {
    pub(super) fn run(&self) -> Outcome {
        let asks = io::stdin().is_terminal() && io::stderr().is_terminal();
        let answers = Answers::collect(self, asks)?;
        let settings = self.settings_file(&answers);
        check(&settings)?;
        let mut files =
            vec![(PathBuf::from("crawl.toml"), settings), (PathBuf::from("seeds.txt"), seed_list(&answers.seeds))];
        fs::create_dir_all(&self.dir).with_context(|| self.dir.display().to_string()).map_err(Failure::Work)?;
        let dir = self.dir.canonicalize().with_context(|| self.dir.display().to_string()).map_err(Failure::Work)?;
        if let Some(at) = &answers.at {
            files.push((PathBuf::from("dehusk.service"), unit::service(&dir)));
            files.push((PathBuf::from("dehusk.timer"), unit::timer(at)));
            files.push((PathBuf::from("dehusk-failed@.service"), unit::failed(&dir)));
        }
        if let Some((name, _)) = files.iter().find(|(name, _)| dir.join(name).exists()) {
            let place = dir.join(name);
            return Err(Failure::Nothing(anyhow!(
                "{} is there already, and stays; name another folder",
                place.display()
            )));
        }
        for (name, text) in &files {
            write_new(&dir.join(name), text)?;
        }
        self.say_what_is_next(&answers, &files, &mut io::stdout().lock())?;
        Ok(ExitCode::SUCCESS)
    }

    fn settings_file(&self, answers: &Answers) -> String {
        let text = |text: &str| toml::Value::from(text).to_string();
        let value_of = |key: &str| match key {
            "fetch.user_agent" => answers.agent.as_deref().map(text),
            "crawl.seeds" => Some("[\"seeds.txt\"]".to_owned()),
            "crawl.pages_per_site" => Some(answers.pages.to_string()),
            _ => None,
        };
        if self.all_keys {
            let set = |line: &str| {
                let key = line.split_once(" = ").map(|(key, _)| key);
                key.and_then(|key| Some(format!("{key} = {}", value_of(key)?))).unwrap_or_else(|| line.to_owned())
            };
            return render().lines().map(|line| set(line) + "\n").collect();
        }
        let keys: Vec<_> = FIRST_KEYS.iter().map(|key| (*key, value_of(key))).collect();
        let head = "# Settings of dehusk that people set first; lines that begin with # stand at their defaults. `dehusk init \
                    --all-keys`\n# in another folder writes a file with all keys.\n";
        head.to_owned() + &render_some(&keys)
    }

    fn say_what_is_next(&self, answers: &Answers, files: &[(PathBuf, String)], out: &mut impl Write) -> io::Result<()> {
        for (name, _) in files {
            writeln!(out, "wrote {}", self.dir.join(name).display())?;
        }
        writeln!(out, "\nnext:")?;
        if self.dir != Path::new(".") {
            writeln!(out, "  cd {}", self.dir.display())?;
        }
        if answers.seeds.is_empty() {
            writeln!(out, "  write the addresses of sites into seeds.txt, one on a line")?;
        }
        writeln!(out, "  dehusk doctor        # checks settings and machine, and says what a crawl would do")?;
        writeln!(out, "  dehusk crawl")?;
        if answers.at.is_some() {
            if unit::user() == "root" {
                writeln!(out, "  set User= in dehusk.service to a user of its own: it says root")?;
            }
            writeln!(out, "  cp dehusk.service dehusk.timer dehusk-failed@.service /etc/systemd/system/")?;
            writeln!(out, "  systemctl enable --now dehusk.timer")?;
        }
        Ok(())
    }
}

/// Whether the program reads what it is about to write. An answer can be wrong.
fn check(settings: &str) -> Result<(), Failure> {
    let loaded = Settings::load(Some(("crawl.toml", settings)), &[]);
    loaded.map(drop).map_err(|error: SettingsError| Failure::Usage(error.into()))
}

fn seed_list(seeds: &[String]) -> String {
    let mut text = String::from(
        "# One URL or host on a line. The first URL of a host is its key page, whose template is learned: an inner page\n\
         # of the kind that you want cleaned is often better than the home page. Further ones are pages of its site.\n",
    );
    for seed in seeds {
        text.push_str(seed);
        text.push('\n');
    }
    text
}

fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes());
    write().with_context(|| path.display().to_string()).map_err(Failure::Work)
}
