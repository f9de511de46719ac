"""The row of a judgement, as it is stored."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from evaluation.rows.answer_rows import Cost
from evaluation.rows.model_rows import ModelRow

__all__ = ["JudgementRow"]


@dataclass(frozen=True, kw_only=True)
class JudgementRow:
    """The judgement of one answer. `gain` is by depth, as text. With an `error` there is no judgement, and numbers are
    None.

    `reference` is the answer that a reference model wrote from `chunks`, the chunks of a search or the system's own
    (`reference_from`). `models` wrote the reference and judged; they are empty in rows of earlier releases.
    `fingerprint` identifies all that the judgement depends on, including the answer and the models. `cost` is the cost
    of judging, and no part of the answer's cost.
    """

    question_id: str
    reasoner: str
    reference: str = ""
    chunks: tuple[str, ...] = ()
    relevance: int | None = None
    faithfulness: int | None = None
    gain: Mapping[str, int] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    error: str | None = None
    fingerprint: str = ""
    gold: str = ""
    reference_from: str = "search"
    models: tuple[ModelRow, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """Returns the row that `to_json` wrote; raises `TypeError` or `KeyError` for anything else."""
        return cls(
            **{
                **fields,
                "chunks": tuple(fields["chunks"]),
                "cost": Cost.from_json(fields["cost"]),
                "models": tuple(ModelRow(**model) for model in fields.get("models", ())),
            }
        )
