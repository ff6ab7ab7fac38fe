"""Compares the signals of lines in rows of an export with those of datatrove's own filters: compare_signals.py LINES...

LINES are JSON lines, packed with zstd. Ends with 1 and the first difference. tests/it/readers.rs calls it.
"""

import io
import json
import re
import sys

import zstandard
from datatrove.pipeline.filters.gopher_repetition_filter import GopherRepetitionFilter, find_duplicates
from datatrove.utils.text import TERMINAL_PUNCTUATION

ENDS = tuple(TERMINAL_PUNCTUATION)
GOPHER = GopherRepetitionFilter()


def signals(text):
    """The ratios of FineWebQualityFilter and GopherRepetitionFilter before they are compared with thresholds."""
    lines = [line for line in text.split("\n") if line.strip() != ""]
    yield "fineweb_line_punct_ratio", sum(line.endswith(ENDS) for line in lines) / len(lines)
    yield "fineweb_short_line_ratio", sum(len(line) <= 30 for line in lines) / len(lines)
    yield "fineweb_char_dup_ratio", find_duplicates(lines)[1] / len(text.replace("\n", ""))
    yield "fineweb_new_line_ratio", text.count("\n") / len(text.split())
    for name, parts in [
        ("para", GOPHER.paragraph_exp.split(text.strip())),
        ("line", GOPHER._line_splitter.split(text)),
    ]:
        again, chars = find_duplicates(parts)
        yield f"gopher_dup_{name}_frac", again / len(parts)
        yield f"gopher_dup_{name}_char_frac", chars / len(text)


def main(files):
    n = 0
    for file in files:
        with open(file, "rb") as packed:
            for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8"):
                row = json.loads(line)
                if not re.search(r"\S", row["text"]):
                    continue
                n += 1
                for name, expected in signals(row["text"]):
                    if abs(row[name] - expected) > 1e-6:
                        sys.exit(f"{row['url']}: {name} is {row[name]}, datatrove has {expected}")
    print(f"datatrove: the signals of {n} rows are the same")
    if n == 0:
        sys.exit("no rows")


main(sys.argv[1:])
