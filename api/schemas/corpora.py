"""The bodies and responses of the routes of corpora, and of the import of an exported corpus."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import Field

from api.schemas.base import In, Out
from core.corpora import CORPUS_NAME, CORPUS_NAME_RULE, Corpus, CorpusCounts, Fine

__all__ = ["CorpusDetailOut", "CorpusIn", "CorpusListOut", "CorpusOut", "ImportedOut", "ReindexIn", "RenameIn"]

CorpusName = Annotated[
    str,
    Field(json_schema_extra={"pattern": f"^{CORPUS_NAME}$"}, description=CORPUS_NAME_RULE),
]
"""The name is checked by the service, whose message tells the rule."""


class CorpusIn(In):
    """Fields that are not given come from the server's settings."""

    name: CorpusName
    chunker: str | None = Field(default=None, description="`NAME[:key=value,…]`; see /v1/strategies.")
    extractor: str | None = Field(
        default=None, description="One or several, joined with '+'; `none`: without entities and facts."
    )
    fine: Fine | None = Field(default=None, description="Whether entities and facts get vectors and synonyms.")
    embedding: str | None = Field(
        default=None,
        description="`KIND:MODEL`, or the name of the configured or the built-in model. Beside these, models that the "
        "server offers (HOPWEAVE_EMBEDDING__OFFERED). `none`: without vectors.",
    )


class ReindexIn(In):
    """Fields that are not given stay as they are in the corpus; without `embedding`, the configured model embeds it,
    unless it has no vectors.
    """

    chunker: str | None = Field(default=None, description="`NAME[:key=value,…]`; see /v1/strategies.")
    extractor: str | None = Field(
        default=None, description="One or several, joined with '+'; `none`: without entities and facts."
    )
    fine: Fine | None = Field(default=None, description="Whether entities and facts get vectors and synonyms.")
    embedding: str | None = Field(default=None, description="The embedding model, named as for a new corpus.")


class RenameIn(In):
    name: CorpusName


class EmbeddingOut(Out):
    """The model `none` with the dimension 0 is that of a corpus without vectors."""

    model: str
    dimension: int


class CorpusOut(Out):
    id: str
    name: str
    chunker: str
    extractor: str
    fine: Fine
    embedding: EmbeddingOut
    generation: int
    created_at: datetime

    @staticmethod
    def from_corpus(corpus: Corpus) -> "CorpusOut":
        settings = corpus.settings
        return CorpusOut(
            id=corpus.id,
            name=corpus.name,
            chunker=settings.chunker,
            extractor=settings.extractor,
            fine=settings.fine,
            embedding=EmbeddingOut(model=settings.embedding_model, dimension=settings.dimension),
            generation=corpus.generation,
            created_at=corpus.created_at,
        )


class CountsOut(Out):
    documents: int
    chunks: int
    entities: int
    facts: int
    mentions: int


class CorpusDetailOut(CorpusOut):
    counts: CountsOut | None = Field(description="Null for a key with a filter: they are those of all documents.")

    @classmethod
    def from_counts(cls, corpus: Corpus, counts: CorpusCounts | None) -> Self:
        shown = None if counts is None else CountsOut.model_validate(counts)
        return cls(**dict(CorpusOut.from_corpus(corpus)), counts=shown)


class CorpusListOut(Out):
    data: list[CorpusOut]
    next_cursor: str | None


class ImportedOut(Out):
    """What was written. `unchanged` documents were there already; `embedded` vectors were not in the body and were made
    again, and `missing_originals` are those that it lacks.
    """

    corpus: str
    documents: int
    unchanged: int
    chunks: int
    embedded: int
    missing_originals: int
    notes: list[str]
