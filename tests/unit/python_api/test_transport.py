"""Answers that are none of Hopweave's, servers that are not there, and events in pieces."""

import json
import re
from pathlib import Path

import httpx
import pytest

import hopweave
from hopweave._events import EventReader
from hopweave.wire.events import EVENTS

_NO_PROGRESS = {"passages": 0, "passages_total": 0, "bytes": 0, "bytes_total": 0, "seconds_left": None}

_JOB: dict[str, object] = {
    "id": "1",
    "kind": "drop",
    "state": "done",
    "note": None,
    "corpus": "c",
    "corpus_id": "0",
    "counts": {},
    "malformed_triples": 0,
    "failures": [],
    "created_at": "2026-01-01T00:00:00Z",
    "tokens": 0,
    **dict.fromkeys(("started_at", "finished_at", "token_budget", "ahead", "generation")),
    "usage": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0},
    "progress": _NO_PROGRESS,
}


def _client(answer: httpx.Response) -> hopweave.Client:
    return hopweave.connect("http://there", transport=httpx.MockTransport(lambda _: answer))


def test_a_server_that_is_not_there_and_an_address_without_a_scheme() -> None:
    for url, said in (
        ("http://127.0.0.1:1", r"^no Hopweave server answers at http://127.0.0.1:1: .*refused"),
        ("localhost:8000", None),
    ):
        with hopweave.connect(url) as client, pytest.raises(hopweave.ConnectionFailedError, match=said):
            client.list_corpora()


def test_an_answer_of_another_server() -> None:
    with pytest.raises(hopweave.UnexpectedAnswerError, match="is no CorpusList"):
        _client(httpx.Response(200, text="<html>")).list_corpora()
    with pytest.raises(hopweave.UnexpectedAnswerError, match=r"data\.0\.name"):
        _client(httpx.Response(200, json={"data": [{"id": "1"}], "next_cursor": None})).list_corpora()
    with pytest.raises(hopweave.ProblemError, match=r"^307 Temporary Redirect"):
        _client(httpx.Response(307, headers={"Location": "http://elsewhere"})).list_corpora()
    with pytest.raises(hopweave.UnavailableError, match=r"^502 Bad Gateway: <html>"):
        _client(httpx.Response(502, text="<html>\nno upstream")).list_corpora()


def test_fields_that_are_not_known_are_ignored() -> None:
    answer = {**_JOB, "new": 1}
    assert _client(httpx.Response(200, json=answer)).get_job("1").is_settled


def test_events_in_pieces_of_any_size() -> None:
    text = json.dumps({"step": "", "text": "line\u2028separator, Ünï"}, ensure_ascii=False)
    stream = (
        f": ping\n\nid: 1\nevent: token\ndata: {text}\n\n"
        'event: of-a-newer-version\ndata: {}\n\nevent: note\r\ndata: {"step": "",\r\ndata: "text": "n"}\r\n\r\n'
    ).encode()
    expected = [hopweave.TokenEvent(step="", text="line\u2028separator, Ünï"), hopweave.NoteEvent(step="", text="n")]
    for size in (1, 2, 7, len(stream)):
        reader = EventReader(EVENTS, last="answer")
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        assert [event for piece in pieces for event in reader.feed(piece)] == expected


def test_an_error_event_and_a_stream_that_is_cut_off_are_raised() -> None:
    problem = {
        "type": "about:blank",
        "title": "Bad Gateway",
        "status": 502,
        "detail": "the model failed",
        "instance": "/",
    }
    note = 'event: note\ndata: {"step": "", "text": "n"}\n\n'
    failed = _client(httpx.Response(200, text=f"{note}event: error\ndata: {json.dumps(problem)}\n\n"))
    events = failed.ask_events("c", "q")
    assert next(events) == hopweave.NoteEvent(step="", text="n")
    with pytest.raises(hopweave.UnavailableError, match="502 Bad Gateway: the model failed"):
        next(events)
    with pytest.raises(hopweave.ConnectionFailedError, match="ended before its last event"):
        list(_client(httpx.Response(200, text=note)).ask_events("c", "q"))


def test_a_broken_stream_of_a_job_is_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    for client in ("_client", "_async_client"):
        monkeypatch.setattr(f"hopweave.{client}.FOLLOW_PAUSES", (0.0, 0.0))
    asked: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("Last-Event-ID"))
        streams = [_event("1", "progress", "queued") + "id: 2\nevent: progress\ndata: {", _event("2", "end", "done")]
        return httpx.Response(200, text=streams[len(asked) - 1])

    with hopweave.connect("http://there", transport=httpx.MockTransport(answer)) as client:
        assert [job.state for job in client.follow_job("1")] == ["queued", "done"]
    assert asked == [None, "1"]
    gone = hopweave.connect("http://there", transport=httpx.MockTransport(lambda _: httpx.Response(200, text="")))
    with gone as client, pytest.raises(hopweave.ConnectionFailedError, match="ended before its last event"):
        list(client.follow_job("1"))
    seen = hopweave.connect("http://there", transport=httpx.MockTransport(lambda _: httpx.Response(204)))
    with seen as client:
        assert list(client.follow_job("1")) == []


def _event(id: str, kind: str, state: str) -> str:
    return f"id: {id}\nevent: {kind}\ndata: {json.dumps({**_JOB, 'kind': 'ingest', 'state': state})}\n\n"


@pytest.mark.parametrize(
    ("strategies", "sent"),
    [
        ([{"kind": "loader", "name": "md", "suffixes": [".md"]}, {"kind": "searcher", "suffixes": []}], ["a.md"]),
        ([{"kind": "searcher", "name": "dense"}], ["a.md", "b.png"]),  # an older server lists no loaders
    ],
)
def test_files_of_a_folder_are_those_that_the_server_reads(
    tmp_path: Path, strategies: list[object], sent: list[str]
) -> None:
    keys: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/strategies":
            return httpx.Response(200, json={"data": strategies, "next_cursor": None})
        found = re.findall(rb'"key": "([^"]+)"', request.read())
        keys.extend(key.decode() for key in found)
        return httpx.Response(200, json={"job": _JOB, "documents": [], "rejected": []})

    for name in ("a.md", "b.png"):
        (tmp_path / name).write_text("text")
    with hopweave.connect("http://there", transport=httpx.MockTransport(answer)) as client:
        client.ingest("people", tmp_path, wait=False)
    assert keys == sent
