"""Whatever the bytes are, there is an answer or a ValueError."""

import random

import pytest
from conftest import PROJECT

import dehusk

HOSTILE = {
    "deep": "<div>" * 200_000,
    "deep and closed": "<b><i>" * 20_000 + "x" + "</i></b>" * 20_000,
    "tables in tables": "<table><tr><td>" * 3_000,
    "formatting never closed": "<a><b><p>" * 5_000,
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x",
    "one attribute": "<p a=" + "x" * 5_000_000 + ">x",
    "nulls": "\0" * 100_000,
    "frameset": "<frameset><frame src=x></frameset>",
    "templates": "<template><p>x</template>" * 1_000,
    "no end of comment": "<!--" + "x" * 1_000_000,
    "no end of script": "<script>" + "x" * 1_000_000,
    "select": "<select><option><table><p>x" * 1_000,
    "svg and math": "<svg><math><p><foreignObject><p>x" * 500,
    "right to left": "\u202e<p>\u200f\u0627\u0644" * 1_000,
    "lists": "<ul><li>" * 5_000,
    "large": "<p>word word</p>" * 1_500_000,
}
BYTES = [
    b"",
    b"\xff\xfe",
    b"\xff\xfe<\0p\0>\0x",
    b"\xfe\xff\0<",
    b"\xef\xbb\xbf<p>x",
    b"\x1f\x8b\x08\0",
    bytes(range(256)) * 50,
]


def use_all(html):
    """Everything that can be done with a page."""
    page = dehusk.Page(html, "http://a.org/")
    assert page.metadata is not None and page.notes is not None
    for output in ("text", "markdown", "html", "json"):
        assert dehusk.extract(page, output=output) is None or True
    try:
        model = dehusk.SiteModel.learn([page, "<nav>Home</nav><p>One page.", "<nav>Home</nav><p>And another."])
    except ValueError:
        return
    cleaned = model.clean(page)
    assert len(cleaned.labels) == page.n_nodes
    assert dehusk.SiteModel.from_bytes(model.to_bytes()) == model
    cleaned.row(html=True, comments=True)
    model.add(page)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages(name):
    use_all(HOSTILE[name])


def test_hostile_bytes():
    for html in BYTES:
        use_all(html)


def test_the_corpus_of_the_fuzzer():
    files = [file for file in (PROJECT / "tests" / "fuzz").rglob("*") if file.is_file() and file.suffix != ".rs"]
    assert len(files) > 50
    for file in files:
        data = file.read_bytes()
        use_all(data)
        with pytest.raises(ValueError):
            dehusk.SiteModel.from_bytes(data + b"x")


def test_random_bytes_and_tags():
    random.seed(17)
    tags = ["p", "table", "tr", "td", "ul", "li", "a", "b", "script", "style", "template", "svg", "select", "form"]
    for _ in range(300):
        parts = []
        for _ in range(random.randrange(60)):
            tag = random.choice(tags)
            parts.append(
                random.choice([f"<{tag}>", f"</{tag}>", f"<{tag} class='x y' id=z>", "text ", "&amp;&#0;", "<"])
            )
        use_all("".join(parts))
        use_all(random.randbytes(random.randrange(200)))


def test_damaged_models_are_refused():
    random.seed(17)
    pages = [f"<nav>Home</nav><h1>{n}</h1><p>Page {n} of a site." for n in range(6)]
    data = bytearray(dehusk.SiteModel.learn(pages).to_bytes())
    for _ in range(300):
        damaged = bytearray(data)
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
        with pytest.raises(ValueError):
            dehusk.SiteModel.from_bytes(
                bytes(damaged[: random.randrange(len(damaged))] if random.random() < 0.5 else damaged)
            )
