"""Evaluation: datasets, metrics and experiments on what `app` serves. Serving code never imports it.

Each question has one row for each searcher and reasoner, also if it failed; all scores are computed from the rows. The
folders build on one another: `datasets` and `scores`; `importers` and `rows`; `judging` and `ranker`; `report`;
`reproduction`.
"""

from evaluation.calibration import CalibrationSet, measure_probabilities, read_calibration_sets
from evaluation.datasets.dataset import (
    DATASET_FILES,
    Dataset,
    GoldQuestion,
    read_dataset,
)
from evaluation.datasets.noise import Noise, NoiseCounts, add_noise
from evaluation.experiment import (
    DEFAULT_SEARCHERS,
    Experiment,
    check_experiment,
    estimate_extraction,
    estimate_tree_summaries,
    run_experiment,
)
from evaluation.importers import FORMS, ImportCounts, import_dataset
from evaluation.indexing import IndexReport, ReportProgress, WorkerWatch, index_dataset, read_peak_memory_mb
from evaluation.judging import ReferenceFrom
from evaluation.model_options import parse_model_options
from evaluation.ranker.seen import SeenQuestions, add_question_hashes
from evaluation.ranker.training import (
    RankerGain,
    TrainedRanker,
    Training,
    TrainingSet,
    check_training_libraries,
    gather_training_set,
    read_training_datasets,
    train_ranker,
)
from evaluation.report.page import PlanForm, PlanSelection, build_page, build_plan_lines
from evaluation.report.result import (
    Result,
    Threshold,
    build_report,
    find_shortfalls,
    format_report,
    parse_threshold,
    rows_path,
)
from evaluation.report.tables import (
    build_calibration_report,
    build_calibration_tables,
    build_ranker_table,
    build_tables,
)
from evaluation.reproduction import (
    OVERALL,
    UNKNOWN,
    Outcome,
    Reproduction,
    Table,
    dataset_names,
    find_table,
    list_tables,
    place_datasets,
    plan_reproduction,
)
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.rows_file import RowsFile, read_answers
from evaluation.scores import Interval, bootstrap_interval
from retrieval.supports import Support

__all__ = [
    "DATASET_FILES",
    "DEFAULT_SEARCHERS",
    "FORMS",
    "OVERALL",
    "UNKNOWN",
    "AnswerRow",
    "CalibrationSet",
    "Dataset",
    "Experiment",
    "GoldQuestion",
    "ImportCounts",
    "IndexReport",
    "Interval",
    "Noise",
    "NoiseCounts",
    "Outcome",
    "PlanForm",
    "PlanSelection",
    "RankerGain",
    "ReferenceFrom",
    "ReportProgress",
    "Reproduction",
    "Result",
    "RowsFile",
    "SeenQuestions",
    "Support",
    "Table",
    "Threshold",
    "TrainedRanker",
    "Training",
    "TrainingSet",
    "WorkerWatch",
    "add_noise",
    "add_question_hashes",
    "bootstrap_interval",
    "build_calibration_report",
    "build_calibration_tables",
    "build_page",
    "build_plan_lines",
    "build_ranker_table",
    "build_report",
    "build_tables",
    "check_experiment",
    "check_training_libraries",
    "dataset_names",
    "estimate_extraction",
    "estimate_tree_summaries",
    "find_shortfalls",
    "find_table",
    "format_report",
    "gather_training_set",
    "import_dataset",
    "index_dataset",
    "list_tables",
    "measure_probabilities",
    "parse_model_options",
    "parse_threshold",
    "place_datasets",
    "plan_reproduction",
    "read_answers",
    "read_calibration_sets",
    "read_dataset",
    "read_peak_memory_mb",
    "read_training_datasets",
    "rows_path",
    "run_experiment",
    "train_ranker",
]
