"""The ports of what callers keep in the record: API keys, which all processes share, and stored questions.

A stored question is asked in one process, and followed and cancelled in any.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.keys import ApiKey, KeyUsage
from core.questions import AskedQuestion, NewQuestion, QuestionEvent, QuestionOutcome, QuestionSource


@dataclass(frozen=True, kw_only=True)
class KeyMinute:
    """What keys have used in the present minute of the store's clock, over all processes. `seconds` are left of it.

    `number` counts minutes.
    """

    number: int
    seconds: float
    usage: Mapping[str, KeyUsage]


class Keys(Protocol):
    """Keys by id. A revoked key stays in the list until it is deleted."""

    async def create(self, key: ApiKey) -> None: ...

    async def list(self) -> Sequence[ApiKey]:
        """Returns all keys, the oldest first, including expired and revoked keys."""
        ...

    async def revoke(self, key_id: str) -> ApiKey:
        """Ends a key, which stays in the list. A revoked key is returned as it is. Raises `NotFound`."""
        ...

    async def delete(self, key_id: str) -> ApiKey:
        """Deletes a key, so that no list shows it, and the questions that its holder asked. Raises `NotFound`."""
        ...

    async def add_usage(self, used: Mapping[str, KeyUsage]) -> KeyMinute:
        """Adds what keys have used to the present minute, and returns the sums of these keys.

        Older minutes are deleted.
        """
        ...


class Questions(Protocol):
    """Questions by corpus and id. A question whose corpus has no name any more is not there.

    A running question has a lease by the store's clock, which its process renews. When the lease has expired, every
    reader sees the question as failed, and its process can write no more.

    When a document is deleted (`Submissions.delete_documents`, `delete_existing`), the same transaction withdraws the
    questions that it was retrieved for: their answers, events and verifications are deleted, and running questions have
    failed. A reindexed corpus keeps its questions. `Maintenance.delete_corpus_rows` deletes the questions of a corpus,
    and `Keys.delete` the questions of a key.
    """

    async def create(self, question: NewQuestion, *, lease_seconds: float, max_running: int) -> AskedQuestion:
        """Stores a running question. Raises `NotFound` if the corpus is gone, and `RateLimited` if its asker has
        `max_running` questions that run, in all corpora.
        """
        ...

    async def get(self, corpus_id: str, question_id: str) -> AskedQuestion:
        """Raises `NotFound`."""
        ...

    async def list(
        self,
        corpus_id: str,
        *,
        asked_by: Collection[str],
        kept: bool | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[AskedQuestion]:
        """Returns at most `limit` questions of some askers, newest first, without `answer` and `verification`. With
        `before`, only questions that are older than the question of this id. Raises `NotFound` if the askers have no
        such question.
        """
        ...

    async def list_events(
        self, corpus_id: str, question_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[QuestionEvent]:
        """Returns the first events with a greater number than `after`; none of a question that is not there."""
        ...

    async def list_sources(self, corpus_id: str, question_id: str) -> Sequence[QuestionSource]:
        """Returns the documents that were retrieved, by id, without deleted documents."""
        ...

    async def append(
        self,
        question_id: str,
        events: Sequence[QuestionEvent],
        retrieved: Collection[str] = (),
        *,
        lease_seconds: float,
    ) -> None:
        """Renews the lease of a running question, and stores events and the ids of retrieved documents.

        Raises `Fenced` if the question does not run any more: it was cancelled, deleted or withdrawn, or its lease has
        expired. A document that is not there, or is being deleted, withdraws the question.
        """
        ...

    async def finish(self, question_id: str, outcome: QuestionOutcome) -> None:
        """Ends a running question, and deletes its `token` events, which the answer replaces. Raises as `append`."""
        ...

    async def cancel(self, corpus_id: str, question_id: str) -> AskedQuestion:
        """Ends a running question as cancelled. A final one is returned as it is. Raises `NotFound`."""
        ...

    async def set_kept(self, corpus_id: str, question_id: str, *, kept: bool) -> AskedQuestion:
        """Raises `NotFound`."""
        ...

    async def set_verification(
        self,
        corpus_id: str,
        question_id: str,
        verification: dict[str, Any] | None,
        retrieved: Collection[str] = (),
    ) -> None:
        """Stores the verification of an answer, and the ids of documents that were retrieved for it: the deletion of
        such a document withdraws the question.

        Raises `NotFound`, and `Conflict` if there is no answer, or one of the documents is gone.
        """
        ...

    async def delete(self, corpus_id: str, question_id: str) -> None:
        """Deletes a question with its events. Raises `NotFound`."""
        ...

    async def prune(self, *, after_seconds: float) -> int:
        """Ends questions whose lease has expired, and deletes questions that are not kept and ended longer ago than
        `after_seconds`. Returns how many it deleted.
        """
        ...

    async def export(self, corpus_id: str) -> Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]:
        """Returns all final questions of a corpus, the oldest first, with their sources, for a backup."""
        ...

    async def adopt(self, corpus_id: str, questions: Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]) -> None:
        """Stores questions of a backup under their ids. Questions that are there already stay as they are.

        Questions with a `generation` get the generation of the corpus. A source that is not a document of the corpus is
        left out.
        """
        ...
