"""The ports of indexing: loader, converter of files, chunker and extractor. They work on values and write nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from core.documents import Metadata
from core.graph import Extraction, Triple
from core.graph_schema import GraphSchema
from core.ports.embedding import TokenCounter
from core.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Source:
    """The bytes of a document, with the title, media type and metadata that its sender gave."""

    key: str
    content: bytes
    media_type: str
    title: str | None
    metadata: Metadata


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A part of a document under one heading path or on one page. No chunk crosses the end of a block.

    `start` is the offset of `text` in the text of its page (of the document if it has no pages), in code points, or
    None if it has none. `page` counts from 1. The sender gave `entities` and `triples` for the block,
    and `embedding` its vector, as 32-bit floats of length one (b'': none).
    """

    text: str
    heading: tuple[str, ...] = ()
    page: int | None = None
    start: int | None = 0
    entities: tuple[str, ...] = ()
    triples: tuple[Triple, ...] = ()
    embedding: bytes = b""


@dataclass(frozen=True, kw_only=True)
class LoadedDocument:
    """A loaded document. The sender gave `entities` and `triples` for all of it.

    `malformed` counts given triples, also of blocks, that are not three names. `metadata` are found in
    the content, such as an author and a date; the sender's metadata are not among them. `pages` are the texts in which
    blocks have their places: page n is `pages[n - 1]`, and a document without pages has one text. They are empty if the
    loader keeps none. `embedding_model` made the embeddings of the blocks; '' if there are none.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]
    metadata: Metadata = field(default_factory=dict)
    pages: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    triples: tuple[Triple, ...] = ()
    malformed: int = 0
    embedding_model: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftChunk:
    """A chunk without an id. `heading` is the path joined by ' › '; `block` is the index of its block.

    The heading of a chunk that begins within a table has the names of the table's columns as its last part.

    `start` is the offset in the text of its page, or of the document if it has no pages, in code points (None if the
    block has none). `tokens` are the embedding model's.
    """

    text: str
    heading: str = ""
    page: int | None = None
    start: int | None = None
    block: int = 0
    tokens: int = 0


class Loader(Protocol):
    """Reads one kind of content. The module of a loader names its media types and file suffixes."""

    def load(self, source: Source) -> LoadedDocument:
        """Raises `LoadFailed`, which says what is wrong with the bytes and where."""
        ...


class Chunker(Protocol):
    """Cuts a document into chunks that the embedding model reads whole, in order. An empty document has none.

    A block with an embedding is one chunk, however long it is.
    """

    def chunk(self, document: LoadedDocument, tokens: TokenCounter) -> Sequence[DraftChunk]: ...


@dataclass(frozen=True, kw_only=True)
class ModelCalls:
    """How an extractor that calls a model is used: chunk by chunk, and `concurrency` chunks at a time.

    A chunk that fails is tried up to `attempts` times. `characters` returns the length of the prompt for a chunk, for
    estimates.
    """

    concurrency: int
    attempts: int
    characters: Callable[[LoadedDocument, DraftChunk], int]


class Extractor(Protocol):
    """Finds entities and triples. `fingerprint` changes whenever the same input may give another result."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def gives_triples(self) -> bool:
        """Whether it finds triples. Its module says whether they have vectors with `fine: auto`."""
        ...

    @property
    def model_calls(self) -> ModelCalls | None:
        """None if the extractor calls no model. Then nothing is paid for and nothing fails."""
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
        """Returns everything that the extraction of this chunk depends on, for its hash."""
        ...


@runtime_checkable
class ReadsSchema(Protocol):
    """An extractor that looks for the types and relations of a schema."""

    def with_schema(self, schema: GraphSchema) -> Extractor:
        """Returns this extractor for a corpus with the schema. Its fingerprint covers what it uses of the schema."""
        ...


class FileConverter(Protocol):
    """Converts one file at a time, in the thread that calls it. Several threads may call at once."""

    def convert(self, source: Source, format: str) -> bytes:
        """Returns the reply of the service, unread. `format` is the name of the loader that would read the file.

        Raises `LoadFailed` if the service cannot convert this file or refuses it, and `Unavailable` if it cannot be
        reached or is busy, so that a later call may succeed.
        """
        ...

    def interrupt(self) -> None:
        """Ends the waiting for files that are being converted, which fail. Without effect on later calls."""
        ...

    def close(self) -> None:
        """Closes connections. A later call opens new ones."""
        ...
