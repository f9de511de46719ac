"""The kinds of material: what is indexed, and what is asked of it. A new kind is one function and one line here."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.corpora import Corpus
from core.ids import digest
from evaluation import index_dataset, read_dataset
from tests.benchmarks.glued import glue
from tests.benchmarks.long_documents.documents import read_documents, read_questions
from tests.benchmarks.long_documents.fetching import fetch
from tests.benchmarks.materials.folders import lay
from tests.benchmarks.materials.folders import read_questions as read_folder_questions
from tests.benchmarks.materials.gold import (
    DocumentNeed,
    FigureNeed,
    LineNeed,
    PassageNeed,
    Question,
    QuoteNeed,
    find_figures,
)
from tests.benchmarks.materials.typed import Passage, typed_queries
from tests.benchmarks.workshop import Workshop, silent

__all__ = ["KINDS", "Kind", "Sources"]

_DEPTH, _FIGURES_DEPTH, _TYPED_DEPTH = 5, 10, 3
_TYPED = 60
_SEED = 7


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The folder of the question sets, and the folder that keeps fetched documents."""

    datasets: Path
    cache: Path


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of material. `index` returns its corpus, `ask` its questions, made from the passages of the corpus or read
    from the folders of `Sources`.

    `group` is the kind that is left out with it when something is chosen: forms of the same questions belong together.
    Of a kind that is `held_out`, no question may be used to choose anything.
    """

    name: str
    group: str
    index: Callable[[Workshop, Sources], Awaitable[Corpus]]
    ask: Callable[[Sources, Sequence[Passage]], Sequence[Question]]
    held_out: bool = False


def _passages(name: str, folder: str, *, group: str, held_out: bool = False) -> Kind:
    return Kind(
        name=name,
        group=group,
        index=lambda shop, sources: _index_passages(shop, sources.datasets / folder),
        ask=lambda sources, _: _ask_passages(sources.datasets / folder),
        held_out=held_out,
    )


def _lower(kind: Kind) -> Kind:
    def ask(sources: Sources, passages: Sequence[Passage]) -> list[Question]:
        return [replace(question, text=question.text.lower()) for question in kind.ask(sources, passages)]

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
    name = f"files-{digest('files', [folder.name, *_list_files(folder)])[:8]}"
    return await shop.ingest_files(folder, name)


def _list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _ask_contracts(sources: Sources, _: Sequence[Passage]) -> list[Question]:
    """A fifth of a question's words may be cut off by the end of a chunk."""
    return [
        Question(
            id=row["id"],
            text=row["question"],
            needs=tuple(QuoteNeed(source=row["source"], words=frozenset(quote.split())) for quote in row["gold"]),
        )
        for row in _read(sources.datasets / "legal" / "questions.jsonl")
    ]


def _ask_reports(sources: Sources, _: Sequence[Passage]) -> list[Question]:
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


def _ask_long(language: str) -> Callable[[Sources, Sequence[Passage]], list[Question]]:
    files = {one.id: one.file for one in read_documents()}

    def ask(_: Sources, __: Sequence[Passage]) -> list[Question]:
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
        return await _index_sentences(shop, make(sources))

    def ask(sources: Sources, _: Sequence[Passage]) -> list[Question]:
        return [
            Question(id=one.id, text=one.text, needs=tuple(sorted(one.supporting, key=str)))
            for one in read_dataset(make(sources)).questions
        ]

    return Kind(name=name, group=group, index=index, ask=ask)


async def _index_sentences(shop: Workshop, folder: Path) -> Corpus:
    corpus, _ = await index_dataset(
        shop.container,
        shop.supervision,
        read_dataset(folder),
        chunker="sentences",
        extractor="pattern",
        progress=silent,
    )
    return corpus


async def _index_folder(shop: Workshop, sources: Sources, name: str) -> Corpus:
    return await _index_files(shop, lay(name, sources.cache))


def _folder(name: str, *, held_out: bool) -> Kind:
    """The questions that a new user's folder answers. Those typed into a search box need a passage in the first 3."""

    def ask(_: Sources, __: Sequence[Passage]) -> list[Question]:
        return [
            Question(
                id=one.id,
                text=one.question,
                needs=tuple(LineNeed(lines=need.lines) for need in one.needs),
                depth=_TYPED_DEPTH if one.form == "typed" else _DEPTH,
            )
            for one in read_folder_questions(name)
            if one.needs
        ]

    return Kind(
        name=f"a new user's folder, {name}",
        group="a new user's folder",
        index=lambda shop, sources: _index_folder(shop, sources, name),
        ask=ask,
        held_out=held_out,
    )


def _typed(of: Kind) -> Kind:
    """Search words that few passages of the corpus have, of which one should be among the first 3."""

    def ask(_: Sources, passages: Sequence[Passage]) -> list[Question]:
        return [
            Question(
                id=query.text,
                text=query.text,
                needs=(PassageNeed(chunks=frozenset(query.passages)),),
                depth=_TYPED_DEPTH,
            )
            for query in typed_queries(passages, count=_TYPED, seed=_SEED)
        ]

    return Kind(name=f"typed: {of.name}", group="typed", index=of.index, ask=ask, held_out=of.held_out)


def _read(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


_MUSIQUE = _passages("MuSiQue", "musique-train-100", group="MuSiQue")
_HOTPOTQA = _passages("HotpotQA", "hotpotqa-train-100", group="HotpotQA")
_CONTRACTS = Kind(
    name="contracts",
    group="contracts",
    index=lambda shop, sources: _index_files(shop, sources.datasets / "legal" / "documents"),
    ask=_ask_contracts,
)
_REPORTS = Kind(
    name="10-Q reports",
    group="10-Q reports",
    index=lambda shop, sources: _index_files(shop, sources.datasets / "sec-10-q" / "documents"),
    ask=_ask_reports,
)
_CACM = _passages("CACM", "classic-cacm", group="CACM")
_LONG = _long("long documents, English", "en")
_FOLDER_A, _FOLDER_B = _folder("a", held_out=False), _folder("b", held_out=True)

KINDS: tuple[Kind, ...] = (
    _CONTRACTS,
    _REPORTS,
    _passages("MED", "classic-med", group="MED"),
    _CACM,
    _passages("TIME", "classic-time", group="TIME"),
    _LONG,
    _long("long documents, German", "de"),
    _long("long documents, French", "fr"),
    _FOLDER_A,
    _MUSIQUE,
    _lower(_MUSIQUE),
    _glued("MuSiQue, glued", "musique-train-100", group="MuSiQue"),
    _HOTPOTQA,
    _lower(_HOTPOTQA),
    _glued("HotpotQA, glued", "hotpotqa-train-100", group="HotpotQA"),
    *map(_typed, (_CONTRACTS, _REPORTS, _CACM, _LONG, _FOLDER_A)),
    _passages("MuSiQue, development set", "musique-dev-60", group="MuSiQue", held_out=True),
    _passages("HotpotQA, development set", "hotpotqa-dev-60", group="HotpotQA", held_out=True),
    _FOLDER_B,
)
