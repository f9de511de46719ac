"""Rows of a record as values, and back: the columns have the same names in every record.

First come values as the JSON that the databases keep; then rows of corpora, documents and jobs, of API keys, and of
stored questions. `get` returns the value of a column, or None where the column is not set.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import Chunk, Document, RevisionState, Span
from core.filters import DocumentFilter
from core.graph import Extraction, Surface, Triple
from core.jobs import Job, JobKind, JobState
from core.keys import ApiKey, KeyLimits, Scope
from core.ports.record import Claim, NewRevision, Removal, RemovalKind, RemovedDocument
from core.principals import DocumentAccess
from core.questions import AskedQuestion, NewQuestion, QuestionOutcome
from core.record_policy.claims import MeasuredJob, measure_progress, state_of_job
from core.record_policy.commits import ids_of, make_tombstone
from core.record_policy.questions import state_of


def dump(value: Any) -> str:
    """JSON in one form: sorted keys, no escapes, so equal values are equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def dump_settings(settings: CorpusSettings) -> str:
    return dump(asdict(settings))


def _load_settings(payload: str) -> CorpusSettings:
    settings: dict[str, Any] = json.loads(payload)
    return CorpusSettings(**{**settings, "fine": Fine(settings["fine"])})


def dump_extraction(extraction: Extraction) -> str:
    return dump(
        {
            "entities": [[s.form, s.count] for s in extraction.entities],
            "triples": [[t.subject, t.predicate, t.object] for t in extraction.triples],
            "malformed": extraction.malformed,
        }
    )


def load_extraction(payload: str) -> Extraction:
    data: Mapping[str, Any] = json.loads(payload)
    return Extraction(
        entities=tuple(Surface(form=form, count=count) for form, count in data["entities"]),
        triples=tuple(Triple(subject=s, predicate=p, object=o) for s, p, o in data["triples"]),
        malformed=data["malformed"],
    )


Get = Callable[[str], Any]


def load_corpus(get: Get) -> Corpus:
    """A corpus without a name gets the empty one."""
    return Corpus(
        id=get("id"),
        name=get("name") or "",
        settings=_load_settings(get("settings")),
        generation=get("generation"),
        created_at=datetime.fromtimestamp(get("created_at"), UTC),
    )


def load_document(get: Get) -> Document:
    """From the columns of a document, with `reason`, `media_type`, `size`, `content_hash` and `updated_at` of its
    newest revision.
    """
    return Document(
        id=get("id"),
        key=get("key"),
        title=get("title"),
        metadata=json.loads(get("metadata")),
        state=RevisionState(get("state")),
        reason=get("reason"),
        readable=get("current") is not None,
        chunks=get("chunks"),
        malformed_triples=get("malformed"),
        media_type=get("media_type"),
        size=get("size"),
        content_hash=get("content_hash"),
        updated_at=datetime.fromtimestamp(get("updated_at"), UTC),
        enabled=not get("disabled"),
        access=load_access(get("access")),
    )


def load_chunk(get: Get) -> Chunk:
    start, end = get("span_start"), get("span_end")
    return Chunk(
        id=get("id"),
        document_id=get("document_id"),
        view_id=get("view_id"),
        position=get("position"),
        text=get("text"),
        heading=get("heading"),
        page=get("page"),
        span=None if start is None or end is None else Span(start=start, end=end),
    )


def load_new_revision(get: Get) -> NewRevision:
    """From the columns of a revision, with the `key` of its document."""
    return NewRevision(
        key=get("key"),
        media_type=get("media_type"),
        content_hash=get("content_hash"),
        size=get("size"),
        fingerprint=get("fingerprint"),
        title=get("title"),
        metadata=json.loads(get("metadata")),
        access=load_access(get("access")),
    )


def dump_access(access: DocumentAccess) -> str | None:
    return None if access is None else dump(list(access))


def load_access(text: str | None) -> DocumentAccess:
    return None if text is None else tuple(json.loads(text))


def is_within(where: DocumentFilter | None, document: Get, newest: Get) -> bool:
    """Returns whether a document, as `Documents` lists it, matches a filter (None: it does).

    Takes the columns of the document and of its newest revision, whose fields a hidden document has.
    """
    if where is None:
        return True
    hidden = bool(document("hidden"))
    return where.matches(
        id=document("id"),
        key=document("key"),
        title=(newest("title") or document("key")) if hidden else document("title"),
        metadata=json.loads(newest("metadata") if hidden else document("metadata")),
        access=load_access(document("access")),
    )


def load_claim(get: Get) -> Claim:
    """From the columns of a revision, with `key` of its document, and `token_budget` and `tokens_spent` of its job."""
    return Claim(
        corpus_id=get("corpus_id"),
        document_id=get("document_id"),
        key=get("key"),
        revision=get("number"),
        epoch=get("epoch"),
        deletion=bool(get("deletion")),
        media_type=get("media_type"),
        content_hash=get("content_hash"),
        size=get("size"),
        title=get("title"),
        metadata=json.loads(get("metadata")),
        job_id=get("job_id"),
        token_budget=get("token_budget"),
        tokens_spent=get("tokens_spent"),
    )


def load_job(
    get: Get, counts: Mapping[str, int], failures: Sequence[tuple[str, str]], measured: MeasuredJob, now: float
) -> Job:
    """`counts` are by state, without zeros; `failures` are pairs of key and reason. `now` is by the record's clock."""
    started_at = get("started_at")
    kind = JobKind(get("kind"))
    state = state_of_job(
        kind, counts, cancelled=bool(get("cancelled")), is_open=bool(get("open")), is_started=bool(started_at)
    )
    return Job(
        id=get("id"),
        corpus_id=get("corpus_id"),
        corpus_name=get("corpus_name"),
        kind=kind,
        state=state,
        counts=counts,
        malformed_triples=get("malformed"),
        created_at=datetime.fromtimestamp(get("created_at"), UTC),
        started_at=_moment(started_at),
        finished_at=_moment(get("finished_at")),
        token_budget=get("token_budget"),
        calls=get("calls"),
        prompt_tokens=get("prompt_tokens"),
        completion_tokens=get("completion_tokens"),
        submitted_by=get("submitted_by"),
        progress=measure_progress(measured, started_at=started_at if state is JobState.RUNNING else None, now=now),
        failures=tuple(failures),
    )


MINUTE = 60.0


def dump_key(key: ApiKey) -> str:
    """Returns all of a key but its id and the times that the store sets."""
    content = {
        "name": key.name,
        "hash": key.hash,
        "scopes": sorted(key.scopes),
        "corpora": None if key.corpora is None else sorted(key.corpora),
        "filter": key.filter,
        "principals": None if key.principals is None else sorted(key.principals),
        "limits": asdict(key.limits),
        "expires_at": key.expires_at and key.expires_at.timestamp(),
    }
    return dump(content)


def load_key(get: Callable[[str], Any]) -> ApiKey:
    """Takes the columns `id`, `content`, `created_at` and `revoked_at`."""
    content: dict[str, Any] = json.loads(get("content"))
    created = _moment(get("created_at"))
    assert created is not None  # noqa: S101 - the column is never empty
    return ApiKey(
        id=get("id"),
        name=content["name"],
        hash=content["hash"],
        scopes=frozenset(Scope(scope) for scope in content["scopes"]),
        corpora=None if content["corpora"] is None else frozenset(content["corpora"]),
        filter=content["filter"],
        principals=None if (principals := content.get("principals")) is None else frozenset(principals),
        limits=KeyLimits(**content["limits"]),
        created_at=created,
        expires_at=_moment(content["expires_at"]),
        revoked_at=_moment(get("revoked_at")),
    )


def dump_removal(removal: Removal) -> str:
    """Returns all of a removal but its id and its corpus."""
    return dump(
        {
            "corpus": removal.corpus,
            "kind": removal.kind.value,
            "removed_at": removal.removed_at,
            "documents": [asdict(document) for document in removal.documents],
            "listed": ids_of(removal.listed),
            "answers": removal.answers,
        }
    )


def load_removal(id: int, corpus_id: str, content: str) -> Removal:
    row: dict[str, Any] = json.loads(content)
    documents = (
        RemovedDocument(**{**document, "contents": tuple(document["contents"])}) for document in row["documents"]
    )
    return Removal(
        id=id,
        corpus_id=corpus_id,
        corpus=row["corpus"],
        kind=RemovalKind(row["kind"]),
        removed_at=row["removed_at"],
        documents=tuple(documents),
        listed=make_tombstone(0, corpus_id, row["listed"]),
        answers=row["answers"],
    )


def dump_optional(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _load_optional(text: str | None) -> dict[str, Any] | None:
    found: dict[str, Any] | None = None if text is None else json.loads(text)
    return found


def dump_new(question: NewQuestion) -> dict[str, Any]:
    """Returns the columns of a new question, without the columns that the store sets."""
    return {
        "id": question.id,
        "corpus_id": question.corpus_id,
        "asked_by": question.asked_by,
        "text": question.text,
        "request": dump(dict(question.request)),
        "again_of": question.again_of,
    }


def dump_outcome(outcome: QuestionOutcome) -> dict[str, Any]:
    return {
        "state": outcome.state.value,
        "answer": dump_optional(outcome.answer),
        "support": outcome.support,
        "problem": dump_optional(outcome.problem),
    }


def dump_whole(question: AskedQuestion, corpus_id: str) -> dict[str, Any]:
    """Returns the columns of a final question of a backup, but `generation`."""
    return {
        "id": question.id,
        "corpus_id": corpus_id,
        "asked_by": question.asked_by,
        "text": question.text,
        "request": dump(dict(question.request)),
        "again_of": question.again_of,
        "state": question.state.value,
        "asked_at": question.asked_at.timestamp(),
        "answered_at": None if question.answered_at is None else question.answered_at.timestamp(),
        "answer": dump_optional(question.answer),
        "support": question.support,
        "problem": dump_optional(question.problem),
        "verification": dump_optional(question.verification),
        "kept": question.kept,
        "withdrawn": question.withdrawn,
    }


def load_question(get: Get, now: float, *, whole: bool = True) -> AskedQuestion:
    """Takes the columns of a question, and the time by the store's clock. Unless `whole`, long values are left out."""
    state, problem = state_of(get("state"), _load_optional(get("problem")), get("lease_until") or 0.0, now)
    ended = _moment(get("answered_at"))
    if state.final and ended is None:
        ended = _moment(get("lease_until"))
    return AskedQuestion(
        id=get("id"),
        corpus_id=get("corpus_id"),
        asked_by=get("asked_by"),
        text=get("text"),
        request=json.loads(get("request")),
        state=state,
        asked_at=datetime.fromtimestamp(get("asked_at"), UTC),
        answered_at=ended,
        generation=get("generation"),
        answer=_load_optional(get("answer")) if whole else None,
        support=get("support") or "",
        problem=problem,
        verification=_load_optional(get("verification")) if whole else None,
        kept=bool(get("kept")),
        again_of=get("again_of"),
        withdrawn=bool(get("withdrawn")),
    )
