"""What the judge said of one answer."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from evaluation.rows.answer_rows import Cost

__all__ = ["JudgementRow"]


@dataclass(frozen=True, kw_only=True)
class JudgementRow:
    """`gain` is by depth, as texts. With an `error` there is no judgement, and the numbers are None.

    `reference` is the answer that a reference model wrote from `chunks`; `fingerprint` stands for all that it
    depends on, the answer among it. `cost` is that of judging, and no part of what the answer cost.
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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """What `to_json` made; raises `TypeError` or `KeyError` for anything else."""
        return cls(**{**fields, "chunks": tuple(fields["chunks"]), "cost": Cost(**fields["cost"])})
