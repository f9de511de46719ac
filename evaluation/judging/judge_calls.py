"""The calls of the judge: a reference answer, and a number for each measure. The prompts are the Markdown
files beside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from core.ports.chat import ChatModels, ChatRequest
from core.prompting.fences import fenced, format_passages
from core.prompting.prompts import Prompt, load_prompt
from core.prompting.structured import complete_structured, strip_thinking
from core.trace import Trace
from evaluation.rows.step_rows import StepRow

__all__ = ["ROLES", "FaithfulnessScore", "GainScore", "JudgeCalls", "RelevanceScore", "format_texts"]

_PACKAGE = "evaluation.judging"
_REFERENCE, _JUDGE, _GAIN = "judge_reference", "judge", "judge_gain"
ROLES = (_REFERENCE, _JUDGE, _GAIN)


class RelevanceScore(BaseModel):
    score: Literal[-1, 0, 1, 2]


class FaithfulnessScore(BaseModel):
    score: Literal[-1, 0, 1]


class GainScore(BaseModel):
    score: int = Field(ge=1, le=10)


def format_texts(passages: Sequence[str]) -> str:
    """Returns the passages of a row, which begin with their titles, as a prompt shows them."""
    return format_passages([({"title": ""}, text) for text in passages])


@dataclass(frozen=True, kw_only=True)
class JudgeCalls:
    """The calls about one question. Each method is one call (and another if its answer cannot be parsed)."""

    models: ChatModels
    trace: Trace
    question: str
    corpus_id: str
    chunks: frozenset[str] = frozenset()

    async def reference(self, passages: str) -> str:
        """Returns an answer from passages, given as a prompt shows them, by the reference model."""
        prompt = load_prompt(_PACKAGE, "judge_reference")
        request = self._request(
            _REFERENCE, prompt, {"question": fenced("question", self.question), "passages": passages}
        )
        completion = await self.models.of(_REFERENCE).complete(request, self.trace)
        return strip_thinking(completion.text)

    async def relevance(self, reference: str, prediction: str) -> int:
        """Returns the relevance of the prediction, from -1 to 2, compared with the reference answer."""
        variables = {
            "question": fenced("question", self.question),
            "reference": fenced("answer", reference),
            "prediction": fenced("answer", prediction),
        }
        request = self._request(_JUDGE, load_prompt(_PACKAGE, "judge_relevance"), variables)
        return (await complete_structured(self.models.of(_JUDGE), request, RelevanceScore, self.trace)).score

    async def faithfulness(self, passages: Sequence[str], prediction: str) -> int:
        """Returns the faithfulness of the prediction to these retrieved passages, from -1 to 1."""
        variables = {
            "question": fenced("question", self.question),
            "passages": format_texts(passages),
            "prediction": fenced("answer", prediction),
        }
        request = self._request(_JUDGE, load_prompt(_PACKAGE, "judge_faithfulness"), variables)
        return (await complete_structured(self.models.of(_JUDGE), request, FaithfulnessScore, self.trace)).score

    async def gain(self, steps: Sequence[StepRow]) -> int:
        """Returns how much these steps contribute to the question, from 1 to 10."""
        known = "\n".join(f"- {step.question}\n  → {step.answer or '(no answer)'}" for step in steps)
        variables = {"question": fenced("question", self.question), "steps": fenced("known", known)}
        request = self._request(_GAIN, load_prompt(_PACKAGE, "judge_gain"), variables)
        return (await complete_structured(self.models.of(_GAIN), request, GainScore, self.trace)).score

    def _request(self, role: str, prompt: Prompt, variables: dict[str, str]) -> ChatRequest:
        return ChatRequest(
            role=role,
            messages=prompt.messages(variables),
            prompt_hash=prompt.hash,
            reply=prompt.reply,
            corpus_id=self.corpus_id,
            chunk_ids=self.chunks,
            question=self.question,
            labels={"prompt": prompt.name},
        )
