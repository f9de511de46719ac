"""Datasets, metrics and experiments: measures what `app` serves, and is never imported by what serves.

Rows first: every question has a row for every searcher and reasoner, whatever became of it; all scores follow from
the rows.
"""

from evaluation.datasets import Dataset, GoldQuestion, read_dataset
from evaluation.experiment import DEFAULT_SEARCHERS, Experiment, check, run
from evaluation.importers import FORMS, Imported, import_dataset
from evaluation.indexing import IndexReport, Progress, WorkerWatch, index, peak_memory_mb
from evaluation.model_choice import chosen_models
from evaluation.ranker.ranker_training import Judgement, Trained, Training, check_installed, train
from evaluation.ranker.training_set import TrainingSet, gather_set, read_training_datasets
from evaluation.report.ranker_table import ranker_table
from evaluation.report.report import report_of, rows_file, write_report
from evaluation.report.table import table_of
from evaluation.rows.result import Result
from evaluation.rows.rows_file import RowsFile
from evaluation.scores.bootstrap import Interval, interval
from evaluation.scores.supporting import Support
from evaluation.scores.thresholds import Threshold, parse_threshold, shortfalls

__all__ = [
    "DEFAULT_SEARCHERS",
    "FORMS",
    "Dataset",
    "Experiment",
    "GoldQuestion",
    "Imported",
    "IndexReport",
    "Interval",
    "Judgement",
    "Progress",
    "Result",
    "RowsFile",
    "Support",
    "Threshold",
    "Trained",
    "Training",
    "TrainingSet",
    "WorkerWatch",
    "check",
    "check_installed",
    "chosen_models",
    "gather_set",
    "import_dataset",
    "index",
    "interval",
    "parse_threshold",
    "peak_memory_mb",
    "ranker_table",
    "read_dataset",
    "read_training_datasets",
    "report_of",
    "rows_file",
    "run",
    "shortfalls",
    "table_of",
    "train",
    "write_report",
]
