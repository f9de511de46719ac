"""The result of an experiment on one dataset: its rows, and the scores that are computed from them."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from evaluation.indexing import IndexReport
from evaluation.judging import JudgementRow, aggregate_judgements
from evaluation.ranker.seen import SeenQuestions
from evaluation.report.aggregates.answer_scores import aggregate_answers
from evaluation.report.aggregates.comparison import ANSWER_COMPARED, SEARCH_COMPARED, Comparison, compare
from evaluation.report.aggregates.search_scores import SearchScores, aggregate_searches
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.rows_file import ANSWER, JUDGEMENT, SEARCH
from evaluation.rows.search_rows import SearchRow

__all__ = ["Result"]


@dataclass(frozen=True, kw_only=True)
class Result:
    """All rows of one dataset, and the scores computed from them. `seen` are the questions that a ranker was trained
    on.
    """

    dataset: str
    questions: int
    passages: int
    corpus: str
    index: IndexReport | None
    searches: tuple[SearchRow, ...]
    answers: tuple[AnswerRow, ...]
    judgements: tuple[JudgementRow, ...] = ()
    baseline: str | None = None
    seen: tuple[SeenQuestions, ...] = ()

    @property
    def searchers(self) -> Mapping[str, SearchScores]:
        return {name: aggregate_searches(rows) for name, rows in self._by_searcher.items()}

    @property
    def reasoners(self) -> Mapping[str, Mapping[str, Any]]:
        """The scores of each reasoner, with the models, prompts and fingerprint of its rows, and with `judge` if its
        answers were judged.
        """
        judged = {name: list(rows) for name, rows in groupby(self.judgements, key=lambda row: row.reasoner)}
        return {
            name: {
                **aggregate_answers(rows),
                **({"judge": aggregate_judgements(judged[name])} if name in judged else {}),
                "models": [asdict(model) for model in rows[0].models],
                "prompt_set": rows[0].prompt_set,
                "fingerprint": rows[0].fingerprint,
            }
            for name, rows in self._by_reasoner.items()
        }

    @property
    def search_comparisons(self) -> Mapping[str, Comparison]:
        """The comparison of each searcher with the baseline."""
        return compare(self._by_searcher, SEARCH_COMPARED, self.baseline)

    @property
    def answer_comparisons(self) -> Mapping[str, Comparison]:
        """The comparison of each reasoner with the baseline."""
        return compare(self._by_reasoner, ANSWER_COMPARED, self.baseline)

    def rows(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yields kind, dataset and fields of each row, as they are written to disk."""
        yield from ((SEARCH, self.dataset, asdict(row)) for row in self.searches)
        yield from ((ANSWER, self.dataset, row.to_json()) for row in self.answers)
        yield from ((JUDGEMENT, self.dataset, row.to_json()) for row in self.judgements)

    @property
    def _by_searcher(self) -> dict[str, list[SearchRow]]:
        return {name: list(rows) for name, rows in groupby(self.searches, key=lambda row: row.searcher)}

    @property
    def _by_reasoner(self) -> dict[str, list[AnswerRow]]:
        return {name: list(rows) for name, rows in groupby(self.answers, key=lambda row: row.reasoner)}
