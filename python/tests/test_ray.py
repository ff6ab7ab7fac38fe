"""`clean_arrow` as a stage of Ray Data. Ray is no part of the requirements: `pip install 'ray[data]'` into the venv."""

import os
import sys

import pyarrow as pa
import pytest
from conftest import PROJECT, site_page

import dehusk

ray = pytest.importorskip("ray")


def test_batches_of_ray_give_the_rows_of_one_call(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(PROJECT / "python"))
    pages = pa.table({"html": [site_page(f"page {n}") for n in range(40)], "url": [f"http://a.org/{n}" for n in range(40)]})
    ray.init(num_cpus=2, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}})
    try:
        data = ray.data.from_arrow(pages).repartition(4)
        rows = data.map_batches(dehusk.clean_arrow, batch_format="pyarrow", fn_kwargs={"threads": 1})
        found = {row["url"]: row["text"] for row in rows.select_columns(["url", "text"]).take_all()}
    finally:
        ray.shutdown()
    want = dehusk.clean_arrow(pages)
    assert found == dict(zip(want["url"].to_pylist(), want["text"].to_pylist(), strict=True))
