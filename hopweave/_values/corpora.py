"""Corpora and their counts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

__all__ = ["Corpus", "CorpusDetail", "Counts", "Embedding", "ExportFormat", "Fine", "Imported"]

Fine: TypeAlias = Literal["auto", "on", "off"]
"""Whether entities and facts get vectors and synonyms; `auto` is on for extractors that give triples."""

ExportFormat: TypeAlias = Literal["jsonl", "graphml", "csv"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedding:
    """The model that makes the vectors of a corpus."""

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

    counts: Counts | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """What an import wrote. `unchanged` documents were there already. `embedded` vectors were not in the file and were
    made again; `missing_originals` are not in it.
    """

    corpus: str
    documents: int
    unchanged: int
    chunks: int
    embedded: int
    missing_originals: int
    notes: tuple[str, ...]
