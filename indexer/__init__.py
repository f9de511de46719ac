"""A document in: load, chunk, extract, link; and before it, from the user's files to submissions.

Importing this loads no model, segmenter or parser.
"""

from indexer.backends import Backends
from indexer.extraction import gives_triples, has_fine_vectors, make_extractor
from indexer.loading import known_suffixes, loader_for, media_type_of
from indexer.pipeline.chunk_rows import Passage, chunk_rows, chunks_of
from indexer.pipeline.linking import Linked, link
from indexer.pipeline.worker import Pace, Worker
from indexer.pipeline.writing import commit_and_sweep
from indexer.submission.document_json import DOCUMENT_MEDIA_TYPE
from indexer.submission.intake import Rejected, read_paths
from indexer.submission.submissions import fingerprint, fingerprint_of, submission_from_json
from indexer.versions import versions_of
from indexer.views.deletion import Sweeper
from indexer.views.embedded_text import embedded_texts
from indexer.views.repair import Mender
from indexer.views.writing import ViewWriter, fine_texts

__all__ = [
    "DOCUMENT_MEDIA_TYPE",
    "Backends",
    "Linked",
    "Mender",
    "Pace",
    "Passage",
    "Rejected",
    "Sweeper",
    "ViewWriter",
    "Worker",
    "chunk_rows",
    "chunks_of",
    "commit_and_sweep",
    "embedded_texts",
    "fine_texts",
    "fingerprint",
    "fingerprint_of",
    "gives_triples",
    "has_fine_vectors",
    "known_suffixes",
    "link",
    "loader_for",
    "make_extractor",
    "media_type_of",
    "read_paths",
    "submission_from_json",
    "versions_of",
]
