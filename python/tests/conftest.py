"""What the tests share: the program, and the pages that lie beside the project."""

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SHARED = PROJECT.parent / "shared"


def site_page(name: str, text: str = "", site: str = "Grains") -> str:
    """A page of a small site."""
    text = text or f"All about {name}, told at some length, so that it is a paragraph and no label."
    return (
        f"<title>{name} - {site}</title><nav><a href=/>Home</a> <a href=/news>News</a></nav>"
        f"<main><h1>{name}</h1><p>{text}</p></main><footer>Some rights of {site}</footer>"
    )


@pytest.fixture
def grains() -> list[str]:
    return [site_page(name) for name in ("rye", "oats", "corn", "malt", "millet", "spelt")]


@pytest.fixture(scope="session")
def program() -> str:
    """The program dehusk."""
    named = os.environ.get("DEHUSK_PROGRAM")
    found = [named] if named else [str(PROJECT / "target" / profile / "dehusk") for profile in ("release", "debug")]
    for path in found:
        if Path(path).exists():
            return path
    pytest.skip("the program dehusk is not built")


@pytest.fixture
def dehusk_program(program, tmp_path):
    """Runs the program and gives its lines."""

    def run(*args: str, stdin: str | None = None) -> list[dict]:
        command = [program, *args]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.split("\n") if line]

    return run


def unpacked(archive: str, folder: str) -> Path:
    """A folder of an archive beside the project, unpacked below target/."""
    source, target = SHARED / archive, PROJECT / "target" / "corpus" / "python"
    if not source.exists():
        pytest.skip(f"{source} is not there")
    if not (target / folder).exists():
        target.mkdir(parents=True, exist_ok=True)
        with tarfile.open(source) as packed:
            packed.extractall(target, filter="data")
    return target / folder


@pytest.fixture(scope="session")
def dev_pages() -> list[dict]:
    """The pages with gold: lists of one page of a site each."""
    names = [("pages/pages-dev.tar.xz", "pages"), ("pages/pages-dev2.tar.xz", "pages2")]
    files = [file for archive, folder in names for file in sorted(unpacked(archive, folder).glob("*.jsonl"))]
    return [json.loads(line) for file in files for line in file.read_text().split("\n") if line]


@pytest.fixture(scope="session")
def dev_sites() -> list[Path]:
    """The folders of the sites with gold."""
    names = [("sites/sites-dev.tar.xz", "sites"), ("sites/sites-dev2.tar.xz", "sites2")]
    folders = [unpacked(archive, folder) for archive, folder in names]
    return [site for folder, split in zip(folders, ("dev", "dev2")) for site in sorted((folder / split).iterdir())]
