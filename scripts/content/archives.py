"""The archives of gold in ../shared, unpacked once below target/content/."""

import shutil
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
CACHE = ROOT / "target" / "content"
ARCHIVES = {
    "pages": ("pages/pages-dev.tar.xz", ["cttf", "wwwxmu", "wcxb"]),
    "pages2": ("pages/pages-dev2.tar.xz", ["wcxb_multi", "l3s", "dragnet", "snippets"]),
    "pages3": ("pages/pages-dev3.tar.xz", ["cttf3", "wwwxmu3", "l3s3", "dragnet3", "wcxb_multi3", "news"]),
    "sites": ("sites/sites-dev.tar.xz", ["sites"]),
    "sites2": ("sites/sites-dev2.tar.xz", ["sites2"]),
    "sites3": ("sites/sites-dev3.tar.xz", ["sites3"]),
    "sites4": ("sites/sites-dev4.tar.xz", ["sites4"]),
    "sites5": ("sites/sites-dev5.tar.xz", ["sites5"]),
    "sites6": ("sites/sites-dev6.tar.xz", ["sites6"]),
}


def unpacked(folder):
    place = CACHE / folder
    if not (place / "complete").exists():
        place.mkdir(parents=True, exist_ok=True)
        with tarfile.open(SHARED / ARCHIVES[folder][0]) as archive:
            archive.extractall(place, filter="data")
        if folder == "sites":
            # Labels of trees built with scripting on, as ours are, where they differ.
            for labels in (SHARED / "sites" / "scripting-on").glob("*.jsonl"):
                shutil.copyfile(labels, place / folder / "labels" / "dev" / labels.name)
        (place / "complete").touch()
    return place / folder
