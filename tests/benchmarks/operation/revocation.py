"""How soon nobody is shown a document that was taken from a group: by every route and searcher, in every process.

Two processes answer over HTTP on the same stores, embedded and on servers. The holder of a key of the group asks both
again and again for what the matrix of access asks for, while the document is taken away: alone by `PATCH`, then with
499 others by one call. An answer is late by the time from the response to the change until the last byte that shows
the document is there; of a stream, what comes after that byte does not count.

What the kernel of a client holds was sent to it before, and a client that sleeps or has much to do reads it late: in a
measurement of the servers, this is not theirs. Else sixteen clients in one process, beside two servers and three
stores on two cores, would measure themselves: a kernel keeps whole exports. So the sockets of the clients hold
`_UNREAD_BYTES`, and all that waits beyond that waits in the servers, counts when it is sent, and has to be discarded by
them.
"""

import itertools
import json
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from core.ids import document_id
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.documents.endpoint import QuickEmbeddings
from tests.e2e.page.live import Live, serve
from tests.integration.api.access.conftest import HIDDEN_DOCUMENT
from tests.integration.api.access.requests import BASE, QUERY, Request, Requests
from tests.servers.installation import Installation, installation
from tests.twins.json_server import Reply
from tests.twins.json_server import Request as Sent
from tests.waiting import wait_until

__all__ = ["checks", "measure"]

_ADMIN = "a-key-of-the-benchmark-0123456789"
_GROUP = ["group:legal"]
_OTHERS = ["group:sales"]
_HIDDEN_ID = document_id(str(HIDDEN_DOCUMENT["key"]))
_WORDS = ("zarathustra", "xylophone", "quixotic", "hidden/")
_OPEN = 500
_TAKEN = 500
_BATCH = 500
_PATIENCE_SECONDS = 600.0
_AT_ONCE = 8
"""Requests that are repeated at the same time, to each process."""
_UNREAD_BYTES = 65_536
_SOCKET_OPTIONS = [(socket.SOL_SOCKET, socket.SO_RCVBUF, _UNREAD_BYTES // 2)]  # the system takes twice as much
_PAUSE_SECONDS = 0.2
_AFTER_SECONDS = 4.0
_QUIET_SECONDS = 3.0
_MOST_SECONDS = 3.0
_TOLD = 5


class _Counted(QuickEmbeddings):
    """Counts the texts that are to be embedded."""

    texts = 0

    def respond(self, request: Sent) -> Reply:
        self.texts += len(request.body["input"])
        return super().respond(request)


@dataclass(frozen=True, kw_only=True)
class _Change:
    """`sent` and `ended` are when the change was sent and when its response was there."""

    sent: float
    ended: float


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """One answer to a request: when it was asked for, and when it showed the document for the last time, if it did."""

    asked: float
    shown: float | None


@dataclass(frozen=True, kw_only=True)
class _Round:
    """`answers` are those to each request in each process."""

    change: _Change
    answers: Mapping[str, Sequence[_Answer]]

    @property
    def last(self) -> Mapping[str, float]:
        """When each request showed the document for the last time, in seconds after the response to the change."""
        return {
            what: max(shown) - self.change.ended
            for what, answers in self.answers.items()
            if (shown := [one.shown for one in answers if one.shown is not None])
        }

    @property
    def asked_after(self) -> int:
        """How many answers show the document that were asked for after the response to the change."""
        every = itertools.chain.from_iterable(self.answers.values())
        return sum(one.shown is not None and one.asked > self.change.ended for one in every)


def measure() -> dict[str, Any]:
    return {"embedded": _measure_on(None), "servers": _measure_on_servers()}


def checks(report: Mapping[str, Any]) -> list[Check]:
    found = []
    for home, told in report.items():
        for change, one in told["changes"].items():
            named = f"revocation, {home}, {change}"
            found += [
                at_most(
                    f"{named}: s from the response to the last byte that shows it", one["last_seconds"], _MOST_SECONDS
                ),
                at_least(f"{named}: requests that showed it before, in two processes", one["requests"], 60),
                at_most(f"{named}: answers that show it and were asked for after it", one["asked_after"], 0),
                figure(f"{named}: s of the change, longest", one["change_seconds"]),
                figure(f"{named}: s of the change while nobody asks", told["alone"]["seconds"][change]),
            ]
        found.append(at_most(f"revocation, {home}: texts embedded by changes", told["alone"]["embedded"], 0))
    return found


def _measure_on_servers() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="hopweave-servers-") as folder, installation(Path(folder)) as servers:
        return _measure_on(servers)


def _measure_on(servers: Installation | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="hopweave-revocation-") as folder, _Counted(dimension=64) as embedding:
        given = {
            "HOPWEAVE_DATA_DIR": f"{folder}/data",
            "HOPWEAVE_EMBEDDING__KIND": "openai",
            "HOPWEAVE_EMBEDDING__MODEL": "quick",
            "HOPWEAVE_EMBEDDING__BASE_URL": f"{embedding.url}/v1",
            "HOPWEAVE_EMBEDDING__API_KEY": "none",
            "HOPWEAVE_EMBEDDING__MAX_TOKENS": "256",
            "HOPWEAVE_API__KEYS": json.dumps([_ADMIN]),
        }
        if servers is not None:
            servers.more = given
            servers.start_worker()
            given = servers.settings
        with _two(Path(folder), given) as (first, second):
            return _measure_processes(first, second, embedding)


@contextmanager
def _two(folder: Path, settings: Mapping[str, str]) -> Iterator[tuple[Live, Live]]:
    """Two servers on the same stores, of one process each."""
    with ExitStack() as stack:
        made = []
        for name in ("first", "second"):
            (folder / name).mkdir()
            made.append(stack.enter_context(serve(folder / name, settings, key=_ADMIN)))
        yield made[0], made[1]


def _measure_processes(first: Live, second: Live, embedding: _Counted) -> dict[str, Any]:
    _fill(first)
    made = first.run(
        "keys", "create", "legal", "--principal", *_GROUP, "--scope", "read", "--scope", "export", "--json"
    )
    headers = {"authorization": f"Bearer {json.loads(made.stdout)['key']}"}
    with ExitStack() as stack:
        limits = httpx.Limits(max_connections=_AT_ONCE, max_keepalive_connections=_AT_ONCE)
        holders = [
            stack.enter_context(
                httpx.Client(base_url=one.origin, headers=headers, timeout=_PATIENCE_SECONDS, transport=transport)
            )
            for one in (first, second)
            for transport in (httpx.HTTPTransport(limits=limits, socket_options=_SOCKET_OPTIONS),)
        ]
        wait_until(lambda: all(one.get(f"{BASE}/documents/{_HIDDEN_ID}").status_code == 200 for one in holders))
        requests = _showing(holders, _requests(first, holders[0]))
        changes = {
            name: _told([_take_away(first, holders, some, change) for some in _batches(requests)])
            for name, change in _CHANGES.items()
        }
        return {"requests": len(requests), "changes": changes, "alone": _change_alone(first, embedding)}


def _fill(server: Live) -> None:
    """A corpus with documents for everyone and for the group; one of these is watched. And another corpus beside it."""
    server.create("people", extractor="given", chunker="passage")
    server.create("clandestine", extractor="given", chunker="passage")
    open_ones = [_note(number, "open", None) for number in range(_OPEN)]
    taken = [_note(number, "hidden", _GROUP) for number in range(_TAKEN - 1)]
    documents = [*open_ones, *taken, {**HIDDEN_DOCUMENT, "access": _GROUP}]
    for start in range(0, len(documents), _BATCH):
        server.add("people", documents[start : start + _BATCH])


def _note(number: int, team: str, access: list[str] | None) -> dict[str, Any]:
    name, other = (f"Person {team.title()} {one}" for one in (number, number % 97))
    return {
        "key": f"{team}-notes/{number:05}",
        "title": name,
        "text": f"{name} met {other} in the year {1800 + number % 60}, and told Charles Babbage of it.",
        "metadata": {"team": team},
        "triples": [[name, "met", other]],
        "entities": [name, other, "Charles Babbage"],
        "access": access,
    }


def _requests(server: Live, holder: httpx.Client) -> list[Request]:
    """What the holder may ask, with a question that it has stored before."""
    asked = Requests(paths=server.get("/openapi.json")["paths"], key=str(HIDDEN_DOCUMENT["key"]))
    question = {"question": QUERY, "reasoner": "extractive:min_probability=0"}
    stored = holder.post(f"{BASE}/questions", json=question).json()["id"]
    wait_until(lambda: bool(holder.get(f"{BASE}/questions/{stored}").json()["state"] == "done"))
    response = {"model": "people:extractive:min_probability=0", "input": QUERY}
    chunks = server.get(f"{BASE}/documents/{_HIDDEN_ID}/chunks")["data"]
    names = ("Xylophone", "Ledger")
    asked.ids.update(
        {
            "documents": [_HIDDEN_ID],
            "chunks": [chunk["id"] for chunk in chunks],
            "entities": [server.get(f"{BASE}/entities", query=name)["data"][0]["entity"]["id"] for name in names],
            "merges": ["0"],
            "jobs": ["0"],
            "questions": [stored],
            "responses": [holder.post("/v1/responses", json=response).json()["id"]],
        }
    )
    return list({json.dumps(one, default=str): one for one in asked.reads()}.values())


def _showing(holders: Sequence[httpx.Client], requests: Sequence[Request]) -> list[Request]:
    """Returns the requests whose answers show the document in all processes."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        shown = [list(pool.map(lambda one, holder=holder: _shows(holder, one), requests)) for holder in holders]
    return [request for request, *shows in zip(requests, *shown, strict=True) if all(shows)]


def _shows(holder: httpx.Client, request: Request) -> bool:
    return _ask_once(holder, request) is not None


def _ask_once(holder: httpx.Client, request: Request) -> float | None:
    """Returns when the last byte that shows the document was there; None if the answer does not show it.

    An export may be cut off, also before its first byte is read. Each piece is searched once, with the end of the piece
    before: sixteen clients that search all of a long export after each piece would be late themselves.
    """
    method, path, more = request
    given = f"{path} {more}".lower()
    words = [word.encode() for word in _WORDS if word not in given]
    overlap = max(map(len, _WORDS)) - 1
    shown, end = None, b""
    with suppress(httpx.RemoteProtocolError, httpx.ReadError), holder.stream(method, path, **more) as answer:
        for part in answer.iter_bytes():
            arrived = time.monotonic()
            text = end + part.lower()
            if any(text.rfind(word) + len(word) > len(end) for word in words if word in text):
                shown = arrived
            end = text[-overlap:]
    return shown


def _change_one(server: Live, access: list[str]) -> httpx.Response:
    return server.client.patch(f"{BASE}/documents/{_HIDDEN_ID}", json={"access": access})


def _change_all(server: Live, access: list[str]) -> httpx.Response:
    body = {"filter": {"team": "hidden"}, "access": access}
    return server.client.post(f"{BASE}/documents/access", json=body)


def _batches(requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
    return (requests[start : start + _AT_ONCE] for start in range(0, len(requests), _AT_ONCE))


def _take_away(
    server: Live,
    holders: Sequence[httpx.Client],
    requests: Sequence[Request],
    change: Callable[[Live, list[str]], httpx.Response],
) -> _Round:
    """Takes the document away while these requests are asked again and again, and gives it back."""
    wait_until(lambda: len(_showing(holders, requests)) == len(requests))
    over = threading.Event()
    pairs = [(number, holder, request) for number, holder in enumerate(holders) for request in requests]
    answers: dict[str, list[_Answer]] = {f"{number} {request}": [] for number, _, request in pairs}
    with ThreadPoolExecutor(len(pairs)) as pool:
        running = [
            pool.submit(_ask_again, holder, request, over, answers[f"{number} {request}"])
            for number, holder, request in pairs
        ]
        wait_until(lambda: all(any(one.shown for one in some) for some in answers.values()))
        sent = time.monotonic()
        change(server, _OTHERS).raise_for_status()
        changed = _Change(sent=sent, ended=time.monotonic())
        time.sleep(_AFTER_SECONDS)
        over.set()
        for one in running:
            one.result()
    change(server, _GROUP).raise_for_status()
    return _Round(change=changed, answers=answers)


def _ask_again(holder: httpx.Client, request: Request, over: threading.Event, answers: list[_Answer]) -> None:
    while not over.is_set():
        asked = time.monotonic()
        answers.append(_Answer(asked=asked, shown=_ask_once(holder, request)))
        time.sleep(_PAUSE_SECONDS)


def _told(rounds: Sequence[_Round]) -> dict[str, Any]:
    last = {what: seconds for one in rounds for what, seconds in one.last.items()}
    slowest = sorted(last, key=lambda what: -last[what])[:_TOLD]
    return {
        "requests": sum(len(one.answers) for one in rounds),
        "answers": sum(len(answers) for one in rounds for answers in one.answers.values()),
        "last_seconds": max(last.values()),
        "slowest": {what: last[what] for what in slowest},
        "asked_after": sum(one.asked_after for one in rounds),
        "change_seconds": max(one.change.ended - one.change.sent for one in rounds),
    }


def _change_alone(server: Live, embedding: _Counted) -> dict[str, Any]:
    """Both changes and back, while nobody asks: seconds of the longest, and how many texts are embedded."""
    time.sleep(_QUIET_SECONDS)
    before = embedding.texts
    seconds: dict[str, float] = {}
    for name, change in _CHANGES.items():
        for access in (_OTHERS, _GROUP):
            began = time.monotonic()
            change(server, access).raise_for_status()
            seconds[name] = max(seconds.get(name, 0.0), time.monotonic() - began)
            time.sleep(_QUIET_SECONDS)
    return {"embedded": embedding.texts - before, "seconds": seconds}


_CHANGES = {"PATCH of one": _change_one, f"one call for {_TAKEN:,}": _change_all}
