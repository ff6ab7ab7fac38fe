#!/usr/bin/env python3
"""Times pages whose cost must be linear: each kind at n, 2n and 4n, as Markdown, HTML and rows.

    scripts/bench_bombs.py target/release/dehusk                        # our own kinds
    scripts/bench_bombs.py target/release/dehusk --generators a.py      # and those of `a.py KIND N` (kinds: its text)
    scripts/bench_bombs.py target/release/dehusk --kinds amp,signs --scale 4

The figure is the time of a page of 4n over that of 2n, without that of an empty page, both the least of three runs. A
kind is flagged above 2.3. Times under 40 ms say nothing; --scale makes the pages longer. Exit code 1 if a kind is
flagged. Each run has 60 s and 6 GB.
"""
import argparse, re, resource, subprocess, sys, tempfile
from pathlib import Path

HEAD = "<!doctype html><title>t</title><h1>Title</h1><p>Rye grows in cold valleys, where mills stand near the water.</p>"

# Kind: pieces before, repeated and behind, and how often for n. `{i}` is the number of the repetition.
KINDS = {
    "ampersands": ("<p>", "&", "", 40_000),
    "ampersands_apart": ("<p>", "& ", "", 40_000),
    "formulas": ("<p>", "\\(a\\) ", "", 20_000),
    "formulas_open": ("<p>", "\\( $$ \\[ ", "", 20_000),
    "signs": ("<p>", "<b>(a)</b>b", "", 8_000),
    "links_in_bold": ("<p><b>", "<a href=/{i}>x</a> ", "</b>", 10_000),
    "columns": ("<table><tr>", "<th>a", "</tr>" + "<tr><td>b" * 4000 + "</table>", 4_000),
    "row_spans": ("<table>", "<tr><td rowspan=65534>a<td>b", "</table>", 4_000),
    "many_tables": ("", "<table><tr><th colspan=900>a<th>b<tr><td>c<td>d</table>", "", 2_000),
    "classes_of_code": ("<pre class='", "notranslate{i} highlight-x ", "'>a</pre>", 8_000),
    "notes": ("<p>", "<sup><a href=#f{i} id=r{i}>1</a></sup>", "", 8_000),
    "one_note": ("<ul><li id=f>a <a href=#r>back</a></ul><p id=r>", "<a href=#f>1</a> ", "", 10_000),
    "lazy_pictures": ("", "<noscript><img src=a.png></noscript><img data-src=a.png>", "", 8_000),
    "long_base": ("<base href='http://a.b/" + "x" * 60_000 + "'>", "<a href={i}>y</a> ", "", 8_000),
    "math_in_one_paragraph": ("<p>", "<math><semantics><mi>x</mi><annotation encoding=TeX>x</annotation></semantics></math> ", "", 2_000),
    "nested_lists": ("", "<ul><li>a", "", 4_000),
    "nested_quotes": ("", "<blockquote>a", "", 4_000),
    "marks": ("<p>", "<i>a<b>b</i>c</b>", "", 8_000),
    "code_spans": ("<p>", "<code>a`</code>", "", 8_000),
    "backticks": ("<p>", "`{i} ", "", 20_000),
    "brackets": ("<p>", "[x] ", "](", 20_000),
    "terms": ("<dl>", "<dt>a<dd>b", "</dl>", 8_000),
    "headings": ("", "<h2>A {i}</h2><p>b</p>", "", 8_000),
    "sources": ("<img srcset='", "a{i}.png {i}w, ", "b.png 1x'>", 8_000),
    "references": ("<p>", "&notit;&#x41;&ampx; ", "", 20_000),
    "times": ("", "<time datetime=2026-01-02>d</time> ", "", 8_000),
}
FORMS = {
    "markdown": ["--set", "clean.keep=main", "--format", "markdown"],
    "html": ["--format", "html"],
    "rows": ["--set", "clean.keep=main", "--rows"],
}


def own(kind, n):
    before, piece, behind, base = KINDS[kind]
    times = base * n
    return HEAD + before + "".join(piece.replace("{i}", str(i)) for i in range(times)) + behind


def foreign(generator, kind, n):
    return subprocess.run([sys.executable, generator, kind, str(n)], capture_output=True, text=True, check=True).stdout


def seconds(program, page, form):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "clean", page, "--alone", "--quiet", *FORMS[form]], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, preexec_fn=limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took if done.returncode == 0 else float("inf")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--generators", nargs="*", default=[])
    parser.add_argument("--kinds", default="")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--forms", default=",".join(FORMS))
    args = parser.parse_args()
    wanted = [kind for kind in args.kinds.split(",") if kind]
    pages = [(kind, lambda n, kind=kind: own(kind, n)) for kind in KINDS]
    for generator in args.generators:
        for kind in dict.fromkeys(re.findall(r'kind ?== ?"(\w+)"', Path(generator).read_text())):
            pages.append((kind, lambda n, kind=kind, generator=generator: foreign(generator, kind, 4000 * n)))
    pages = [(kind, make) for kind, make in pages if not wanted or kind in wanted]
    forms = args.forms.split(",")
    print(f"{'kind':24}{'KB':>8}  " + "  ".join(f"{form + ' s':>12} {'4n/2n':>6}" for form in forms))
    flagged = []
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.html")
        empty.write_text(HEAD)
        base = {form: min(seconds(args.program, empty, form) for _ in range(3)) for form in forms}
        for kind, make in pages:
            row, size = [], 0
            files = []
            for n in (2, 4):
                page = Path(folder, f"{n}.html")
                page.write_text(make(n * args.scale))
                files.append(page)
                size = page.stat().st_size
            for form in forms:
                half, whole = (max(min(seconds(args.program, page, form) for _ in range(3)) - base[form], 0.001) for page in files)
                ratio = whole / half if whole < float("inf") else float("inf")
                is_flagged = ratio > 2.3 and whole > 0.04
                flagged += [f"{kind} ({form})"] if is_flagged else []
                row.append(f"{whole:12.3f} {ratio:6.2f}" + ("!" if is_flagged else ""))
            print(f"{kind:24}{size / 1000:8.0f}  " + "  ".join(row), flush=True)
    print(f"\n{len(pages)} kinds, {len(flagged)} flagged: {', '.join(flagged) or 'none'}")
    return 1 if flagged else 0


if __name__ == "__main__":
    sys.exit(main())
