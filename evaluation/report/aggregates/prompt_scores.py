"""Calls and prompts by role, over all questions of a reasoner; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.rows.answer_rows import AnswerRow

__all__ = ["summarise_prompts"]


def summarise_prompts(rows: Sequence[AnswerRow]) -> Mapping[str, Mapping[str, Any]]:
    """Returns the mean calls of each role for a question, and its longest prompt in tokens (None: all were cached)."""
    roles = dict.fromkeys(prompt.role for row in rows for prompt in row.prompts)
    summary = {}
    for role in roles:
        own = [prompt for row in rows for prompt in row.prompts if prompt.role == role]
        longest = max(prompt.longest for prompt in own)
        summary[role] = {
            "calls_per_query": sum(prompt.calls for prompt in own) / len(rows),
            "longest_prompt": longest or None,
        }
    return summary
