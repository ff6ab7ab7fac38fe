"""Learning and cleaning."""

import pickle
import re
from pathlib import Path

import pytest
from conftest import PROJECT, site_page

import dehusk


def test_the_scripts_of_the_readme_run(tmp_path, monkeypatch, grains):
    monkeypatch.chdir(tmp_path)
    for n, page in enumerate(grains):
        Path(f"{n}.html").write_text(page)
    Path("new.html").write_text(site_page("rice"))
    readme = (PROJECT / "python" / "README.md").read_text()
    scripts = re.findall(r"```python\n(.*?)```", readme, re.S)
    assert len(scripts) >= 3
    for script in scripts:
        exec(compile(script, "README.md", "exec"), {})


def test_a_model_cleans_grows_merges_and_is_pickled(grains):
    model = dehusk.SiteModel.learn(grains)
    cleaned = model.clean(site_page("rice"), url="http://a.org/rice")
    assert cleaned.text.startswith("rice\n\nAll about rice") and "Home" not in cleaned.text
    assert cleaned.markdown.startswith("# rice\n") and "<h1>rice</h1>" in cleaned.html
    assert (cleaned.step, cleaned.confidence > 0.9) == ("site_model", True)
    assert len(cleaned.labels) == cleaned.page.n_nodes and any(cleaned.labels)
    assert cleaned.metadata["title"] == "rice" and cleaned.metadata["sources"]["title"]
    assert model.add(site_page("rice"), url="http://a.org/rice") and model.n_pages == 7
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model and copy.to_bytes() == model.to_bytes()
    one, two = dehusk.SiteModel.learn(grains[:3]), dehusk.SiteModel.learn(grains[3:])
    assert one.merge(two) == two.merge(one) and one.merge(two).n_pages == 6


def test_pages_may_be_text_bytes_or_pages(grains):
    assert dehusk.SiteModel.learn(page for page in grains) == dehusk.SiteModel.learn(tuple(grains))
    with pytest.raises(TypeError, match="not one page"):
        dehusk.SiteModel.learn(grains[0])
    forms = [grains[0], grains[1].encode(), bytearray(grains[2].encode()), dehusk.Page(grains[3], "http://a.org/malt")]
    model = dehusk.SiteModel.learn(forms)
    assert {model.clean(form).step for form in forms} == {"site_model"}
    latin = "<meta charset=iso-8859-1><title>Caf\xe9</title>".encode("latin-1")
    page = dehusk.Page(latin)
    assert (page.title, page.encoding) == ("Caf\xe9", "windows-1252")
    assert (
        dehusk.Page("<p>\xe9".encode("koi8-r", "replace"), content_type="text/html; charset=koi8-r").encoding
        == "KOI8-R"
    )


def test_a_row_is_that_of_the_export(grains):
    model = dehusk.SiteModel.learn(grains)
    row = model.clean(site_page("rice"), url="http://a.org/rice").row(html=True, comments=True)
    names = [name for name, _, _ in dehusk.columns()]
    assert list(row) == names and names[:3] == ["url", "canonical_url", "host"]
    assert (row["host"], row["model"], row["step"]) == ("a.org", "a.org", "site_model")
    assert row["n_words"] == 17 and "<h1>" in row["html"] and row["comments"] == ""


def test_what_is_wrong_is_said(grains):
    wrong = [
        (lambda: dehusk.SiteModel.learn(grains[:1]), ValueError, "at least two different pages"),
        (lambda: dehusk.SiteModel.learn(["<p>one", "<table><tr><td>two</table>"]), ValueError, "share nothing"),
        (lambda: dehusk.SiteModel.from_bytes(b"something"), ValueError, "not a dehusk site model"),
        (lambda: dehusk.SiteModel.from_bytes(dehusk.SiteModel.learn(grains).to_bytes()[:-1]), ValueError, "damaged"),
        (lambda: dehusk.Page("<p>", "no url"), ValueError, "no url"),
        (lambda: dehusk.Page("<p>", "ftp://a.org/"), ValueError, "ftp"),
        (lambda: dehusk.Page(7), TypeError, "str, bytes or Page, not int"),
        (lambda: dehusk.Page("<p>").clean(keep="most"), ValueError, "main\\+comments"),
        (lambda: dehusk.extract("<p>", output="pdf"), ValueError, "expected text, markdown, html or json"),
        (lambda: dehusk.extract("<p>", favor="luck"), ValueError, "expected precision, balanced or recall"),
        (lambda: dehusk.clean_batch(["<p>"], threads=0), ValueError, "at least 1"),
        (lambda: dehusk.clean_batch(["<p>"], threads=-1), ValueError, "at least 1"),
        (lambda: dehusk.clean_batch(["<p>", 7]), TypeError, "pages\\[1\\]"),
        (lambda: dehusk.PageSample().add("<p>", "no url"), ValueError, "no url"),
    ]
    for call, error, message in wrong:
        with pytest.raises(error, match=message):
            call()


def test_a_sample_does_not_depend_on_the_order():
    pages = [(site_page(f"page {n}"), f"http://a.org/{n}") for n in range(200)]

    def sample(pages):
        sample = dehusk.PageSample()
        for html, url in pages:
            sample.add(html, url)
        return sample

    forward, backward = sample(pages), sample(reversed(pages))
    assert len(forward) == 9 and forward.pages() == backward.pages()
    parts = sample(pages[100:])
    parts.merge(sample(pages[:100]))
    assert parts.pages() == forward.pages() and parts.learn() == forward.learn()
    assert dehusk.PageSample().learn() is None


def test_posts_of_a_thread():
    post = (
        "<div class=post><a class=username href=/user/{0}>{0}</a> <time datetime=2024-03-0{1}>x</time>"
        "<p>{0} sows rye in October, on poor soil and in cold places, where nothing else would grow.</div>"
    )
    html = "<h1>Soil</h1>" + post.format("Ann", 1) + post.format("Ned", 2)
    cleaned = dehusk.Page(html).clean()
    assert [(p["author"], p["published"]) for p in cleaned.posts] == [("Ann", "2024-03-01"), ("Ned", "2024-03-02")]
    assert cleaned.posts[0]["text"].startswith("Ann sows rye")
    assert cleaned.row(posts=True)["posts"] == cleaned.posts
    assert cleaned.row()["posts"] == []
    assert "**Ned**, 2024-03-02" in cleaned.markdown
