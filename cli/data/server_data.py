"""`ServerData`: the data of the folder through the HTTP API of the server that runs on it, over its socket.

First come values of `core` from the JSON of the API.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from cli.local_server import LocalServer, Misdirected, make_path
from cli.output.console import print_status
from core.corpora import Corpus, CorpusCounts, CorpusSettings, Fine
from core.documents import Document, RevisionState
from core.errors import NotFound
from core.graph import Fit, FitTally
from core.jobs import Job, JobAhead, JobKind, JobProgress, JobState
from core.principals import DocumentAccess
from core.settings import Settings
from core.text.characters import check_text
from core.validity import FIELDS, STATEMENTS

Json = Mapping[str, Any]


def _read_corpus(found: Json) -> tuple[Corpus, CorpusCounts]:
    """Returns a corpus with its counts. The versions of its strategies are unknown."""
    settings = CorpusSettings(
        chunker=found["chunker"],
        extractor=found["extractor"],
        fine=Fine(found["fine"]),
        embedding_model=found["embedding"]["model"],
        dimension=found["embedding"]["dimension"],
    )
    corpus = Corpus(
        id=found["id"],
        name=found["name"],
        settings=settings,
        generation=found["generation"],
        created_at=datetime.fromisoformat(found["created_at"]),
    )
    return corpus, CorpusCounts(**found["counts"])


def _read_document(found: Json) -> Document:
    times = {"updated_at": datetime.fromisoformat(found["updated_at"])}
    access = None if found["access"] is None else tuple(found["access"])
    known = {name: value for name, value in found.items() if name != "validity"}
    return Document(**{**known, "state": RevisionState(found["state"]), "access": access, **times})


def _read_job(found: Json) -> Job:
    return Job(
        id=found["id"],
        corpus_id=found["corpus_id"],
        corpus_name=found["corpus"],
        kind=JobKind(found["kind"]),
        state=JobState(found["state"]),
        counts=found["counts"],
        malformed_triples=found["malformed_triples"],
        fits=FitTally(**fits) if (fits := found.get("fits")) else None,
        created_at=datetime.fromisoformat(found["created_at"]),
        token_budget=found["token_budget"],
        progress=JobProgress(**found["progress"]),
        ahead=None if found["ahead"] is None else JobAhead(**found["ahead"]),
        failures=tuple((one["key"], one["reason"]) for one in found["failures"]),
        started_at=_read_time(found["started_at"]),
        finished_at=_read_time(found["finished_at"]),
        **found["usage"],
    )


def _read_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


T = TypeVar("T")

_PAGE = 200
_MOST_KEYS = 1000
"""The documents of one request to delete."""
_POLL_SECONDS = 0.2


class ServerData:
    """Implements `cli.data.data.Data`. Raises `Misdirected`, before anything is changed, for work without a route."""

    def __init__(self, server: LocalServer, settings: Settings) -> None:
        self._server = server
        self._settings = settings

    async def list_corpora(self) -> list[tuple[Corpus, CorpusCounts]]:
        listed, _ = self._read_pages(_path("corpora"), {}, None, None, lambda one: str(one["name"]))
        return [await self.show_corpus(name) for name in listed]

    async def show_corpus(self, corpus: str) -> tuple[Corpus, CorpusCounts]:
        return _read_corpus(self._server.send("GET", _path("corpora", corpus)))

    async def check_schema(self, corpus: str) -> tuple[FitTally, bool] | None:
        try:
            check = self._server.send("GET", _path("corpora", corpus, "schema"))["check"]
        except NotFound:
            return None
        return FitTally(**{fit.value: check[fit.value] for fit in Fit}), check["complete"]

    async def rename_corpus(self, corpus: str, name: str) -> tuple[Corpus, CorpusCounts]:
        renamed = self._server.send("PATCH", _path("corpora", corpus), {"name": name})
        return await self.show_corpus(renamed["name"])

    async def delete_corpus(self, corpus: str) -> Job:
        return _read_job(self._server.send("DELETE", _path("corpora", corpus))["job"])

    async def list_documents(
        self,
        corpus: str,
        *,
        key: str | None,
        state: RevisionState | None,
        enabled: bool | None,
        where: str | None,
        limit: int,
        cursor: str | None,
    ) -> tuple[Sequence[Document], str | None]:
        selected = {"key": key, "state": state, "filter": where}
        selected["enabled"] = None if enabled is None else str(enabled).lower()
        return self._read_pages(_path("corpora", corpus, "documents"), selected, limit, cursor, _read_document)

    async def list_validity(self, corpus: str) -> Sequence[dict[str, Any]]:
        dated = json.dumps({"$or": [{name: {"$exists": True}} for name in (*FIELDS, STATEMENTS)]})
        path = _path("corpora", corpus, "documents")
        rows, _ = self._read_pages(path, {"filter": dated}, None, None, dict)
        names = ("key", "title", "validity")
        return [{name: row[name] for name in names} for row in rows if row["validity"] is not None]

    async def compare_documents(self, corpus: str, old: Document | None, new: Document) -> dict[str, Any]:
        path = _path("corpora", corpus, "documents", new.id, "differences")
        found: dict[str, Any] = self._server.send("GET", path, since=None if old is None else old.id)
        return found

    async def find_document(self, corpus: str, name: str) -> Document | None:
        check_text(name, "the document's name")
        found: list[Json] = self._server.send("GET", _path("corpora", corpus, "documents"), key=name, limit=1)["data"]
        if found:
            return _read_document(found[0])
        try:
            return _read_document(self._server.send("GET", make_path("corpora", corpus, "documents", name)))
        except NotFound:  # also of a name that no path can have
            return None

    async def delete_documents(self, corpus: str, documents: Sequence[Document]) -> Job:
        if len(documents) > _MOST_KEYS:
            raise Misdirected
        return self._delete(corpus, {"keys": [one.key for one in documents]})

    async def delete_matching(self, corpus: str, where: Mapping[str, Any]) -> Job:
        return self._delete(corpus, {"filter": where})

    async def switch_documents(self, corpus: str, documents: Sequence[Document], *, enabled: bool) -> int:
        others = {one.id: one for one in documents if one.enabled is not enabled}
        for one in others.values():
            await self.change_document(corpus, one, {"enabled": enabled})
        return len(others)

    async def change_document(self, corpus: str, document: Document, change: Mapping[str, Any]) -> Job:
        return _read_job(self._server.send("PATCH", _path("corpora", corpus, "documents", document.id), change)["job"])

    async def set_access(
        self, corpus: str, documents: Sequence[Document], where: Mapping[str, Any] | None, access: DocumentAccess
    ) -> int:
        if len(documents) > _MOST_KEYS:
            raise Misdirected
        which: Json = {"keys": [one.key for one in documents]} if where is None else {"filter": where}
        body = {**which, "access": None if access is None else list(access)}
        changed = self._server.send("POST", _path("corpora", corpus, "documents", "access"), body)
        return int(changed["documents"])

    async def read_content(self, corpus: str, document: Document) -> bytes:
        return self._server.read("GET", _path("corpora", corpus, "documents", document.id, "content"))

    async def read_pages(self, corpus: str, document: Document, *, only: int | None) -> Mapping[int, str]:
        if only is None:  # no route tells which pages there are
            raise Misdirected
        page = self._server.send("GET", _path("corpora", corpus, "documents", document.id, "pages", str(only)))
        return {only: page["text"]}

    async def list_jobs(
        self, *, corpus: str | None, kind: JobKind | None, state: JobState | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[Job], str | None]:
        selected = {"corpus": corpus, "kind": kind, "state": state}
        try:
            return self._read_pages(_path("jobs"), selected, limit, cursor, _read_job)
        except NotFound:  # no corpus and no job has this name
            return (), None

    async def show_job(self, job: str) -> Job:
        return _read_job(self._server.send("GET", _path("jobs", job)))

    async def cancel_job(self, job: str) -> Job:
        return _read_job(self._server.send("POST", _path("jobs", job, "cancel")))

    async def resume_job(self, job: str, *, tokens: int | None) -> Job:
        body = {} if tokens is None else {"budget": {"tokens": tokens}}
        return _read_job(self._server.send("POST", _path("jobs", job, "resume"), body))

    async def list_questions(
        self, corpus: str, *, kept: bool | None, limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        selected = {"kept": None if kept is None else str(kept).lower()}
        return self._read_pages(_path("corpora", corpus, "questions"), selected, limit, cursor, dict)

    async def show_question(self, corpus: str, id: str) -> dict[str, Any]:
        return self._server.send("GET", _question(corpus, id))

    async def ask_again(self, corpus: str, id: str) -> dict[str, Any]:
        """Waits for the server, which goes on if this process ends."""
        asked = self._server.send("POST", _question(corpus, id, "again"))
        while asked["state"] == "running":
            await asyncio.sleep(_POLL_SECONDS)
            asked = await self.show_question(corpus, asked["id"])
        return asked

    async def compare_question(self, corpus: str, id: str) -> dict[str, Any]:
        return self._server.send("GET", _question(corpus, id, "changes"))

    async def keep_question(self, corpus: str, id: str, *, kept: bool) -> dict[str, Any]:
        return self._server.send("PATCH", _question(corpus, id), {"kept": kept})

    async def delete_question(self, corpus: str, id: str) -> None:
        self._server.read("DELETE", _question(corpus, id))

    async def complete(self, job: Job) -> Job:
        """Waits for the worker that the server supervises."""
        from app.composition import choose_composition

        job_watch = choose_composition(self._settings).supervise().watch_job()
        while not (job := await self.show_job(job.id)).settled:
            if message := job_watch.handle_state(job):
                print_status(message)
            await asyncio.sleep(_POLL_SECONDS)
        return job

    def _delete(self, corpus: str, which: Json) -> Job:
        return _read_job(self._server.send("POST", _path("corpora", corpus, "documents", "delete"), which)["job"])

    def _read_pages(
        self, at: str, selected: Mapping[str, Any], limit: int | None, cursor: str | None, read: Callable[[Json], T]
    ) -> tuple[list[T], str | None]:
        """Returns at most `limit` values of a list (None: all), and the cursor of the rest."""
        found: list[T] = []
        while limit is None or len(found) < limit:
            count = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = self._server.send("GET", at, **selected, limit=count, cursor=cursor)
            found += [read(one) for one in page["data"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        return found, cursor


def _question(corpus: str, id: str, *more: str) -> str:
    return _path("corpora", corpus, "questions", id, *more)


def _path(*segments: str) -> str:
    """Returns a path. Raises `Misdirected` for a name that no path can have, so that this process reports it."""
    try:
        return make_path(*segments)
    except NotFound as error:
        raise Misdirected from error
