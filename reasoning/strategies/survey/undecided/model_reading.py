"""A language model reads the documents that words leave undecided, in short calls, of which code checks the reply.

A document counts only if the model names a sentence that stands in the passages it was shown. All other documents stay
undecided, or do not count, and are shown with what the model said.

A small model reads one document a call. A larger model reads several short ones, each of which is decided only by a
sentence of its own; a document without one gets a call of its own.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.documents import Span
from core.errors import BudgetExhausted, ModelFailed, ModelUnavailable
from core.events import PlanEvent, PlannedStep
from core.execution.threads import compute
from core.ports.chat import ChatModels
from core.ports.reasoning import Question
from core.ports.retrieval import Searcher
from core.ports.surveying import Candidate, DocumentFinder
from core.trace import Trace
from reasoning.actions.judging.document import (
    ROLE,
    Decision,
    decide_document,
    decide_documents,
    keep_decision,
    recall_decision,
)
from reasoning.citations.quotes import locate
from reasoning.engine.session import Session, gather
from reasoning.strategies.survey.judging import Verdict, check_sentence, has_phrase
from reasoning.strategies.survey.plan import Plan
from reasoning.strategies.survey.rows import Row
from reasoning.strategies.survey.undecided.shown_passages import Shown, cut_document, group_documents

STEP = "2"
_MOST_READ = 500
"""Passages of a document that are read whole to find the nearest sentences; of a longer one, the finder's are."""
_AT_ONCE = 32
"""Calls that are waiting or under way; the model's own limit of concurrency is usually smaller."""
_MOST_FAILURES = 3
"""Replies in a row that cannot be read, after which the model is asked no more."""
_MOST_SHARED_FAILURES = 2
"""Replies on several documents in a row that cannot be used, after which each document gets a call of its own. Until
the first that can, such calls are made one after another.
"""
_CHARACTERS, _ANSWER, _INSTRUCTIONS, _INSTRUCTIONS_OF_SEVERAL = 4, 60, 190, 280
"""Of the estimate: characters of a token, tokens of an answer, and tokens of the instructions."""
_LEAST_SENTENCE = 12
"""Characters of a sentence that tells one document from another."""
_PROGRESS = 20
"""How often progress is told, at most."""

_Keep = Callable[[Row, Row | None], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Undecided:
    """A document that words leave undecided."""

    row: Row
    candidate: Candidate


class ModelReader:
    """Reads undecided documents for one survey. `stopped` tells why it ended before it had read all, '' if it did not.

    The searcher is what a `Session` needs; nothing is searched.
    """

    def __init__(
        self,
        finder: DocumentFinder,
        models: ChatModels,
        searcher: tuple[str, Searcher],
        plan: Plan,
        question: Question,
        trace: Trace,
    ) -> None:
        self.model = models.of(ROLE).model
        self.stopped = ""
        self._finder = finder
        self._models = models
        self._is_small = models.is_small(ROLE)
        self._searcher = searcher
        self._plan = plan
        self._question = question
        self._trace = trace
        self._failures = 0
        self._shared_failures = 0
        self._has_shared = False
        self._trying = asyncio.Lock()

    async def read(self, undecided: Sequence[Undecided], keep: _Keep) -> None:
        """Calls `keep` for each document with its row and its new row; None: it was deleted, or hidden from the asker.

        Documents of which the model said nothing keep their row, and `keep` is not called for them.
        """
        shown = [document async for document in self._show(undecided, keep)]
        calls: list[tuple[Shown, ...]] = [(document,) for document in shown]
        if not self._is_small:
            calls = list(group_documents([document for document in shown if not await self._recall(document, keep)]))
        if calls:
            self._announce(calls)
        waiting = iter(calls)
        total = sum(map(len, calls))
        done = 0

        async def read_some() -> None:
            nonlocal done
            for documents in waiting:
                if self.stopped:
                    return
                await self._read(documents, keep)
                before, done = done, done + len(documents)
                if done * _PROGRESS // total > before * _PROGRESS // total:
                    self._tell(f"{done:,} of {total:,} undecided documents read")

        await gather(read_some() for _ in range(min(_AT_ONCE, len(calls))))

    async def _show(self, undecided: Sequence[Undecided], keep: _Keep) -> AsyncIterator[Shown]:
        for document in undecided:
            row, candidate = document.row, document.candidate
            if candidate.passages <= _MOST_READ:
                chunks = await self._finder.list_chunks(row.corpus, candidate.document_id)
            else:
                found = await self._finder.get_chunks(row.corpus, candidate.chunk_ids)
                chunks = [found[id] for id in candidate.chunk_ids if id in found]
            ref = (await self._finder.get_refs(row.corpus, [candidate.document_id])).get(candidate.document_id)
            if ref is None:
                keep(row, None)
            elif chunks:
                whole = replace(row, document=ref)
                if (shown := await compute(cut_document, self._plan, whole, chunks)) is not None:
                    yield replace(shown, row=row)

    def _announce(self, calls: Sequence[tuple[Shown, ...]]) -> None:
        shown = [document for documents in calls for document in documents]
        characters = sum(document.characters for document in shown)
        instructions = _INSTRUCTIONS if self._is_small else _INSTRUCTIONS_OF_SEVERAL
        tokens = characters // _CHARACTERS + len(shown) * _ANSWER + len(calls) * instructions
        number = "1 call" if len(calls) == 1 else f"{len(calls):,} calls"
        self._tell(
            f"{self.model} reads {len(shown):,} documents that words leave undecided: "
            + (
                f"at most {number}, about {tokens:,} tokens, fewer where it read them before"
                if self._is_small
                else f"{number}, about {tokens:,} tokens, and a call more for each document without a usable reply"
            )
        )

    def _tell(self, text: str) -> None:
        self._trace.emit(PlanEvent(steps=(PlannedStep(id=STEP, question=text, parents=("1",)),)))

    def _open_session(self, document: Shown) -> Session:
        """Returns a session for one call, so that its cached reply names the passages of that call alone."""
        question = replace(self._question, corpus=document.row.corpus, parts=(), history=())
        return Session("survey", question, self._models, self._searcher, self._trace)

    async def _recall(self, document: Shown, keep: _Keep) -> bool:
        """Returns whether the cache has what the model says of a document."""
        if not await self._is_there(document):
            keep(document.row, await self._replaced(document.row))
            return True
        decision = await recall_decision(self._open_session(document), self._plan.condition, document.hits, step=STEP)
        if decision is not None:
            await self._settle(document, decision, keep)
        return decision is not None

    async def _read(self, documents: Sequence[Shown], keep: _Keep) -> None:
        """Reads the documents of a call. A document that several share a call with, and on which the reply cannot be
        used, gets a call of its own.
        """
        alone = list(documents)
        if len(documents) > 1:
            alone = await self._share(documents, keep)
        for document in alone:
            if self.stopped:
                return
            if not await self._is_there(document):
                keep(document.row, await self._replaced(document.row))
            elif decision := await self._ask_alone(document):
                await self._settle(document, decision, keep)

    async def _share(self, documents: Sequence[Shown], keep: _Keep) -> list[Shown]:
        async with self._trying:
            if not self._has_shared and self._shared_failures < _MOST_SHARED_FAILURES:
                return await self._read_together(documents, keep)
        if self._shared_failures >= _MOST_SHARED_FAILURES:
            return list(documents)
        return await self._read_together(documents, keep)

    async def _read_together(self, documents: Sequence[Shown], keep: _Keep) -> list[Shown]:
        """Reads several documents in one call, and returns the documents that need a call of their own."""
        there = [document for document in documents if await self._is_there(document)]
        for document in documents:
            if document not in there:
                keep(document.row, await self._replaced(document.row))
        if len(there) < 2 or self.stopped:
            return there
        decisions: Mapping[int, Decision] = {}
        try:
            decisions = await decide_documents(
                self._open_session(there[0]), self._plan.condition, [document.hits for document in there], step=STEP
            )
        except (BudgetExhausted, ModelUnavailable) as error:
            self._stop(error)
            return []
        except ModelFailed as error:
            self._trace.note(f"a reply on {len(there)} documents cannot be read; each gets a call of its own ({error})")
        alone = [document for place, document in enumerate(there) if not _is_usable(document, decisions.get(place))]
        is_of_use = len(alone) < len(there)
        self._has_shared |= is_of_use
        self._shared_failures = 0 if is_of_use else self._shared_failures + 1
        for place, document in enumerate(there):
            if document not in alone and await self._settle(document, decisions[place], keep):
                session = self._open_session(document)
                await keep_decision(session, self._plan.condition, document.hits, decisions[place], model=self.model)
        return alone

    async def _ask_alone(self, document: Shown) -> Decision | None:
        """Returns what the model says of one document; None if it says nothing."""
        session = self._open_session(document)
        try:
            decision = await decide_document(
                session, self._plan.condition, document.hits, is_small=self._is_small, step=STEP
            )
        except (BudgetExhausted, ModelUnavailable) as error:
            self._stop(error)
            return None
        except ModelFailed as error:
            self._failures += 1
            self._trace.note(f"a reply on “{document.row.document.key}” cannot be read; the document stays undecided")
            if self._failures == _MOST_FAILURES:
                self.stopped = f"{_MOST_FAILURES} replies in a row failed ({error})"
            return None
        self._failures = 0
        return decision

    def _stop(self, error: BudgetExhausted | ModelUnavailable) -> None:
        is_spent = isinstance(error, BudgetExhausted)
        budget, gone = "the budget of the question is used up", f"the language model is not available ({error})"
        self.stopped = budget if is_spent else gone

    async def _settle(self, document: Shown, decision: Decision, keep: _Keep) -> bool:
        """Keeps the new row of a document, and returns whether the document is still there as it was shown."""
        if is_there := await self._is_there(document):
            keep(document.row, self._judge(document, decision))
        else:
            keep(document.row, await self._replaced(document.row))
        return is_there

    def _judge(self, document: Shown, decision: Decision) -> Row:
        found = None
        for window in document.windows:
            if span := locate(decision.sentence, window.text):
                at = window.span.start
                found = check_sentence(
                    self._plan,
                    document.row.document.title,
                    window.chunk,
                    Span(start=at + span.start, end=at + span.end),
                )
                break
        row = replace(document.row, finding=document.nearest, opinion=decision.verdict)
        if decision.verdict == "yes" and found is not None:
            return replace(row, verdict=Verdict.YES, finding=found)
        if decision.verdict == "no":
            return replace(row, verdict=Verdict.NO)
        return replace(row, verdict=Verdict.UNDECIDED)

    async def _is_there(self, document: Shown) -> bool:
        """Returns whether the asker may still see the passages that are shown."""
        ids = {window.chunk.id for window in document.windows}
        chunks = await self._finder.get_chunks(document.row.corpus, ids)
        refs = await self._finder.get_refs(document.row.corpus, [document.row.document.id])
        return bool(refs) and chunks.keys() >= ids

    async def _replaced(self, row: Row) -> Row | None:
        """Returns the row of a document whose passages are gone: without a passage, or None if it is gone, too."""
        refs = await self._finder.get_refs(row.corpus, [row.document.id])
        return replace(row, finding=None, verdict=Verdict.UNDECIDED) if refs else None


def _is_usable(document: Shown, decision: Decision | None) -> bool:
    """Returns whether a decision from a call of several documents is about this one: it names a sentence that stands
    word for word in its passages. Documents of one template differ in a name. Who cannot tell need not name one.
    """
    if decision is None:
        return False
    sentence = decision.sentence.strip()
    is_named = len(sentence) >= _LEAST_SENTENCE and any(
        has_phrase(window.text, sentence) for window in document.windows
    )
    return is_named or (decision.verdict == "unclear" and not sentence)
