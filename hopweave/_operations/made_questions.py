"""Questions that are made of a corpus, and searchers that are measured with them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hopweave._steps import Steps, call, path
from hopweave.wire.made_questions import MadeKind, MadeQuestion, MadeQuestions, Measurement, SearcherScores

__all__ = ["make_questions", "measure_searchers"]

_MOST_ASKED = 25
"""Questions of one request; a measurement of more is several requests, so that each of them is short."""


def make_questions(
    corpus: str, *, count: int = 50, seed: int = 0, kinds: Sequence[MadeKind] | None = None
) -> Steps[MadeQuestions]:
    """Returns at most `count` (up to 500) questions with known supports, made from the facts and tables of a corpus.

    The server keeps none of them. The same corpus, seed and kinds give the same questions. Raises
    `InvalidRequestError` for a corpus without facts and tables, and for one that is too large for a request.
    """
    body = {"count": count, "seed": seed, **({} if kinds is None else {"kinds": list(kinds)})}
    return call(MadeQuestions, "POST", path("corpora", corpus, "made-questions"), body)


def measure_searchers(
    corpus: str, questions: Sequence[MadeQuestion | Mapping[str, Any]], searchers: Sequence[str] = ("fused",)
) -> Steps[Measurement]:
    """Returns how well searchers (1 to 5, each `NAME[:key=value,…]`) find the supports of questions.

    `questions` are made questions, or lines of the `questions.jsonl` of a dataset as JSON objects. Unanswerable
    questions are not asked. Measure the same questions again after an ingest, and compare. Raises `ValueError` if no
    question is answerable.
    """
    asked = [row for row in map(_send, questions) if row["answerable"]]
    if not asked:
        raise ValueError("no question has supports; give at least one that the corpus answers")
    parts: list[Measurement] = []
    for begin in range(0, len(asked), _MOST_ASKED):
        body = {"questions": asked[begin : begin + _MOST_ASKED], "searchers": list(searchers)}
        parts.append((yield from call(Measurement, "POST", path("corpora", corpus, "measurements"), body)))
    return _join(parts)


def _send(question: MadeQuestion | Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a measurement needs of a question; its answer and quotes are not sent."""
    row = asdict(question) if isinstance(question, MadeQuestion) else question
    sent = {name: row[name] for name in ("id", "question", "supporting") if name in row}
    return {**sent, "answerable": row.get("answerable", True)}


def _join(parts: Sequence[Measurement]) -> Measurement:
    """Returns the means over the questions of all parts."""
    asked = sum(part.asked for part in parts)
    scores: dict[str, dict[str, float]] = {}
    for part in parts:
        for searcher in part.searchers:
            sums = scores.setdefault(searcher.searcher, {})
            for name, mean in searcher.scores.items():
                sums[name] = sums.get(name, 0.0) + mean * part.asked / asked
    return Measurement(
        generation=parts[-1].generation,
        asked=asked,
        gone=tuple(id for part in parts for id in part.gone),
        searchers=tuple(SearcherScores(searcher=name, scores=means) for name, means in scores.items()),
    )
