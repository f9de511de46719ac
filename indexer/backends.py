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
from core.ports.record import (
    Certificates,
    Claims,
    Commits,
    Contents,
    Corpora,
    Documents,
    GraphSchemas,
    Jobs,
    Keys,
    Maintenance,
    Reindexing,
    Staging,
    Submissions,
    Tombstones,
)
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

    corpora: Corpora
    reindexing: Reindexing
    submissions: Submissions
    jobs: Jobs
    claims: Claims
    staging: Staging
    commits: Commits
    tombstones: Tombstones
    certificates: Certificates
    certificate_secret: SharedSecret
    keys: Keys
    maintenance: Maintenance
    documents: Documents
    contents: Contents
    vectors: VectorStore
    text: TextIndex
    files: FileStore
    embedder: Embedder
    embedder_of: Callable[[Corpus], Embedder] | None = None
    models: ChatModels | None = None
    schemas: GraphSchemas | None = None
    prompts: PromptLibrary = field(default_factory=PromptLibrary)
    loaders: Loaders = field(default_factory=Loaders)

    async def read_schema(self, corpus_id: str) -> GraphSchema:
        """Returns the schema that the corpus has now."""
        text = await self.schemas.get(corpus_id) if self.schemas else None
        return NO_SCHEMA if text is None else read_graph_schema(text)

    def for_corpus(self, corpus: Corpus) -> "IndexingBackends":
        """Returns these backends with the embedding model of the corpus, or unchanged if it is not available."""
        if self.embedder_of is None:
            return self
        try:
            return replace(self, embedder=self.embedder_of(corpus))
        except EmbeddingMismatch:
            return self  # a run then fails the documents of the corpus, and a repair embeds nothing
