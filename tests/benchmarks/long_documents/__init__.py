"""Retrieval in long documents: questions in three languages over books, manuals and papers.

`questions.jsonl` holds the questions with the lines that answer them, `documents.jsonl` where the documents come from.
"""

from tests.benchmarks.long_documents.fetching import DocumentsMissing
from tests.benchmarks.long_documents.measuring import checks, measure, table

__all__ = ["DocumentsMissing", "checks", "measure", "table"]
