"""Entities are merged by a running server above the threshold of their corpus: once, also after a kill and by two
processes, and never against a user's word.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.container import Container
from core.ids import entity_id
from core.settings import Settings
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.commands import run, serving
from tests.waiting import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.slow

_AT = "/v1/corpora/people"
_FOLLOWING = (sys.executable, "-m", "tests.faults.following_server")
_MERGED = "entities were merged by themselves"
_NAMES = [
    *("Orlo Quent", "Ada Lund", "Ines Corvo", "Bela Sarn"),
    *("Tomas Wick", "Ruth Halvors", "Imre Fodor", "Greta Molnar"),
]


def make_document(name: str) -> dict[str, Any]:
    """A document whose names `name` and `Dr. name` are proposed as one."""
    titled = f"Dr. {name}"
    return {
        "key": name,
        "chunks": [
            {"text": f"{name} wrote. {titled} came to Marrowby.", "entities": [name, titled, "Marrowby"]},
            {"text": f"{titled} came back to Marrowby.", "entities": [titled, "Marrowby"]},
        ],
    }


def ends_of(name: str) -> frozenset[str]:
    return frozenset({entity_id(name.lower()), entity_id(f"dr. {name.lower()}")})


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """With the corpus `people`, without a threshold."""
    lines = "\n".join(json.dumps(make_document(name)) for name in _NAMES)
    (tmp_path / "people.jsonl").write_text(lines, encoding="utf-8")
    with embedding_endpoint(dimension=16):
        ran = run(tmp_path / "data", tmp_path, "ingest", "people.jsonl", "-c", "people", "--extractor", "given")
        assert ran.returncode == 0, ran.stderr
        yield tmp_path


def send(client: httpx.Client, method: str, path: str, body: Any = None) -> Any:
    answer = client.request(method, f"{_AT}{path}", json=body)
    assert answer.is_success, answer.text
    return answer.json()


def read_merges(client: httpx.Client) -> dict[frozenset[str], Any]:
    return {frozenset({one["entity"]["id"], one["into"]["id"]}): one for one in send(client, "GET", "/merges")["data"]}


def test_a_server_merges_by_itself_and_never_against_a_users_word(folder: Path) -> None:
    rejected, undone = ends_of(_NAMES[0]), ends_of(_NAMES[1])
    wanted = set(map(ends_of, _NAMES)) - {rejected}
    with serving(folder, start=_FOLLOWING) as server:
        client = server.client
        made = send(client, "POST", "/rejections", dict(zip(("entity", "other"), rejected, strict=True)))
        assert read_merges(client) == {}
        send(client, "PATCH", "/resolution", {"merge_above": 0.5})
        wait_until(lambda: read_merges(client).keys() >= wanted)
        merges = read_merges(client)
        assert merges.keys() == wanted
        assert all(one["automatic"] for one in merges.values())
        send(client, "POST", f"/merges/{merges[undone]['id']}/undo")
        assert len(send(client, "GET", "/rejections")["data"]) == 2
        left = {ends: one for ends, one in merges.items() if ends != undone}
        assert read_merges(client) == left
        server.kill()
    with serving(folder, start=_FOLLOWING) as server:
        client = server.client
        assert read_merges(client) == left
        send(client, "POST", f"/rejections/{made['id']}/withdraw")
        wait_until(lambda: _MERGED in server.log)  # a whole pass of the loop is over
        merges = read_merges(client)
        assert merges.keys() == {*left, rejected}
        assert {ends: one for ends, one in merges.items() if ends != rejected} == left, "made once, at their time"


def test_two_processes_merge_once(folder: Path) -> None:
    before = asyncio.run(_read(folder))[1]
    with ExitStack() as stack:
        loops = [stack.enter_context(_following(folder)) for _ in range(2)]
        asyncio.run(_set_threshold(folder))
        wait_until(lambda: len(asyncio.run(_read(folder))[0]) >= len(_NAMES))
        assert [loop.communicate(timeout=PATIENCE_SECONDS)[0].split() for loop in loops] == [["followed"]] * 2
    merges, after = asyncio.run(_read(folder))
    assert merges == set(map(ends_of, _NAMES))
    assert after == before + len(_NAMES), "each merge was written once"


@contextmanager
def _following(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.faults.following_loop", str(folder / "data")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as loop:
        assert loop.stdout is not None
        assert loop.stdout.readline() == "following\n"
        yield loop


async def _set_threshold(folder: Path) -> None:
    container = Container(Settings(data_dir=folder / "data"))
    corpus = await container.record.corpora.get("people")
    await container.record.resolution.set_threshold(corpus.id, 0.5)
    await container.close()


async def _read(folder: Path) -> tuple[set[frozenset[str]], int]:
    """Returns the merged pairs and the generation."""
    container = Container(Settings(data_dir=folder / "data"))
    corpus = await container.record.corpora.get("people")
    found = {frozenset({one.from_id, one.into_id}) for one in await container.record.merges.list(corpus.id)}
    generation = (await container.record.corpora.get_by_id(corpus.id)).generation
    await container.close()
    return found, generation
