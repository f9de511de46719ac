"""The ports of indexing: loaders, chunkers and extractors, with the values between them. They do no writing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.documents import Metadata
from core.graph import Extraction, Triple
from core.ports.embedding import TokenCounter
from core.trace import Trace

__all__ = ["Asking", "Block", "Chunker", "DraftChunk", "Extractor", "LoadedDocument", "Loader", "Source"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A document's bytes with what its sender stated about them."""

    key: str
    content: bytes
    media_type: str
    title: str | None
    metadata: Metadata


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of a document under one heading path (or on one page). Chunks never span two blocks.

    `start` is the offset of `text` in the document's text, in code points (None: unknown). `entities` and `triples` are
    given by the document itself.
    """

    text: str
    heading: tuple[str, ...] = ()
    page: int | None = None
    start: int | None = 0
    entities: tuple[str, ...] = ()
    triples: tuple[Triple, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LoadedDocument:
    """A loaded document. `entities` and `triples` are given by the document itself; `malformed` counts given triples
    that are not three names.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]
    entities: tuple[str, ...] = ()
    triples: tuple[Triple, ...] = ()
    malformed: int = 0


@dataclass(frozen=True, kw_only=True)
class DraftChunk:
    """A chunk without an id. `heading` is the path joined by ' › '; `block` is the index of its block.

    `start` is the offset in the document's text, in code points (None if the block has none). `tokens` are the
    embedding model's.
    """

    text: str
    heading: str = ""
    page: int | None = None
    start: int | None = None
    block: int = 0
    tokens: int = 0


class Loader(Protocol):
    """Reads one kind of content. Its module names its media types and file suffixes."""

    def load(self, source: Source) -> LoadedDocument:
        """Returns the document; raises `LoadFailed`, saying what is wrong with the bytes and where."""
        ...


class Chunker(Protocol):
    """Cuts a document into chunks that fit into the embedding model, in order; an empty document has none."""

    def chunk(self, document: LoadedDocument, tokens: TokenCounter) -> list[DraftChunk]: ...


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How an extractor that asks a model wants to be used: chunk by chunk, `concurrency` chunks at a time, and each up
    to `attempts` times. `characters` tells how long the prompt for a chunk is, for estimates.
    """

    concurrency: int
    attempts: int
    characters: Callable[[LoadedDocument, DraftChunk], int]


class Extractor(Protocol):
    """Finds entities and triples. `fingerprint` changes whenever the same input could give another result."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def gives_triples(self) -> bool:
        """Whether `fine: auto` means that entities and facts get vectors."""
        ...

    @property
    def asking(self) -> Asking | None:
        """None: no model is asked, so nothing is paid for and nothing fails."""
        ...

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,
        attempt: int = 0,
    ) -> list[Extraction]:
        """Returns one extraction for each index of `wanted`, in that order; `chunks` are all of the document's, for
        context.

        `attempt` counts from 0 how often these were requested without success. If a model is called, raises what
        `core.ports.chat.ChatModel` raises; then no extraction is returned, not even of chunks that succeeded.
        """
        ...

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        """Returns all that the extraction of this chunk depends on, for its hash."""
        ...
