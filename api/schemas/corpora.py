"""The bodies of the routes of corpora, and the corpora that they show."""

from typing import Annotated, Any

from pydantic import Field

from api.schemas.base import In, Text
from api.schemas.values import fill
from core.corpora import CORPUS_NAME, CORPUS_NAME_RULE, Corpus, CorpusCounts, Fine
from core.graph_schema import MAX_BYTES
from hopweave.wire import corpora as wire

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
    graph_schema: Text | None = Field(
        default=None,
        alias="schema",
        description="A schema.toml of at most 100,000 bytes: types and relations of the graph.",
        max_length=MAX_BYTES,
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


def convert_corpus(corpus: Corpus) -> wire.Corpus:
    return fill(wire.Corpus, corpus, **_list_settings(corpus))


def convert_counted(corpus: Corpus, counts: CorpusCounts | None) -> wire.CorpusDetail:
    """Returns the corpus with its counts."""
    shown = None if counts is None else fill(wire.Counts, counts)
    return fill(wire.CorpusDetail, corpus, **_list_settings(corpus), counts=shown)


def _list_settings(corpus: Corpus) -> dict[str, Any]:
    settings = corpus.settings
    embedding = wire.Embedding(model=settings.embedding_model, dimension=settings.dimension)
    return {
        "chunker": settings.chunker,
        "extractor": settings.extractor,
        "fine": settings.fine.value,
        "embedding": embedding,
    }
