"""Datasets, metrics and experiments: measures what `app` serves, and is never imported by what serves.

Rows first: every question has a row for every searcher and reasoner, whatever became of it; all scores follow from
the rows.
"""

from evaluation.bootstrap import Interval, interval
from evaluation.datasets import Dataset, GoldQuestion, read_dataset
from evaluation.experiment import DEFAULT_SEARCHERS, Experiment, Result, run
from evaluation.indexing import IndexReport, Progress, WorkerWatch, index, peak_memory_mb
from evaluation.report import report_of, rows_file, write_report
from evaluation.supporting import Support
from evaluation.table import table_of
from evaluation.thresholds import Threshold, parse_threshold, shortfalls

__all__ = [
    "DEFAULT_SEARCHERS",
    "Dataset",
    "Experiment",
    "GoldQuestion",
    "IndexReport",
    "Interval",
    "Progress",
    "Result",
    "Support",
    "Threshold",
    "WorkerWatch",
    "index",
    "interval",
    "parse_threshold",
    "peak_memory_mb",
    "read_dataset",
    "report_of",
    "rows_file",
    "run",
    "shortfalls",
    "table_of",
    "write_report",
]
