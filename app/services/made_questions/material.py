"""What questions are made of: the passages, names and facts of a corpus, which `read_material` reads."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

from app.container import Container
from core.corpora import Corpus
from core.documents import Span
from core.errors import InvalidInput
from core.execution.threads import call_in_thread
from core.text.languages import Language, detect_language
from core.text.titles import bare_title

MOST_PASSAGES = 50_000
"""Passages that are read. Of a larger corpus, documents are drawn by the seed; a passage takes some kilobytes."""

_ENGLISH: Language = "en"


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A passage with the key and the title of its document. `span` is None if its place in the document is unknown,
    or only known within a page.
    """

    id: str
    key: str
    title: str
    text: str
    span: Span | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A fact of the store, by the ids of its ends."""

    passage: Passage
    subject_id: str
    predicate: str
    object_id: str


@dataclass(frozen=True, kw_only=True)
class Material:
    """The passages of a corpus in the order of their documents, its facts, and the names of its entities by id.

    `total` is the number of its documents, `documents` how many of them are read, and `languages` counts the
    documents in English and other known languages.
    """

    passages: Sequence[Passage]
    facts: Sequence[Fact]
    names: Mapping[str, str]
    total: int
    documents: int
    languages: Mapping[Language, int]

    @property
    def is_whole(self) -> bool:
        """Whether all documents are read and in English, so that what no passage has is not in the corpus."""
        return self.is_read and self.languages.keys() <= {_ENGLISH}

    @property
    def is_read(self) -> bool:
        """Whether all documents are read: of a large corpus, some are drawn."""
        return self.documents == self.total


def keyed_hash(seed: int, *parts: str) -> bytes:
    """Returns bytes by which things are put in an order that depends on the seed and on nothing else."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16, key=str(seed).encode()).digest()


async def read_material(container: Container, corpus: Corpus, seed: int, *, most: int | None = None) -> Material:
    """Reads what the caller sees of a corpus, at one generation. Documents in other languages than English are counted
    and left out.

    Raises `InvalidInput` if there are more than `most` passages, before they are read. Without `most`, documents are
    drawn from a corpus of more than `MOST_PASSAGES`.
    """
    passages_there = 0
    documents: dict[str, Mapping[str, Any]] = {}
    chunks: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    names: dict[str, str] = {}
    facts: list[Mapping[str, Any]] = []
    kept: set[str] | None = None
    async with aclosing(container.record.exporter.rows(corpus.id, canonical=True)) as rows:
        async for row in rows:
            if row["kind"] == "document" and row.get("enabled", True):
                documents[str(row["id"])] = row
                passages_there += int(str(row["chunks"]))
                _check_size(corpus, passages_there, most)
            elif row["kind"] == "chunk":
                kept = _draw(documents, seed) if kept is None else kept
                if row["document_id"] in kept:
                    chunks[str(row["document_id"])].append(row)
            elif row["kind"] == "entity":
                names[str(row["id"])] = str(row["display"])
            elif row["kind"] == "fact":
                facts.append(row)
    return await call_in_thread(partial(_assemble, documents, chunks, facts, names))


def _assemble(
    documents: Mapping[str, Mapping[str, Any]],
    chunks: Mapping[str, list[Mapping[str, Any]]],
    facts: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
) -> Material:
    """Finds the languages of documents, which takes a core for seconds, and leaves out other languages."""
    languages = Counter[Language]()
    passages: dict[str, Passage] = {}
    for document_id, own in sorted(chunks.items(), key=lambda item: documents[item[0]]["key"]):
        own.sort(key=lambda chunk: chunk["position"])
        language = detect_language(chunk["text"] for chunk in own) or _ENGLISH
        languages[language] += 1
        if language == _ENGLISH:
            passages |= {chunk["id"]: _make_passage(documents[document_id], chunk) for chunk in own}
    return Material(
        passages=list(passages.values()),
        facts=[
            Fact(
                passage=passages[fact["chunk_id"]],
                subject_id=fact["subject_id"],
                predicate=fact["predicate"],
                object_id=fact["object_id"],
            )
            for fact in facts
            if fact["chunk_id"] in passages
        ],
        names=names,
        total=len(documents),
        documents=len(chunks),
        languages=languages,
    )


def _check_size(corpus: Corpus, passages: int, most: int | None) -> None:
    if most is not None and passages > most:
        raise InvalidInput(
            f"{corpus.name!r} has more than {most:,} passages, too many for a request; on the machine of the server, "
            f"run: hopweave questions make FOLDER --corpus {corpus.name}"
        )


def _draw(documents: Mapping[str, Mapping[str, Any]], seed: int) -> set[str]:
    """Returns the ids of the documents that are read: all, or as many as have `MOST_PASSAGES` passages."""
    kept, passages = set[str](), 0
    for id, document in sorted(documents.items(), key=lambda item: keyed_hash(seed, item[1]["key"])):
        passages += document["chunks"]
        if kept and passages > MOST_PASSAGES:
            break
        kept.add(id)
    return kept


def _make_passage(document: Mapping[str, Any], chunk: Mapping[str, Any]) -> Passage:
    place, text = chunk["span"], chunk["text"]
    is_known = chunk["page"] is None and place is not None and place[1] - place[0] == len(text)
    return Passage(
        id=chunk["id"],
        key=document["key"],
        title=bare_title(document["title"]),
        text=text,
        span=Span(start=place[0], end=place[1]) if is_known and document["chunks"] > 1 else None,
    )
