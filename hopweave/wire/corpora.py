"""Corpora, with their settings and counts, and what an import wrote."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from hopweave.wire.base import doc

__all__ = [
    "Certificate",
    "CertificateList",
    "Corpus",
    "CorpusDetail",
    "CorpusList",
    "Counts",
    "Embedding",
    "Fine",
    "Imported",
]

Fine: TypeAlias = Literal["auto", "on", "off"]
"""Whether entities and facts get vectors and synonyms; `auto` is on for extractors that give triples."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedding:
    """The model `none` with the dimension 0 is that of a corpus without vectors."""

    model: str
    dimension: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """A corpus with its settings. `generation` grows with each change of its content."""

    id: str
    name: str
    chunker: str
    extractor: str
    fine: Fine
    embedding: Embedding
    generation: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """How many of each thing readers of a corpus see."""

    documents: int
    chunks: int
    entities: int
    facts: int
    mentions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusDetail(Corpus):
    """A corpus with its counts; None for a key with a filter, as they are those of all documents."""

    counts: Counts | None = field(metadata=doc("Null for a key with a filter: they are those of all documents."))


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """What was written. `unchanged` documents were there already; `embedded` vectors were not in the body and were made
    again, and `missing_originals` are those that it lacks.
    """

    corpus: str
    documents: int
    unchanged: int
    chunks: int
    embedded: int
    missing_originals: int
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusList:
    data: tuple[Corpus, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Certificate:
    """A signed statement of what was removed from a corpus."""

    chain: str
    number: int = field(metadata=doc("Its place in the chain, from 1."))
    corpus: str = field(metadata=doc("The name that the corpus had."))
    line: str = field(metadata=doc("The certificate with its signature, JSON in the one form that can be verified."))


@dataclass(frozen=True, kw_only=True, slots=True)
class CertificateList:
    data: tuple[Certificate, ...]
    next_cursor: str | None
