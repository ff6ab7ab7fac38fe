"""The methods of the papers."""

import pytest
from conftest import site_page

import dehusk
from dehusk import papers

SHOP = "<nav><a href=/>Home</a></nav><ul>{}</ul><p>Open from nine to five.</p>".format(
    "".join(f"<li><a href=/{n}>Lamp {n}</a><i>{n},50 kr</i></li>" for n in range(8))
)


def test_every_method_cleans(grains):
    listed = papers.methods()
    assert {"etdm", "gottron", "strings", "text", "tps"} <= {name for name, *_ in listed}
    pages = [*grains, site_page("barley"), site_page("sorghum")]
    for name, paper, summary, needs_pages in listed:
        method = papers.Method(name, pages if needs_pages else None)
        cleaned = method.clean(site_page("rice"), url="http://a.org/rice")
        assert isinstance(cleaned, dehusk.Cleaned) and (method.name, method.paper) == (name, paper) and summary
        assert len(cleaned.labels) == cleaned.page.n_nodes
        if name in ("site_model", "etdm", "df", "gottron", "main"):
            assert "All about rice" in cleaned.text and "Home" not in cleaned.text, name


def test_settings_are_those_of_the_program():
    keep = {"papers.tps.complement": False, "papers.tps.keep": "main"}
    assert "Lamp 7" in papers.Method("tps", settings=keep).clean(SHOP).text
    html = "<ul>" + "".join(f"<li><a href=/{n}>Lamp {n}</a></li>" for n in range(30)) + "</ul><p>All that is read.</p>"
    assert papers.Method("tps").clean(html).text == "All that is read.\n"
    assert "Lamp 29" in papers.Method("tps", settings=keep).clean(html).text


def test_records_have_fields_by_column():
    for method in ("tps", "mdr"):
        found = papers.records(SHOP, url="http://a.org/", method=method)
        assert len(found) == 8
        assert found[3]["record"] == 3
        assert found[3]["fields"] == {
            "li/a@href": "http://a.org/3",
            "li/a": "Lamp 3",
            "li/i": "3,50 kr",
        }


def test_piles_are_clustered(grains):
    other = [f"<table><tr><td>Shop</td><td>{n}</td></tr></table><hr><b>Terms of the shop</b>" for n in range(4)]
    for method in ("max", "mdl", "hash", "cps"):
        found = papers.cluster([*grains, *other], method=method)
        assert len(set(found[:6])) == 1 and len(set(found[6:])) == 1 and found[0] != found[6], method


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: papers.Method("best"), "expected one of site_model"),
        (lambda: papers.Method("gottron"), "gottron learns from pages"),
        (lambda: papers.Method("tps", ["<p>a"]), "takes no pages"),
        (lambda: papers.Method("etdm", ["<p>a"]), "share nothing"),
        (lambda: papers.Method("tps", settings={"papers.tps.kep": "x"}), "papers.tps.keep"),
        (lambda: papers.Method("tps", settings={"papers.tps.keep": "all"}), "settings: "),
        (lambda: papers.records("<p>", method="dsc"), "expected tps or mdr"),
        (lambda: papers.cluster(["<p>"], method="site"), "expected max, hash"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
