"""Indexing: reads submissions, and loads, chunks, extracts, embeds and commits documents.

Importing this package loads no model, segmenter or parser.
"""

from indexer.backends import IndexingBackends
from indexer.chunking.embedded_text import embedded_texts
from indexer.isolation.lane import LaneLimits, PageImages, has_page_images
from indexer.isolation.limits import ParserLimits
from indexer.loading.kept_pages import pack_pages, unpack_pages
from indexer.loading.pdf.drawing import DrawnPage
from indexer.pipeline.options import DocumentLimits, WorkerOptions
from indexer.pipeline.prepared_revision import ChunkContent, make_chunk_rows, make_chunks
from indexer.pipeline.worker import Worker
from indexer.pipeline.writing import commit_revisions
from indexer.selection.attachments import ATTACHMENT_OF, AttachmentReader, attachment_prefix
from indexer.selection.docling import Docling, DoclingEndpoint, DoclingProcess
from indexer.selection.extractors import gives_triples, has_fine_vectors, make_chunker, make_extractor, versions_of
from indexer.selection.loaders import Loaders, known_suffixes, loader_for
from indexer.selection.loading_lane import LoadingLane
from indexer.submission.access_rules import NO_RULES, AccessRules, read_access_rules
from indexer.submission.document_json import LAST_PAGE, canonical_json, parse_json
from indexer.submission.embedding_file import EmbeddingFile, open_embeddings
from indexer.submission.given_embeddings import LONGEST_EMBEDDING
from indexer.submission.json_lines import Rejection
from indexer.submission.parquet_file import SUFFIX as PARQUET
from indexer.submission.passage_table import is_passage_table
from indexer.submission.reading import KeySet, TakenKeys, count_documents, read_embedded, read_paths
from indexer.submission.submissions import fingerprint, fingerprint_of, source_of, submission_from_json
from indexer.submission.tracking import Comparison, Tracker
from indexer.submission.uploads import UploadedFile, make_submission, read_uploads, read_within
from indexer.submission.walking import EVERYTHING, Selection
from indexer.views.certifying import append_certificate
from indexer.views.repair import ViewDeleter, ViewRepairer
from indexer.views.writing import ViewWriter, fine_texts

__all__ = [
    "ATTACHMENT_OF",
    "EVERYTHING",
    "LAST_PAGE",
    "LONGEST_EMBEDDING",
    "NO_RULES",
    "PARQUET",
    "AccessRules",
    "AttachmentReader",
    "ChunkContent",
    "Comparison",
    "Docling",
    "DoclingEndpoint",
    "DoclingProcess",
    "DocumentLimits",
    "DrawnPage",
    "EmbeddingFile",
    "IndexingBackends",
    "KeySet",
    "LaneLimits",
    "Loaders",
    "LoadingLane",
    "PageImages",
    "ParserLimits",
    "Rejection",
    "Selection",
    "TakenKeys",
    "Tracker",
    "UploadedFile",
    "ViewDeleter",
    "ViewRepairer",
    "ViewWriter",
    "Worker",
    "WorkerOptions",
    "append_certificate",
    "attachment_prefix",
    "canonical_json",
    "commit_revisions",
    "count_documents",
    "embedded_texts",
    "fine_texts",
    "fingerprint",
    "fingerprint_of",
    "gives_triples",
    "has_fine_vectors",
    "has_page_images",
    "is_passage_table",
    "known_suffixes",
    "loader_for",
    "make_chunk_rows",
    "make_chunker",
    "make_chunks",
    "make_extractor",
    "make_submission",
    "open_embeddings",
    "pack_pages",
    "parse_json",
    "read_access_rules",
    "read_embedded",
    "read_paths",
    "read_uploads",
    "read_within",
    "source_of",
    "submission_from_json",
    "unpack_pages",
    "versions_of",
]
