"""Parts of reports that say nothing of the business: officers' certificates, and lists of contents.

They are short and have the words of the report's title, or of its headings, so they are near to most questions.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.passage_context.windows import stems_of
from core.text.terms import hash_stem
from retrieval.graph.snapshot import GraphSnapshot

Floats = NDArray[np.float64]

_LOSS = 3.0
"""What such a passage loses, in standard deviations of the candidates' scores."""


@dataclass(frozen=True)
class _Form:
    """Stems by which a passage is known: one of `always`, and at least `fewest` of `several`. A question with one of
    the stems `ask` asks for it.
    """

    always: frozenset[str]
    several: frozenset[str]
    fewest: int
    ask: frozenset[str]


_FORMS = (
    _Form(
        always=stems_of("certify certification certificate"),
        several=stems_of("registrant Sarbanes Oxley officer 906 1350"),
        fewest=2,
        ask=stems_of("certify certification certificate Sarbanes Oxley officer sign exhibit disclosure controls"),
    ),
    _Form(
        always=stems_of("contents"),
        several=stems_of("items signatures exhibits defaults mine unregistered proceedings"),
        fewest=5,
        ask=stems_of("contents sections items parts exhibits signatures pages"),
    ),
)


def weigh_report_forms(chunks: NDArray[np.int64], scores: Floats, question: str, snapshot: GraphSnapshot) -> Floats:
    """Returns what is added to the score of each candidate, (n,): such passages lose, unless they are asked for."""
    added = np.zeros(len(chunks))
    asked = stems_of(question)
    forms = [form for form in _FORMS if not form.ask & asked]
    if not forms or not len(chunks):
        return added
    rows, owner = snapshot.terms_of(chunks)

    def count(stems: Iterable[str]) -> NDArray[np.int64]:
        counts = np.zeros(len(chunks), np.int64)
        for stem in stems:
            counts[np.unique(owner[rows["stem"] == hash_stem(stem)])] += 1
        return counts

    for form in forms:
        is_form = (count(form.always) > 0) & (count(form.several) >= form.fewest)
        added[is_form] = -_LOSS * max(float(scores.std()), 1.0)  # 1 without the score of rare words
    return added
