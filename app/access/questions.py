"""Stored questions as the holder of a key sees them."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from core.ports.questions import Questions
from core.questions import AskedQuestion, NewQuestion, QuestionEvent, QuestionOutcome, QuestionSource
from core.record_policy.questions import question_missing

__all__ = ["RestrictedQuestions"]


class RestrictedQuestions:
    """Implements `core.ports.questions.Questions`: there are only the questions that the caller has asked.

    `asker` is the id of the caller's key, '' without a key. `also_unnamed` adds questions that were asked without a
    key.
    """

    def __init__(self, questions: Questions, asker: str, *, also_unnamed: bool = False) -> None:
        self._questions = questions
        self._asker = asker
        self._seen = {asker, ""} if also_unnamed else {asker}

    async def create(self, question: NewQuestion, *, lease_seconds: float, max_running: int) -> AskedQuestion:
        own = replace(question, asked_by=self._asker)
        return await self._questions.create(own, lease_seconds=lease_seconds, max_running=max_running)

    async def get(self, corpus_id: str, question_id: str) -> AskedQuestion:
        question = await self._questions.get(corpus_id, question_id)
        if question.asked_by not in self._seen:
            raise question_missing(question_id)
        return question

    async def list(
        self,
        corpus_id: str,
        *,
        asked_by: Collection[str],
        kept: bool | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[AskedQuestion]:
        """Lists the questions of the caller, whatever `asked_by` says."""
        del asked_by
        return await self._questions.list(corpus_id, asked_by=self._seen, kept=kept, limit=limit, before=before)

    async def list_events(
        self, corpus_id: str, question_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[QuestionEvent]:
        await self.get(corpus_id, question_id)
        return await self._questions.list_events(corpus_id, question_id, after=after, limit=limit)

    async def list_sources(self, corpus_id: str, question_id: str) -> Sequence[QuestionSource]:
        await self.get(corpus_id, question_id)
        return await self._questions.list_sources(corpus_id, question_id)

    async def append(
        self,
        question_id: str,
        events: Sequence[QuestionEvent],
        retrieved: Collection[str] = (),
        *,
        lease_seconds: float,
    ) -> None:
        await self._questions.append(question_id, events, retrieved, lease_seconds=lease_seconds)

    async def finish(self, question_id: str, outcome: QuestionOutcome) -> None:
        await self._questions.finish(question_id, outcome)

    async def cancel(self, corpus_id: str, question_id: str) -> AskedQuestion:
        await self.get(corpus_id, question_id)
        return await self._questions.cancel(corpus_id, question_id)

    async def set_kept(self, corpus_id: str, question_id: str, *, kept: bool) -> AskedQuestion:
        await self.get(corpus_id, question_id)
        return await self._questions.set_kept(corpus_id, question_id, kept=kept)

    async def set_verification(
        self,
        corpus_id: str,
        question_id: str,
        verification: dict[str, Any] | None,
        retrieved: Collection[str] = (),
    ) -> None:
        await self.get(corpus_id, question_id)
        await self._questions.set_verification(corpus_id, question_id, verification, retrieved)

    async def delete(self, corpus_id: str, question_id: str) -> None:
        await self.get(corpus_id, question_id)
        await self._questions.delete(corpus_id, question_id)

    async def prune(self, *, after_seconds: float) -> int:
        return await self._questions.prune(after_seconds=after_seconds)

    async def export(self, corpus_id: str) -> Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]:
        """Returns nothing: a backup is not made for the holder of a key."""
        del corpus_id
        return ()

    async def adopt(self, corpus_id: str, questions: Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]) -> None:
        own = [(replace(question, asked_by=self._asker), sources) for question, sources in questions]
        await self._questions.adopt(corpus_id, own)
