"""A document as one JSON object, with chunks, entities and triples if its sender has them."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import InvalidInput, LoadFailed
from core.ports.indexing import Block, LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line
from indexer.submission.decoding import decode
from indexer.submission.document_json import (
    DOCUMENT_MEDIA_TYPE,
    canonical_json,
    check_document,
    parse_json,
    read_triples,
)
from indexer.submission.given_embeddings import decode_embedding

MEDIA_TYPES = (DOCUMENT_MEDIA_TYPE, "application/json")
SUFFIXES = (".json",)
EXAMPLE = '{"title": "القاهرة", "text": "مدينة كبيرة. 很大。"}'.encode()


class Config(StrategyConfig):
    """No options."""


class JsonLoader:
    """Makes each chunk of the sender a block. A document without a title has no title: a key is no name."""

    def load(self, source: Source) -> LoadedDocument:
        text = decode(source.content, source.key)
        try:
            document = check_document(parse_json(text))
            canonical_json(document)  # raises for values that no store can keep
        except InvalidInput as error:
            raise LoadFailed(f"{source.key!r}: {error}") from error
        triples, malformed = read_triples(document.get("triples", ()))
        blocks = _blocks(document)
        return LoadedDocument(
            key=source.key,
            title=one_line(source.title or document.get("title", "")),
            blocks=tuple(block for block, _ in blocks),
            entities=_names(document.get("entities", ())),
            triples=triples,
            malformed=malformed + sum(count for _, count in blocks),
            embedding_model=document.get("embedding_model", ""),
        )


def _blocks(document: Mapping[str, Any]) -> list[tuple[Block, int]]:
    """Returns the blocks, each with the number of its malformed triples."""
    if "text" in document:
        return [(Block(text=document["text"], start=0, embedding=decode_embedding(document.get("embedding", ""))), 0)]
    return [_block(chunk) for chunk in document["chunks"]]


def _block(chunk: Mapping[str, Any]) -> tuple[Block, int]:
    triples, malformed = read_triples(chunk.get("triples") or ())
    block = Block(
        text=chunk["text"],
        page=chunk.get("page"),
        start=None,
        entities=_names(chunk.get("entities") or ()),
        triples=triples,
        embedding=decode_embedding(chunk.get("embedding") or ""),
    )
    return block, malformed


def _names(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name.strip())


def build(_config: Config, _backends: object) -> Loader:
    return JsonLoader()
