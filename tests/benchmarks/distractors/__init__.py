"""Retrieval as a corpus grows by passages of other articles: `python -m tests.benchmarks.distractors --help`."""

from tests.benchmarks.distractors.measuring import checks, measure, table

__all__ = ["checks", "measure", "table"]
