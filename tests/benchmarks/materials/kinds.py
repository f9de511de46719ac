"""The kinds of material: what is indexed, and what is asked of it. A new kind is one function and one line here."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.services import corpora, ingestion
from core.corpora import Corpus
from core.documents import OnConflict
from core.ids import digest
from core.jobs import JobState
from evaluation import read_dataset
from indexer import read_paths
from tests.benchmarks.glued import glue
from tests.benchmarks.long_documents.documents import read_documents, read_questions
from tests.benchmarks.long_documents.fetching import fetch
from tests.benchmarks.materials.gold import (
    DocumentNeed,
    FigureNeed,
    LineNeed,
    Need,
    Question,
    QuoteNeed,
    find_figures,
)
from tests.benchmarks.workshop import Workshop, silent

__all__ = ["KINDS", "Kind", "Sources"]

_POLL_SECONDS = 0.2
_FIGURES_DEPTH = 10


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The folder of the question sets, and the folder that keeps fetched documents."""

    datasets: Path
    cache: Path


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of material. `index` returns its corpus, `ask` its questions; both read the folders of `Sources`.

    `group` is the kind that is left out with it in training: forms of the same questions belong together. Of a kind
    that is not `trained`, no question may be used to choose anything.
    """

    name: str
    group: str
    index: Callable[[Workshop, Sources], Awaitable[Corpus]]
    ask: Callable[[Sources], Sequence[Question]]
    trained: bool = True


def _passages(name: str, folder: str, *, group: str, trained: bool = True) -> Kind:
    return Kind(
        name=name,
        group=group,
        index=lambda shop, sources: _index_passages(shop, sources.datasets / folder),
        ask=lambda sources: _ask_passages(sources.datasets / folder),
        trained=trained,
    )


def _lower(kind: Kind) -> Kind:
    def ask(sources: Sources) -> list[Question]:
        return [replace(question, text=question.text.lower()) for question in kind.ask(sources)]

    return replace(kind, name=f"{kind.name}, lower case", ask=ask)


async def _index_passages(shop: Workshop, folder: Path) -> Corpus:
    corpus, _ = await shop.ingest(read_dataset(folder))
    return corpus


def _ask_passages(folder: Path) -> list[Question]:
    return [
        Question(
            id=asked.id,
            text=asked.text,
            needs=tuple(DocumentNeed(key=one.key) for one in sorted(asked.supporting, key=lambda one: one.key)),
        )
        for asked in read_dataset(folder).questions
    ]


async def _index_files(shop: Workshop, folder: Path) -> Corpus:
    """Returns the corpus of the files of a folder, indexed with the settings of a user who set nothing."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    corpus = await corpora.ensure(shop.container, f"files-{digest('files', [folder.name, *names])[:8]}")
    job_id = ""
    documents = read_paths([folder], with_given=False)
    async with aclosing(ingestion.submit_all(shop.container, corpus, documents, OnConflict.REPLACE)) as parts:
        async for part in parts:
            job_id = part.job.id
    job = await shop.container.record.jobs.get(job_id)
    while not job.state.final:
        await asyncio.sleep(_POLL_SECONDS)
        job = await shop.container.record.jobs.get(job_id)
    if job.state is not JobState.DONE:
        raise RuntimeError(f"{folder}: the files could not all be indexed: {job.failures}")
    return corpus


def _ask_contracts(sources: Sources) -> list[Question]:
    """A fifth of a question's words may be cut off by the end of a chunk."""
    return [
        Question(
            id=row["id"],
            text=row["question"],
            needs=tuple(QuoteNeed(source=row["source"], words=frozenset(quote.split())) for quote in row["gold"]),
        )
        for row in _read(sources.datasets / "legal" / "questions.jsonl")
    ]


def _ask_reports(sources: Sources) -> list[Question]:
    """The figures of a question's answer; questions without figures are left out."""
    found = []
    for row in _read(sources.datasets / "sec-10-q" / "questions.jsonl"):
        needs = tuple(FigureNeed(figure=one, documents=row["documents"]) for one in find_figures(row["answer"]))
        if needs:
            found.append(Question(id=row["id"], text=row["question"], needs=needs, depth=_FIGURES_DEPTH))
    return found


async def _index_long(shop: Workshop, sources: Sources) -> Corpus:
    folder = sources.cache / "long_documents"
    fetch(read_documents(), folder)
    return await _index_files(shop, folder)


def _ask_long(language: str) -> Callable[[Sources], list[Question]]:
    files = {one.id: one.file for one in read_documents()}

    def ask(_: Sources) -> list[Question]:
        return [
            Question(
                id=one.id,
                text=one.text,
                needs=tuple(
                    LineNeed(lines=tuple((files[need.document], quote) for quote in need.quotes)) for need in one.needs
                ),
            )
            for one in read_questions()
            if one.language == language
        ]

    return ask


def _long(name: str, language: str) -> Kind:
    return Kind(name=name, group="long documents", index=_index_long, ask=_ask_long(language))


def _glued(name: str, folder: str, *, group: str) -> Kind:
    """Passages of a question set, ten of which are one document; a chunk counts that overlaps the passage."""

    def make(sources: Sources) -> Path:
        target = sources.cache / f"{folder}-glued"
        return target if (target / "questions.jsonl").exists() else glue(sources.datasets / folder, target)

    async def index(shop: Workshop, sources: Sources) -> Corpus:
        return await corpus_of_sentences(shop, make(sources))

    def ask(sources: Sources) -> list[Question]:
        return [
            Question(id=one.id, text=one.text, needs=tuple(sorted(one.supporting, key=lambda support: support.label)))
            for one in read_dataset(make(sources)).questions
        ]

    return Kind(name=name, group=group, index=index, ask=ask)


async def corpus_of_sentences(shop: Workshop, folder: Path) -> Corpus:
    from evaluation import index_dataset

    corpus, _ = await index_dataset(
        shop.container, shop.supervision, read_dataset(folder), chunker="sentences", extractor="pattern", progress=silent
    )
    return corpus


def _read(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


_MUSIQUE = _passages("MuSiQue", "musique-train-100", group="MuSiQue")
_HOTPOTQA = _passages("HotpotQA", "hotpotqa-train-100", group="HotpotQA")

KINDS: tuple[Kind, ...] = (
    _MUSIQUE,
    _lower(_MUSIQUE),
    _glued("MuSiQue, glued", "musique-train-100", group="MuSiQue"),
    _HOTPOTQA,
    _lower(_HOTPOTQA),
    _glued("HotpotQA, glued", "hotpotqa-train-100", group="HotpotQA"),
    Kind(
        name="contracts",
        group="contracts",
        index=lambda shop, sources: _index_files(shop, sources.datasets / "legal" / "documents"),
        ask=_ask_contracts,
    ),
    Kind(
        name="10-Q reports",
        group="10-Q reports",
        index=lambda shop, sources: _index_files(shop, sources.datasets / "sec-10-q" / "documents"),
        ask=_ask_reports,
    ),
    _passages("MED", "classic-med", group="MED"),
    _passages("CACM", "classic-cacm", group="CACM"),
    _passages("TIME", "classic-time", group="TIME"),
    _long("long documents, English", "en"),
    _long("long documents, German", "de"),
    _long("long documents, French", "fr"),
    _passages("MuSiQue, development set", "musique-dev-60", group="held out", trained=False),
    _passages("HotpotQA, development set", "hotpotqa-dev-60", group="held out", trained=False),
)

_ = Need
