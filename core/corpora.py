"""Corpora: the unit of isolation, with the settings by which documents are indexed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.documents import EmbeddedBy
from core.errors import InvalidInput

CORPUS_NAME = "[a-z0-9][a-z0-9_-]{0,62}"
CORPUS_NAME_RULE = "1 to 63 of a-z, 0-9, '-' and '_', beginning with a letter or digit"
_NAME = re.compile(CORPUS_NAME)

NO_EMBEDDING = "none"
"""In place of an embedding model: the corpus has no vectors."""
NO_GRAPH = "none"
"""In place of an extractor: the corpus has no entities and facts."""


class Fine(StrEnum):
    """Whether entities and facts get vectors and synonyms; `auto` is on for extractors that give triples."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """What decides how a document becomes chunks and facts; it changes only by reindexing."""

    chunker: str
    extractor: str
    fine: Fine
    embedding_model: str
    """`NO_EMBEDDING` for a corpus without vectors, with the dimension 0."""
    dimension: int
    embedding: str = ""
    """How `embedding_model` is made, as `KIND:MODEL`; empty in corpora of older releases: as the settings say."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of the chunker, the extractor and other parts, by role, from when the corpus was created."""

    @property
    def has_vectors(self) -> bool:
        return self.dimension > 0

    @property
    def has_graph(self) -> bool:
        return self.extractor != NO_GRAPH


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """One corpus. `id` is random; `generation` rises with each commit."""

    id: str
    name: str
    settings: CorpusSettings
    generation: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class CorpusCounts:
    """The number of rows of each kind that readers of the corpus see."""

    documents: int
    chunks: int
    entities: int
    facts: int
    mentions: int


def check_corpus_name(name: str) -> str:
    """Returns `name` if a corpus can have it; raises `InvalidInput` with the rule if not."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"corpus name {name!r} is not valid: use {CORPUS_NAME_RULE}")
    return name


def check_embedded_by(given: EmbeddedBy, settings: CorpusSettings, what: str, name: str) -> None:
    """Raises `InvalidInput` unless the embeddings fit the corpus `name`. `what` names their owner in the message."""
    if not settings.has_vectors:
        raise InvalidInput(
            f"{what} has an embedding, and corpus {name!r} has no vectors: leave the embedding out, or make them with "
            f"`hopweave corpora reindex {name} --embedding MODEL`"
        )
    if given.model != settings.embedding_model:
        raise InvalidInput(
            f"{what} has an embedding of the model {given.model!r}, and questions to corpus {name!r} are embedded with "
            f"{settings.embedding_model!r}: use a corpus with that model, or leave the embedding out"
        )
    if given.dimension != settings.dimension:
        raise InvalidInput(
            f"{what} has an embedding of {given.dimension} dimensions, and {settings.embedding_model!r} of corpus "
            f"{name!r} has {settings.dimension}: embed it with that model, or leave the embedding out"
        )
