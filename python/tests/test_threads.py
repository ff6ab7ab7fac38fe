"""Threads and processes."""

import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import site_page

import dehusk


def clean(model_and_page):
    model, page = model_and_page
    return model.clean(page).text


def batch(page):
    return dehusk.clean_batch([page] * 64, output="text", threads=2)[0]


def test_one_model_serves_many_threads_while_it_grows(grains):
    model = dehusk.SiteModel.learn(grains)
    pages = [site_page(f"page {n}") for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        growing = [pool.submit(model.add, page, f"http://a.org/{n}") for n, page in enumerate(pages)]
        texts = list(pool.map(lambda page: model.clean(page).text, pages))
        assert all(done.result() in (True, False) for done in growing)
    assert all(text.startswith(f"page {n}\n") and "Home" not in text for n, text in enumerate(texts))


def test_a_batch_keeps_its_order_on_any_number_of_threads(grains):
    model = dehusk.SiteModel.learn(grains)
    pages = [site_page(f"page {n}") for n in range(600)]
    one = dehusk.clean_batch(pages, model, output="text", threads=1)
    assert (
        one
        == dehusk.clean_batch(pages, model, output="text")
        == dehusk.clean_batch(pages, model, output="text", threads=7)
    )
    assert one == [cleaned.text for cleaned in dehusk.clean_batch(pages, model)]
    assert dehusk.clean_batch([]) == []


def test_other_threads_run_meanwhile():
    pages = [site_page("rye", "A sentence about rye and its uses. " * 3_000)] * 40
    turns, done = 0, threading.Event()

    def work():
        dehusk.clean_batch(pages, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        turns += 1
        time.sleep(0.001)
    thread.join()
    assert turns > 20, "the GIL was held"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(grains, method):
    model = dehusk.SiteModel.learn(grains)
    pages = [site_page(f"page {n}") for n in range(40)]
    # The parent has used threads, which a forked child does not have.
    expected = dehusk.clean_batch(pages, model, output="text", threads=2)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(clean, [(model, page) for page in pages]).get(60) == expected
        assert pool.map_async(batch, pages[:4]).get(60) == [batch(page) for page in pages[:4]]
