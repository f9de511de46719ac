"""Questions with known answers and supports, made from a corpus; `hopweave questions make` writes them as a dataset."""

from app.services.made_questions.making import MadeQuestions, make_questions, parse_kinds
from app.services.made_questions.material import Material, read_material
from app.services.made_questions.questions import KINDS, Kind, MadeQuestion

__all__ = [
    "KINDS",
    "Kind",
    "MadeQuestion",
    "MadeQuestions",
    "Material",
    "make_questions",
    "parse_kinds",
    "read_material",
]
