"""Questions that are made of a corpus, and searchers that are measured with them."""

from collections.abc import Sequence
from dataclasses import asdict

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
    corpus: str, questions: Sequence[MadeQuestion], searchers: Sequence[str] = ("fused",)
) -> Steps[Measurement]:
    """Returns how well searchers (1 to 5, each `NAME[:key=value,…]`) find the supports of questions.

    Unanswerable questions are not asked. Measure the same questions again after an ingest, and compare.
    """
    asked = [question for question in questions if question.answerable]
    parts: list[Measurement] = []
    for begin in range(0, max(len(asked), 1), _MOST_ASKED):
        rows = [_send(question) for question in asked[begin : begin + _MOST_ASKED]]
        body = {"questions": rows, "searchers": list(searchers)}
        parts.append((yield from call(Measurement, "POST", path("corpora", corpus, "measurements"), body)))
    return _join(parts)


def _send(question: MadeQuestion) -> dict[str, object]:
    """Returns what a measurement needs of a question; its answer and quotes are not sent."""
    supports = [support if isinstance(support, str) else asdict(support) for support in question.supporting]
    return {"id": question.id, "question": question.question, "supporting": supports}


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
