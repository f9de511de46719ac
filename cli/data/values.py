"""Values of `core` from the JSON of the HTTP API."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.corpora import Corpus, CorpusCounts, CorpusSettings, Fine
from core.documents import Document, RevisionState
from core.jobs import Job, JobAhead, JobKind, JobProgress, JobState

__all__ = ["read_corpus", "read_document", "read_job"]

Json = Mapping[str, Any]


def read_corpus(found: Json) -> tuple[Corpus, CorpusCounts]:
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


def read_document(found: Json) -> Document:
    times = {"updated_at": datetime.fromisoformat(found["updated_at"])}
    return Document(**{**found, "state": RevisionState(found["state"]), **times})


def read_job(found: Json) -> Job:
    return Job(
        id=found["id"],
        corpus_id=found["corpus_id"],
        corpus_name=found["corpus"],
        kind=JobKind(found["kind"]),
        state=JobState(found["state"]),
        counts=found["counts"],
        malformed_triples=found["malformed_triples"],
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
