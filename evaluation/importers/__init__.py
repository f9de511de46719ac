"""Public question sets, in the form that they are published in, into folders that `hopweave eval` reads."""

from evaluation.importers.dataset_writer import ImportCounts
from evaluation.importers.forms import FORMS, import_dataset

__all__ = ["FORMS", "ImportCounts", "import_dataset"]
