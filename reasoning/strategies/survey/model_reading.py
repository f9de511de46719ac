"""A language model reads the documents that words leave undecided: one short call each, of which code checks the reply.

A document counts only if the model names a sentence that stands in the passages it was shown. All other documents stay
undecided, or do not count, and are shown with what the model said.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

from core.documents import Chunk, Span
from core.errors import BudgetExhausted, ModelFailed, ModelUnavailable
from core.events import PlanEvent, PlannedStep
from core.execution.threads import compute
from core.passage_context import split_units
from core.ports.chat import ChatModels
from core.ports.reasoning import Question
from core.ports.retrieval import Hit, Searcher
from core.ports.surveying import Candidate, DocumentFinder
from core.trace import Trace
from reasoning.actions.judging.document import ROLE, Decision, decide_document
from reasoning.citations.quotes import locate
from reasoning.engine.session import Session, gather
from reasoning.strategies.survey.judging import Finding, Verdict, check_sentence, list_nearest
from reasoning.strategies.survey.plan import Plan
from reasoning.strategies.survey.rows import Row

__all__ = ["STEP", "ModelReader", "Undecided"]

STEP = "2"
_MOST_WINDOWS = 3
_BESIDE = 250
"""Characters on each side of the nearest sentence that a model is shown, as far as whole sentences fit in."""
_LONGEST_UNIT = 1200
_MOST_READ = 500
"""Passages of a document that are read whole to find the nearest sentences; of a longer one, the finder's are."""
_AT_ONCE = 32
"""Calls that are waiting or under way; the model's own limit of concurrency is usually smaller."""
_MOST_FAILURES = 3
"""Replies in a row that cannot be read, after which the model is asked no more."""
_CHARACTERS, _ANSWER, _INSTRUCTIONS = 4, 60, 190
"""Of the estimate: characters of a token, tokens of an answer, and tokens of the instructions."""
_PROGRESS = 20
"""How often progress is told, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Undecided:
    """A document that words leave undecided."""

    row: Row
    candidate: Candidate


@dataclass(frozen=True, kw_only=True, slots=True)
class _Window:
    """A part of a passage that is shown, and where it begins in the passage."""

    chunk: Chunk
    span: Span

    @property
    def text(self) -> str:
        return self.chunk.text[self.span.start : self.span.end]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shown:
    """A document as the model is shown it. `nearest` is its nearest sentence."""

    row: Row
    nearest: Finding
    windows: tuple[_Window, ...]

    @property
    def hits(self) -> tuple[Hit, ...]:
        row = self.row
        return tuple(
            Hit(
                chunk=replace(window.chunk, text=window.text),
                document=row.document,
                score=1.0,
                corpus=row.corpus.name,
            )
            for window in self.windows
        )


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
        self._searcher = searcher
        self._plan = plan
        self._question = question
        self._trace = trace
        self._failures = 0

    async def read(self, undecided: Sequence[Undecided], keep: Callable[[Row, Row | None], None]) -> None:
        """Calls `keep` for each document with its row and its new row; None: it was deleted, or hidden from the asker.

        Documents of which the model said nothing keep their row, and `keep` is not called for them.
        """
        shown = [document async for document in self._show(undecided, keep)]
        self._announce(shown)
        waiting = iter(shown)
        done = 0

        async def read_some() -> None:
            nonlocal done
            for document in waiting:
                if self.stopped:
                    return
                if (row := await self._read(document)) is not document.row:
                    keep(document.row, row)
                done += 1
                if done * _PROGRESS // len(shown) > (done - 1) * _PROGRESS // len(shown):
                    self._tell(f"{done:,} of {len(shown):,} undecided documents read")

        await gather(read_some() for _ in range(min(_AT_ONCE, len(shown))))

    async def _show(
        self, undecided: Sequence[Undecided], keep: Callable[[Row, Row | None], None]
    ) -> AsyncIterator[_Shown]:
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
            elif chunks and (shown := await compute(self._cut, replace(row, document=ref), chunks)):
                yield replace(shown, row=row)

    def _cut(self, row: Row, chunks: Sequence[Chunk]) -> _Shown | None:
        """Returns what of a document is shown; None if no sentence of it has a word of the condition."""
        nearest = list_nearest(self._plan, row.document.title, chunks, _MOST_WINDOWS)
        if not nearest:
            return None
        windows: list[_Window] = []
        for finding in nearest:
            around = _widen(finding)
            joined = [
                window
                for window in windows
                if window.chunk.id == finding.chunk.id
                and window.span.start <= around.end
                and around.start <= window.span.end
            ]
            for window in joined:
                around = Span(start=min(around.start, window.span.start), end=max(around.end, window.span.end))
            windows = [window for window in windows if window not in joined]
            windows.append(_Window(chunk=finding.chunk, span=around))
        windows.sort(key=lambda window: (window.chunk.position, window.span.start))
        return _Shown(row=row, nearest=nearest[0], windows=tuple(windows))

    def _announce(self, shown: Sequence[_Shown]) -> None:
        characters = sum(len(window.text) for document in shown for window in document.windows)
        tokens = characters // _CHARACTERS + len(shown) * (_INSTRUCTIONS + _ANSWER)
        self._tell(
            f"{self.model} reads {len(shown):,} documents that words leave undecided: at most {len(shown):,} calls, "
            f"about {tokens:,} tokens, fewer where it read them before"
        )

    def _tell(self, text: str) -> None:
        self._trace.emit(PlanEvent(steps=(PlannedStep(id=STEP, question=text, parents=("1",)),)))

    async def _read(self, document: _Shown) -> Row | None:
        """Returns the new row of a document, its old one if the model said nothing, or None if it is gone."""
        row = document.row
        if not await self._is_there(document):
            return await self._replaced(row)
        question = replace(self._question, corpus=row.corpus, parts=(), history=())
        session = Session("survey", question, self._models, self._searcher, self._trace)
        try:
            decision = await decide_document(session, self._plan.condition, document.hits, step=STEP)
        except BudgetExhausted:
            self.stopped = "the budget of the question is used up"
            return row
        except ModelUnavailable as error:
            self.stopped = f"the language model is not available ({error})"
            return row
        except ModelFailed as error:
            self._failures += 1
            self._trace.note(f"a reply on “{row.document.key}” cannot be read; the document stays undecided")
            if self._failures == _MOST_FAILURES:
                self.stopped = f"{_MOST_FAILURES} replies in a row failed ({error})"
            return row
        self._failures = 0
        if not await self._is_there(document):
            return await self._replaced(row)
        return self._judge(document, decision)

    def _judge(self, document: _Shown, decision: Decision) -> Row:
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

    async def _is_there(self, document: _Shown) -> bool:
        """Returns whether the asker may still see the passages that are shown."""
        ids = {window.chunk.id for window in document.windows}
        chunks = await self._finder.get_chunks(document.row.corpus, ids)
        refs = await self._finder.get_refs(document.row.corpus, [document.row.document.id])
        return bool(refs) and chunks.keys() >= ids

    async def _replaced(self, row: Row) -> Row | None:
        """Returns the row of a document whose passages are gone: without a passage, or None if it is gone, too."""
        refs = await self._finder.get_refs(row.corpus, [row.document.id])
        return replace(row, finding=None, verdict=Verdict.UNDECIDED) if refs else None


def _widen(finding: Finding) -> Span:
    """Returns a part of a passage with the sentence in it, and the sentences beside it as far as they fit."""
    unit, text = finding.span, finding.chunk.text
    start, end = unit.start, min(unit.end, unit.start + _LONGEST_UNIT)
    units = split_units(text[: unit.end + 2 * _BESIDE])
    start = min((begin for begin, _ in units if unit.start - _BESIDE <= begin <= unit.start), default=start)
    end = max((stop for _, stop in units if unit.end <= stop <= unit.end + _BESIDE), default=end)
    return Span(start=start, end=min(end, unit.start + _LONGEST_UNIT + _BESIDE))
