"""Questions with known answers and supports, made from a corpus; `hopweave questions make` writes them as a dataset."""

from evaluation.made_questions.making import MadeQuestions, make_questions, parse_kinds
from evaluation.made_questions.material import Material, read_material
from evaluation.made_questions.questions import KINDS, Kind, MadeQuestion, check_folder, write_questions

__all__ = [
    "KINDS",
    "Kind",
    "MadeQuestion",
    "MadeQuestions",
    "Material",
    "check_folder",
    "make_questions",
    "parse_kinds",
    "read_material",
    "write_questions",
]
