"""Questions with their plans as JSON lines, for those who train planners."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.model_rows import format_names

__all__ = ["build_plan_lines"]


def build_plan_lines(rows: Iterable[AnswerRow]) -> Iterator[str]:
    """Yields one line for each question that was planned, with the scores of its answer, by which plans are chosen.

    Steps are as they were planned: tags stand where answers of their parents are needed.
    """
    for row in rows:
        if row.plan:
            scores = {name: row.scores[name] for name in ("em", "f1", "union_recall") if name in row.scores}
            yield json.dumps(
                {
                    "id": row.question_id,
                    "question": row.question,
                    "plan": [asdict(step) for step in row.plan],
                    "reasoner": row.reasoner,
                    **({"model": format_names(row.models)} if row.models else {}),
                    "support": row.support,
                    **scores,
                },
                ensure_ascii=False,
            )
