"""The server is killed while entities are merged, and while merges are undone: each merge is made whole or not at all,
what was answered stays, and after all are undone the corpus is as before.
"""

import json
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.ids import entity_id
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.commands import run, serving

ENTITIES = 60
KILLS = 2
_CLIENTS = 4
_WHOLE = "Ada Lovelace"
_AT = "/v1/corpora/people"


@pytest.mark.slow
def test_merges_and_their_undoing_survive_kills(tmp_path: Path) -> None:
    dice = random.Random(14)
    people = [f"Person Number{n}" for n in range(ENTITIES)]
    documents = [{"key": name, "chunks": [{"text": f"{name} wrote.", "entities": [name, _WHOLE]}]} for name in people]
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    with embedding_endpoint(dimension=16):
        _run(tmp_path, "ingest", "people.jsonl", "-c", "people", "--extractor", "given")
        before = _run(tmp_path, "export", "people", "--format", "jsonl", "--canonical")
        wanted = {entity_id(name.lower()) for name in people}
        into = entity_id(_WHOLE.lower())

        def merge(client: httpx.Client, id: str) -> bool:
            answer = client.post(f"{_AT}/entities/{id}/merge", json={"into": into})
            assert answer.status_code in (200, 409), answer.text
            return answer.status_code == 200

        made = _repeat_with_kills(tmp_path, dice, merge, lambda merges: wanted - merges.keys())
        assert made.keys() == wanted
        assert {one["into"]["id"] for one in made.values()} == {into}

        def undo(client: httpx.Client, id: str) -> bool:
            answer = client.post(f"{_AT}/merges/{made[id]['id']}/undo")
            assert answer.status_code in (200, 404), answer.text
            return answer.status_code == 200

        assert _repeat_with_kills(tmp_path, dice, undo, set) == {}
        assert _run(tmp_path, "export", "people", "--format", "jsonl", "--canonical") == before
        assert "(none)" not in _run(tmp_path, "entities", "find", "-c", "people", _WHOLE)
        _run(tmp_path, "doctor")


def _repeat_with_kills(
    folder: Path,
    dice: random.Random,
    act: Callable[[httpx.Client, str], bool],
    list_left: Callable[[dict[str, Any]], set[str]],
) -> dict[str, Any]:
    """Acts on the entities that are left, with a kill while it does, until none is. Returns the merges, by entity.

    After each kill, what was answered holds: none of these entities is left.
    """
    answered: set[str] = set()
    for _ in range(KILLS):
        with serving(folder) as server:
            url = str(server.client.base_url)
            left = sorted(list_left(_check_state(url, list_left, answered)))
            timer = threading.Timer(dice.uniform(0.02, 0.25), server.process.kill)
            timer.start()
            _act_on_all(url, left, act, answered)
            timer.join()
    with serving(folder) as server:
        url = str(server.client.base_url)
        _act_on_all(url, sorted(list_left(_check_state(url, list_left, answered))), act, answered)
        return _check_state(url, list_left, answered)


def _check_state(url: str, list_left: Callable[[dict[str, Any]], set[str]], answered: set[str]) -> dict[str, Any]:
    merges = _read_merges(url)
    assert not list_left(merges) & answered, "what was answered is lost"
    names = {f"person number{n}" for n in range(ENTITIES)}
    assert {one["entity"]["name"].lower() for one in merges.values()} <= names
    search = httpx.post(f"{url}{_AT}/search", json={"query": "Who wrote?", "searcher": "graph"}, timeout=60)
    assert search.status_code == httpx.codes.OK, search.text
    return merges


def _act_on_all(url: str, ids: list[str], act: Callable[[httpx.Client, str], bool], answered: set[str]) -> None:
    with ThreadPoolExecutor(_CLIENTS) as threads:
        list(threads.map(lambda entity: _act(url, entity, act, answered), ids))


def _act(url: str, id: str, act: Callable[[httpx.Client, str], bool], answered: set[str]) -> None:
    try:
        with httpx.Client(base_url=url, timeout=60) as client:
            act(client, id)
    except httpx.TransportError:  # the server is dead: whether it acted is not known
        return
    answered.add(id)


def _read_merges(url: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    cursor: str | None = None
    while True:
        given = {"limit": "25"} | ({} if cursor is None else {"cursor": cursor})
        page = httpx.get(f"{url}{_AT}/merges", params=given, timeout=60).json()
        found |= {one["entity"]["id"]: one for one in page["data"]}
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def _run(folder: Path, *arguments: str) -> str:
    ran = run(folder / "data", folder, *arguments)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
