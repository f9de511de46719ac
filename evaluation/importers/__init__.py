"""Importers: published question sets into folders that `hopweave eval` reads. One module for each published form."""

from evaluation.importers.forms import FORMS, import_dataset
from evaluation.importers.published_files import ImportCounts

__all__ = ["FORMS", "ImportCounts", "import_dataset"]
