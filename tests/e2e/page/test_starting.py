"""The page of a server that still loads its models: a first question says that it waits."""

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.page.conftest import OpenPage
from tests.e2e.page.library import make_reader
from tests.e2e.page.live import Live, serve, twins
from tests.e2e.page.watch import Watch, assert_accessible
from tests.twins.embedding_server import EmbeddingServer, Scripted

_MOST_SECONDS = 120


class _SlowToWarm(EmbeddingServer):
    """Does not answer the query with which a server warms up, until `ready` is set."""

    def __init__(self) -> None:
        super().__init__(dimension=64)
        self.ready = threading.Event()

    def answer(self, call: dict[str, Any], key: str) -> Scripted:
        if any("warm" in text for text in call["input"]):
            self.ready.wait(_MOST_SECONDS)
        return super().answer(call, key)


@pytest.fixture
def slow() -> Iterator[_SlowToWarm]:
    with _SlowToWarm() as embedding:
        yield embedding
        embedding.ready.set()


@pytest.fixture
def starting(tmp_path: Any, slow: _SlowToWarm) -> Iterator[Live]:
    reader = make_reader()
    with twins(reader, slow) as settings, serve(tmp_path, settings, reader, awaits="/healthz") as server:
        yield server
        slow.ready.set()


def test_a_question_says_that_the_server_is_starting(
    open_page: OpenPage, starting: Live, slow: _SlowToWarm, watch: Watch
) -> None:
    watch.allow("status of 503 .*/readyz")
    starting.create("notes")
    starting.add("notes", [{"key": "mill", "text": "The mill computed."}])
    page = open_page("/c/notes", server=starting)
    told = page.get_by_text(re.compile("^The server is still starting \\(loading models\\)"))
    expect(told).to_be_visible()
    assert_accessible(page, "starting")
    slow.ready.set()
    expect(told).to_have_count(0)
