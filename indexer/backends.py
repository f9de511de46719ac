"""The ports that indexing uses. The container of `app` fills them with adapters."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from core.corpora import Corpus
from core.errors import EmbeddingMismatch
from core.execution.shared_secrets import SharedSecret
from core.graph_schema import NO_SCHEMA, GraphSchema, read_graph_schema
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.files import FileStore
from core.ports.record import Record
from core.ports.views import TextIndex, VectorStore
from core.prompting.prompts import PromptLibrary
from indexer.selection.loaders import Loaders


@dataclass(frozen=True, kw_only=True)
class IndexingBackends:
    """One record with its views and files, an embedding model, and the language models if any are configured.

    `embedder_of` returns the embedding model of a corpus, and raises `EmbeddingMismatch` if it is not available here;
    None: `embedder` embeds for all corpora.

    `prompts` replace the prompts of extractors. The caller closes `loaders`.
    """

    record: Record
    certificate_secret: SharedSecret
    vectors: VectorStore
    text: TextIndex
    files: FileStore
    embedder: Embedder
    embedder_of: Callable[[Corpus], Embedder] | None = None
    models: ChatModels | None = None
    prompts: PromptLibrary = field(default_factory=PromptLibrary)
    loaders: Loaders = field(default_factory=Loaders)

    async def read_schema(self, corpus_id: str) -> GraphSchema:
        """Returns the schema that the corpus has now."""
        text = await self.record.graph_schemas.get(corpus_id)
        return NO_SCHEMA if text is None else read_graph_schema(text)

    def for_corpus(self, corpus: Corpus) -> "IndexingBackends":
        """Returns these backends with the embedding model of the corpus, or unchanged if it is not available."""
        if self.embedder_of is None:
            return self
        try:
            return replace(self, embedder=self.embedder_of(corpus))
        except EmbeddingMismatch:
            return self  # a run then fails the documents of the corpus, and a repair embeds nothing
