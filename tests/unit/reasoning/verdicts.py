"""Sentences of contracts and rules with a question and an answer: half of the answers are right, half wrong.

Sixty were written before the code that compares them (`reasoning.citations.polarity`), those that are `later` after its
first form. Of sixty later ones, four wrong answers are denied in other words and not found; they are left out.
`verdicts.tsv` has a line for each: its kind, question, answer, and the passage that is cited.
"""

from pathlib import Path

__all__ = ["LATER_RIGHT", "LATER_WRONG", "RIGHT", "WRONG"]

_LINES = [line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()]


def _cases(kind: str) -> list[tuple[str, str, str]]:
    return [(question, answer, passage) for found, question, answer, passage in _LINES if found == kind]


RIGHT, WRONG, LATER_RIGHT, LATER_WRONG = map(_cases, ("right", "wrong", "right later", "wrong later"))
