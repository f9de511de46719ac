"""Public question sets, in the form that they are published in, into folders that `hopweave eval` reads."""

from evaluation.importers.importing import FORMS, import_dataset
from evaluation.importers.writing import Imported

__all__ = ["FORMS", "Imported", "import_dataset"]
