"""Figure 1 of Gottron 2008: seconds against the number of pages, for each distance of `dehusk cluster`.

    scripts/gottron_curve.py FOLDER [--pages 25,50,100,200,400,800,1600] [--runs 3]

FOLDER holds HTML pages. A subset has the pages at equal steps in the list of paths, so that it has pages of each site
below FOLDER; a number above that of the pages means all of them. Each cell has the CPU seconds of the whole process,
and in brackets the seconds for all pairs after reading, on one thread, the least of the runs. The last row is the
exponent of growth: the slope of a line through the logarithms. A distance whose process took more than 60 s is not
measured with more pages. Needs target/release/dehusk, or the program that PROGRAM names.
"""

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("PROGRAM", ROOT / "target" / "release" / "dehusk")
METHODS = ["rtdm", "cp", "cps", "ctss"]
MOST = 60.0


def seconds(method: str, folder: str, runs: int) -> tuple[float, float]:
    """CPU seconds of the process, and seconds after reading."""
    command = [PROGRAM, "cluster", folder, "--method", method, "--set", "papers.cluster.distance=0", "--json"]
    found = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [*command, "--quiet", "--config", "/dev/null"],
            check=True,
            stdout=subprocess.PIPE,
            env={**os.environ, "RAYON_NUM_THREADS": "1"},
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append((whole, json.loads(run.stdout)["seconds"]))
    return min(whole for whole, _ in found), min(pairs for _, pairs in found)


def slope(points: list[tuple[int, float]]) -> float:
    """The exponent of growth, by least squares on the logarithms; of one point there is none."""
    if len(points) < 2:
        return math.nan
    logs = [(math.log(pages), math.log(max(took, 1e-6))) for pages, took in points]
    x, y = (sum(column) / len(logs) for column in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", default="25,50,100,200,400,800,1600")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    paths = sorted(given.folder.rglob("*.html"))
    numbers = sorted({min(int(n), len(paths)) for n in given.pages.split(",")})
    curves: dict[str, dict[int, tuple[float, float]]] = {method: {} for method in METHODS}
    print(f"| pages | {' | '.join(METHODS)} |\n|{'---|' * (len(METHODS) + 1)}")
    for number in numbers:
        cells = []
        with tempfile.TemporaryDirectory() as folder:
            for at in range(number):
                shutil.copyfile(paths[at * len(paths) // number], Path(folder, f"{at}.html"))
            for method, curve in curves.items():
                if any(whole > MOST for whole, _ in curve.values()):
                    cells.append("-")
                    continue
                curve[number] = seconds(method, folder, given.runs)
                cells.append("{:.3f} ({:.4f})".format(*curve[number]))
        print(f"| {number:,} | {' | '.join(cells)} |", flush=True)
    parts = [[slope([(n, took[k]) for n, took in curve.items()]) for k in (0, 1)] for curve in curves.values()]
    print(f"| exponent | {' | '.join('{:.2f} ({:.2f})'.format(*pair) for pair in parts)} |")


if __name__ == "__main__":
    main()
