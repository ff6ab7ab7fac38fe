"""Breaks the program in small ways, one at a time, and says whether a test notices.

    python3 scripts/mutants.py [--place DIR] [NAME ...]

Works on a copy of the last commit in DIR (target/mutants unless told), which has no pages beside it: a mutant must die
by what the project itself holds. Each mutant names the tests that should notice it, and only those run. Prints a line
for each mutant; ends with 1 if one survives or does not compile. All of them take about half an hour on two cores.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ["-p", "dehusk-core", "--lib"]
CONTENT = ["-p", "dehusk-content", "--lib"]
TEMPLATE = ["-p", "dehusk-template", "--lib", "--all-features"]
HTML = ["-p", "dehusk-html", "--lib"]
CRAWL = ["-p", "dehusk-crawl", "--lib"]
IT = ["-p", "dehusk", "--test", "it"]
MODEL = "crates/template/src/site_model"

# Name, file, what is there, what the mutant has, the tests: a target of cargo, and names.
MUTANTS = [
    (
        "a word ends where 64 bytes end",
        "crates/content/src/words.rs",
        "letters ^ (letters << 1 | last)",
        "letters ^ (letters << 1)",
        CONTENT,
        "words",
    ),
    (
        "a signature is its tag",
        f"{MODEL}/interner.rs",
        "mix(names, u64::from(self.tag) << 32 | u64::from(self.id))",
        "mix(0, names & 0 | u64::from(self.tag) << 32 | u64::from(self.id))",
        TEMPLATE,
        "site_model::",
    ),
    (
        "a change back to template costs nothing",
        f"{MODEL}/evidence.rs",
        "const BACK: f64 = 12.48;",
        "const BACK: f64 = 0.0;",
        TEMPLATE,
        "site_model::",
    ),
    (
        "ids are not searched for elsewhere",
        f"{MODEL}/align.rs",
        "by_id.filter(is_free)",
        "by_id.filter(|_| false)",
        TEMPLATE,
        "site_model::",
    ),
    (
        "children that may be equal are mapped by their shape",
        f"{MODEL}/same_shape.rs",
        "n > MOST || there.contains(&known)",
        "false",
        TEMPLATE,
        "site_model::same_shape",
    ),
    (
        "children in other positions are mapped by their shape",
        f"{MODEL}/same_shape.rs",
        "!(i.position == j.position || is_long)",
        "false",
        TEMPLATE,
        "site_model::same_shape",
    ),
    (
        "known nodes are mapped by their shape",
        f"{MODEL}/same_shape.rs",
        "self.known.get(before)",
        "self.known.get(before + 4)",
        TEMPLATE,
        "site_model::same_shape",
    ),
    (
        "moved subtrees are not found",
        f"{MODEL}/align.rs",
        "self.page.has_text[x] && self.is_found(x)",
        "false",
        TEMPLATE,
        "site_model::",
    ),
    (
        "idioms of other sources are removed, too",
        "src/cli/strings/cleaning.rs",
        "|hash| !idioms.contains(&hash)",
        "|_| true",
        IT,
        "strings::",
    ),
    (
        "nofollow of a page is not obeyed",
        "crates/crawl/src/workers/links.rs",
        "parsed.rules.nofollow ||",
        "",
        IT,
        "nightly::owners",
    ),
    (
        "a run ends before its archive",
        "crates/crawl/src/scheduler.rs",
        "self.is_stopping || closed.is_err()",
        "self.is_stopping",
        IT,
        "operating::a_run",
    ),
    (
        "slow senders are never given up",
        "crates/crawl/src/fetch/body.rs",
        "let enough = self.n_since as f64 >= min_rate as f64 * took.as_secs_f64();",
        "let enough = min_rate < usize::MAX;",
        IT,
        "hostile::",
    ),
    (
        "a long Crawl-delay is waited for",
        "crates/crawl/src/robots_cache.rs",
        ".filter(|delay| *delay > max_delay)",
        ".filter(|delay| *delay > max_delay * 1000)",
        IT,
        "politeness::a_crawl_delay",
    ),
    (
        "training pages weigh by their share, not by its square",
        f"{MODEL}/evidence.rs",
        "share.max(MIN_SHARE).powi(2)",
        "share.max(MIN_SHARE)",
        TEMPLATE,
        "site_model::",
    ),
    (
        "one training page is enough",
        f"{MODEL}/evidence.rs",
        ".clamp(1, 3)).max(0.375 * f64::from(evidence.n_of_its_kind))",
        ".clamp(1, 1))",
        TEMPLATE,
        "site_model::",
    ),
    (
        "texts are template more readily",
        f"{MODEL}/evidence.rs",
        "[-4.51, 2.65,",
        "[-3.51, 2.65,",
        TEMPLATE,
        "site_model::",
    ),
    (
        "every training page is of the page's kind",
        f"{MODEL}/evidence.rs",
        "const ITS_KIND: f32 = 0.2;",
        "const ITS_KIND: f32 = 0.0;",
        TEMPLATE,
        "site_model::",
    ),
    # Ten of our own choice.
    (
        "copies of the content are evidence",
        f"{MODEL}/mod.rs",
        "|| !loses_content(page, expected, &is_template)?",
        "|| page.len() > 0",
        TEMPLATE,
        "site_model::",
    ),
    (
        "another version of the page is evidence",
        f"{MODEL}/mod.rs",
        "(nearest.is_finite() && is_near).then_some(version)",
        "(nearest.is_nan() && is_near).then_some(version)",
        TEMPLATE,
        "site_model::",
    ),
    (
        "pages in another language count whole",
        f"{MODEL}/evidence.rs",
        "{ OTHERWISE } else { 1.0 }",
        "{ 1.0 } else { OTHERWISE.max(1.0) }",
        IT,
        "situations::the_menu_is_translated",
    ),
    (
        "no content root",
        f"{MODEL}/mod.rs",
        "is_template[nodes].fill(false);",
        "drop(nodes);",
        TEMPLATE,
        "site_model::",
    ),
    (
        "what all pages of a kind have counts as little as what some have",
        f"{MODEL}/evidence.rs",
        "const ON_ALL: f64 = 2.0;",
        "const ON_ALL: f64 = 0.0;",
        TEMPLATE,
        "site_model::",
    ),
    (
        "children of one place are paired whatever their classes are",
        f"{MODEL}/alike.rs",
        "a.tag == b.tag && a.classes == b.classes",
        "a.tag == b.tag",
        TEMPLATE,
        "site_model::",
    ),
    (
        "of equal pairs the last one is matched",
        f"{MODEL}/matching.rs",
        "if key < self.key {",
        "if key <= self.key {",
        TEMPLATE,
        "site_model::",
    ),
    (
        "a member is matched again",
        f"{MODEL}/matching.rs",
        "is_left(&best_left[of.left as usize]) && is_left",
        "is_left",
        TEMPLATE,
        "site_model::",
    ),
    (
        "a value is read each time",
        "crates/html/src/by_value.rs",
        "if **known == *value => *read,",
        "if false => *read,",
        HTML,
        "by_value",
    ),
    (
        "a value is taken for another one of its hash",
        "crates/html/src/by_value.rs",
        "if **known == *value",
        "if !known.is_empty()",
        HTML,
        "by_value",
    ),
    (
        "a sum is taken for that of other class names",
        "crates/content/src/word_lists.rs",
        "if **known == *spans",
        "if known.len() < 9",
        CONTENT,
        "word_lists",
    ),
    (
        "a child that is left over is mapped to any other",
        f"{MODEL}/align.rs",
        "if self.alike().is_alike(*i, *j, m, n) =>",
        "if m > 0 && n > 0 =>",
        TEMPLATE,
        "site_model::",
    ),
    (
        "a text of several runs ends with the second one",
        "crates/html/src/texts.rs",
        "std::iter::once(second).chain(runs)",
        "std::iter::once(second)",
        HTML,
        "",
    ),
    (
        "a text with a hidden character is written as it is",
        "crates/html/src/text.rs",
        "is_one_run(text, hides)",
        "is_one_run(text, |_| false)",
        HTML,
        "",
    ),
    (
        "the greater numbers of a column are lost",
        "crates/content/src/narrow.rs",
        "self.greater.iter().for_each(",
        "self.greater.iter().take(0).for_each(",
        CONTENT,
        "narrow::",
    ),
    (
        "buffers keep the numbers of the page before",
        f"{MODEL}/by_number.rs",
        "if *round == self.round { *first } else { LAST }",
        "*first",
        TEMPLATE,
        "site_model::",
    ),
    (
        "a page is of the last kind",
        f"{MODEL}/aligned.rs",
        "if coverage > aligned.confidence {",
        "if coverage >= 0.0 {",
        TEMPLATE,
        "site_model::",
    ),
    (
        "kept alignments mistake what has moved",
        f"{MODEL}/aligned.rs",
        "_ => NodeMatch::Moved,",
        "_ => NodeMatch::Equal,",
        TEMPLATE,
        "site_model::aligned",
    ),
    (
        "labels are confirmed without what the page model said",
        f"{MODEL}/confirm.rs",
        "expected.as_ref().map(|expected| by_node(&encoded, expected))",
        "expected.as_ref().map(|_| vec![0.0; encoded.len()])",
        TEMPLATE,
        "site_model::confirm",
    ),
    (
        "blocks that are made later are empty",
        f"{MODEL}/stored.rs",
        "page.blocks = Some(blocks.clone());",
        "page.blocks = Some(PageBlocks::default());",
        TEMPLATE,
        "site_model::",
    ),
    (
        "blocks of a slot are judged alone",
        "crates/content/src/slot_means.rs",
        "let share = SHARE * n / (n + HALF_AT);",
        "let share = 0.0 * n;",
        CONTENT,
        "slot_means",
    ),
    (
        "the amount is a fixed boundary",
        "crates/content/src/amount.rs",
        "let is_sure = best.0 >= SURE;",
        "let is_sure = best.0 >= 0.0;",
        CONTENT,
        "amount",
    ),
    (
        "votes: the threshold itself is not enough",
        "crates/template/src/etdm/votes.rs",
        ">= self.min_votes",
        "> self.min_votes",
        TEMPLATE,
        "template::",
    ),
    (
        "the delay of robots.txt is ignored",
        "crates/crawl/src/politeness/host_queues.rs",
        "Some(queue) => pace.next_fetch(times, &mut queue.latency, own_delay,",
        "Some(queue) => pace.next_fetch(times, &mut queue.latency, own_delay * 0,",
        IT,
        "politeness::robots_are_asked",
    ),
    (
        "the end of a robots rule is ignored",
        "crates/crawl/src/robots/rule.rs",
        "return !self.ends || rest.is_empty();",
        "return true;",
        CRAWL,
        "robots::",
    ),
    (
        "the inspector answers any Host",
        "src/serve/guard.rs",
        "if !access.is_named(host) {",
        "if host.len() > 1000 {",
        IT,
        "serve::only",
    ),
    (
        "the inspector takes a POST of any page",
        "src/serve/guard.rs",
        "if !is_same_site || !text(ORIGIN).is_none_or(is_own_origin) {",
        "if false {",
        IT,
        "serve::only",
    ),
    (
        "the end of a long text is not looked at",
        "crates/html/src/space.rs",
        "<= STEP + 1 && is_plain_step(last, &is_special)",
        "<= STEP + 1 && (is_plain_step(last, &is_special) || true)",
        HTML,
        "space",
    ),
    (
        "names are in the letters that a page writes",
        "crates/html/src/names/mod.rs",
        "let name = match is_plain(written) {",
        "let name = match !written.is_empty() {",
        HTML,
        "",
    ),
    (
        "a long name is the one that ends as it does",
        "crates/html/src/names/mod.rs",
        "(written.len() <= KEY_LETTERS || self.text(recent.name) == written)",
        "!written.is_empty()",
        HTML,
        "",
    ),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--place", default=ROOT / "target" / "mutants", type=Path)
    parser.add_argument("names", nargs="*", help="parts of the names of mutants; all unless told")
    given = parser.parse_args()
    copy = given.place / "main"
    if not copy.exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, copy], check=True)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    subprocess.run(["git", "fetch", "--quiet", "origin"], cwd=copy, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--force", "--detach", commit], cwd=copy, check=True)
    chosen = [mutant for mutant in MUTANTS if not given.names or any(name in mutant[0] for name in given.names)]
    for target in (CORE, CRAWL, IT):
        filters = {name for mutant in chosen if mutant[4] is target for name in mutant[5].split()}
        if filters and tests(copy, target, sorted(filters))[0] != "survived":
            sys.exit(f"the tests fail without a mutant: {' '.join(target)} {' '.join(filters)}")
    survivors = 0
    for name, file, there, instead, target, filters in chosen:
        text = (copy / file).read_text(encoding="utf-8")
        if text.count(there) != 1:
            sys.exit(f"{name}: {file} has {text.count(there)} places with {there}")
        (copy / file).write_text(text.replace(there, instead), encoding="utf-8")
        try:
            result, by, seconds = tests(copy, target, filters.split())
        finally:
            (copy / file).write_text(text, encoding="utf-8")
        survivors += result != "killed"
        print(f"{result:18} {seconds:4.0f} s  {name}  {by}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants were killed")
    return survivors > 0


def tests(copy, target, filters):
    """What became of a mutant, and the first test that noticed it."""
    start = time.monotonic()
    command = (
        ["cargo", "test", "--quiet", "--locked", "--features", "serve"]
        if target is not CORE
        else ["cargo", "test", "--quiet", "--locked"]
    )
    try:
        run = subprocess.run([*command, *target, "--", *filters], cwd=copy, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        return "killed", "it does not end", time.monotonic() - start
    seconds = time.monotonic() - start
    if run.returncode == 0:
        return "survived", "", seconds
    if "test result: FAILED" not in run.stdout:
        print(run.stderr[-2000:], file=sys.stderr)
        return "does not compile", "", seconds
    failed = [line.strip() for line in run.stdout.split("\nfailures:\n")[-1].splitlines() if line.startswith("    ")]
    return "killed", f"by {failed[0]}" if failed else "", seconds


if __name__ == "__main__":
    sys.exit(main())
