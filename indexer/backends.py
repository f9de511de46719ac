"""The ports that indexing uses. The container of `app` fills them with adapters."""

from dataclasses import dataclass, field

from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.files import FileStore
from core.ports.record import (
    Claims,
    Commits,
    Contents,
    Corpora,
    Documents,
    Jobs,
    Maintenance,
    Reindexing,
    Staging,
    Submissions,
    Tombstones,
)
from core.ports.views import TextIndex, VectorStore
from core.prompting.prompts import PromptLibrary
from indexer.selection.loaders import Loaders

__all__ = ["IndexingBackends"]


@dataclass(frozen=True, kw_only=True)
class IndexingBackends:
    """One record with its views and files, one embedding model, and the language models if any are configured.

    `prompts` replace those of extractors. The caller closes `loaders`.
    """

    corpora: Corpora
    reindexing: Reindexing
    submissions: Submissions
    jobs: Jobs
    claims: Claims
    staging: Staging
    commits: Commits
    tombstones: Tombstones
    maintenance: Maintenance
    documents: Documents
    contents: Contents
    vectors: VectorStore
    text: TextIndex
    files: FileStore
    embedder: Embedder
    models: ChatModels | None = None
    prompts: PromptLibrary = field(default_factory=PromptLibrary)
    loaders: Loaders = field(default_factory=Loaders)
