"""Questions with known answers and supports, made from a corpus, and searchers that are measured with them."""

from app.services.made_questions.making import (
    MOST_ASKED,
    MOST_MADE,
    MOST_SEARCHERS,
    MOST_SUPPORTS,
    MadeQuestions,
    Measurement,
    make_for_caller,
    make_questions,
    measure_searchers,
    parse_kinds,
)
from app.services.made_questions.material import Material, read_material
from app.services.made_questions.questions import KINDS, Kind, MadeQuestion, SupportedQuestion

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
