"""Questions with known answers and supports, made from a corpus, and searchers that are measured with them."""

from app.services.made_questions.making import MadeQuestions, make_questions, parse_kinds
from app.services.made_questions.material import Material, read_material
from app.services.made_questions.questions import KINDS, Kind, MadeQuestion, SupportedQuestion
from app.services.made_questions.requests import (
    MOST_ASKED,
    MOST_MADE,
    MOST_SEARCHERS,
    MOST_SUPPORTS,
    Measurement,
    make_for_caller,
    measure_searchers,
)

__all__ = [
    "KINDS",
    "MOST_ASKED",
    "MOST_MADE",
    "MOST_SEARCHERS",
    "MOST_SUPPORTS",
    "Kind",
    "MadeQuestion",
    "MadeQuestions",
    "Material",
    "Measurement",
    "SupportedQuestion",
    "make_for_caller",
    "make_questions",
    "measure_searchers",
    "parse_kinds",
    "read_material",
]
