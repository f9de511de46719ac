"""A million synthetic passages in one data folder: ingest, disk, memory, searches and changes."""

from tests.benchmarks.million.measuring import checks, measure

__all__ = ["checks", "measure"]
