"""A document in: load, chunk, extract, link; and before it, from the user's files to submissions.

Importing this loads no model, segmenter or parser.
"""

from indexer.backends import Backends
from indexer.document_json import DOCUMENT_MEDIA_TYPE
from indexer.embedded_text import embedded_text, embedded_texts
from indexer.extraction import gives_triples, make_extractor
from indexer.intake import Rejected, read_paths
from indexer.linking import Linked, link
from indexer.loading import known_suffixes, loader_for, media_type_of
from indexer.submissions import fingerprint, submission_from_json
from indexer.versions import versions_of
from indexer.worker import Pace, Worker

__all__ = [
    "DOCUMENT_MEDIA_TYPE",
    "Backends",
    "Linked",
    "Pace",
    "Rejected",
    "Worker",
    "embedded_text",
    "embedded_texts",
    "fingerprint",
    "gives_triples",
    "known_suffixes",
    "link",
    "loader_for",
    "make_extractor",
    "media_type_of",
    "read_paths",
    "submission_from_json",
    "versions_of",
]
