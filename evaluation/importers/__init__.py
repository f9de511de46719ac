"""Importers: published question sets into folders that `hopweave eval` reads. One module for each published form."""

from evaluation.importers.dataset_writer import ImportCounts
from evaluation.importers.forms import FORMS, import_dataset

__all__ = ["FORMS", "ImportCounts", "import_dataset"]
