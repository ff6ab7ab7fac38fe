"""Arrow in and out, and the libraries that speak it."""

import datetime

import pandas
import polars
import pyarrow as pa
import pytest
from conftest import site_page

import dehusk


@pytest.fixture
def model(grains):
    return dehusk.SiteModel.learn(grains)


def pages(n=5):
    return [site_page(f"page {at}") for at in range(n)], [f"http://a.org/{at}" for at in range(n)]


def test_every_type_of_text_and_bytes_gives_the_same_rows(model):
    html, url = pages()
    expected = [model.clean(page, url=at).row() for page, at in zip(html, url)]
    types = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]
    types.append(pa.dictionary(pa.int32(), pa.string()))
    for kind in types:
        column = pa.array(html).cast(kind) if not pa.types.is_dictionary(kind) else pa.array(html).dictionary_encode()
        rows = dehusk.clean_arrow(pa.record_batch({"html": column, "url": url}), model)
        assert rows.schema == dehusk.schema() and isinstance(rows, pa.RecordBatch)
        assert rows.to_pylist() == expected
    rows.validate(full=True)


def test_text_is_text_whatever_its_page_declares():
    page = "<meta charset=iso-8859-1><p>Gr\xf6\xdfe der H\xe4user in \xd6sterreich, und noch ein l\xe4ngerer Satz dazu, der Text ist."
    text = dehusk.extract(page)
    assert "H\xe4user" in text
    for column in (pa.array([page]), pa.array([page]).dictionary_encode()):
        assert dehusk.clean_arrow(pa.record_batch({"html": column}))["text"].to_pylist() == [text]
    categories = polars.DataFrame({"html": [page]}, schema={"html": polars.Categorical})
    assert dehusk.clean_arrow(categories)["text"].to_pylist() == [text]


def test_columns_of_the_input_are_taken_over(model):
    html, url = pages(2)
    at = datetime.datetime(2026, 11, 22, 10, 30, tzinfo=datetime.UTC)
    batch = pa.record_batch(
        {
            "page": html,
            "address": url,
            "status": pa.array([200, 203], pa.int16()),
            "run": [7, 8],
            "fetched_at": pa.array([at, None], pa.timestamp("us", "UTC")),
            "digest": ["aa", "bb"],
            "warc_record_id": ["<urn:1>", None],
            "model_version": [3, 4],
        }
    )
    rows = dehusk.clean_arrow(batch, model, html="page", url="address").to_pylist()
    assert [row["status"] for row in rows] == [200, 203] and [row["run"] for row in rows] == [7, 8]
    assert [row["fetched_at"] for row in rows] == [at, None] and rows[0]["warc_record_id"] == "<urn:1>"
    assert [(row["model"], row["model_version"]) for row in rows] == [("a.org", 3), ("a.org", 4)]


def test_nulls_bad_urls_slices_and_empty_batches():
    batch = pa.record_batch({"html": [None, site_page("rye"), ""], "url": ["http://a.org/", "no url", None]})
    rows = dehusk.clean_arrow(batch).to_pylist()
    assert [row["url"] for row in rows] == ["http://a.org/", None, None] and rows[0]["text"] == ""
    assert dehusk.clean_arrow(batch.slice(1, 1)).to_pylist() == rows[1:2]
    assert dehusk.clean_arrow(batch.slice(0, 0)).num_rows == 0


def test_models_by_host_and_noindex(grains):
    other = [site_page(name, site="Animals").replace("Home", "Zoo") for name in ("ant", "bee", "cat")]
    models = {"a.org": dehusk.SiteModel.learn(grains), "b.org": dehusk.SiteModel.learn(other)}
    html = [site_page("rice"), site_page("dog", site="Animals").replace("Home", "Zoo"), site_page("x")]
    hidden = "<meta name=robots content=noindex>" + site_page("hidden")
    batch = pa.record_batch(
        {
            "html": [*html, hidden, site_page("named")],
            "url": ["http://a.org/1", "http://b.org/1", "http://c.org/1", "http://a.org/2", "http://a.org/3"],
            "robots_tags": [None, None, "otherbot: noindex", None, "noindex"],
        }
    )
    rows = dehusk.clean_arrow(batch, models=models, noindex="hide").to_pylist()
    assert [(row["url"], row["model"]) for row in rows] == [
        ("http://a.org/1", "a.org"),
        ("http://b.org/1", "b.org"),
        ("http://c.org/1", None),
    ]
    assert dehusk.clean_arrow(batch, models=models).num_rows == 5


def test_what_is_wrong_is_said():
    wrong = [
        ({"text": ["<p>"]}, {}, 'no column "html"; the batch has text'),
        ({"html": [1]}, {}, "expected string or binary"),
        ({"html": ["<p>"], "status": ["many"]}, {}, "status has type .*; expected whole numbers"),
        ({"html": ["<p>"], "fetched_at": [1795343401]}, {}, "fetched_at has type .*; expected a timestamp"),
        ({"html": pa.array([1, 2]).dictionary_encode()}, {}, "expected string or binary"),
        ({"html": ["<p>"]}, {"noindex": "maybe"}, "expected show or hide"),
    ]
    for columns, options, message in wrong:
        with pytest.raises(ValueError, match=message):
            dehusk.clean_arrow(pa.record_batch(columns), **options)
    with pytest.raises((TypeError, ValueError)):
        dehusk.clean_arrow({"html": ["<p>"]})


def test_tables_polars_and_pandas(model):
    html, url = pages(30)
    table = pa.table({"html": pa.chunked_array([html[:7], html[7:]]), "url": pa.chunked_array([url[:20], url[20:]])})
    rows = dehusk.clean_arrow(table, model)
    assert isinstance(rows, pa.Table) and rows.schema == dehusk.schema() and rows.num_rows == 30
    frame = polars.DataFrame({"html": html, "url": url})
    assert polars.from_arrow(dehusk.clean_arrow(frame, model))["text"].to_list() == rows["text"].to_pylist()
    lazy = dehusk.clean_arrow(frame.lazy().filter(polars.col("url") != ""), model)
    assert polars.from_arrow(lazy)["text"].to_list() == rows["text"].to_pylist()
    mapped = frame.select(polars.col("html").map_elements(dehusk.extract, return_dtype=polars.String))
    assert mapped["html"].to_list() == [dehusk.extract(page) for page in html]
    assert pandas.DataFrame({"html": html}).html.map(dehusk.extract).to_list() == mapped["html"].to_list()


def test_datasets_map(model):
    import datasets

    html, url = pages(10)
    data = datasets.Dataset.from_dict({"html": html, "url": url})
    cleaned = data.map(lambda batch: {"text": dehusk.clean_batch(batch["html"], model, output="text")}, batched=True)
    assert cleaned["text"][:] == dehusk.clean_batch(html, model, output="text")
