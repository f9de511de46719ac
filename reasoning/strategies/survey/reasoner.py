"""The course of a survey: the plan, the candidates, their passages in batches, a model where words do not decide, and
the answer.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import unquote

from pydantic import Field

from core.corpora import Corpus
from core.documents import Chunk, DocumentRef
from core.events import AnswerEvent, SearchEvent, StepEvent
from core.execution.threads import compute
from core.ports.reasoning import Answer, Question, Step
from core.ports.retrieval import Hit, QueryPart
from core.ports.surveying import Candidate, Candidates, DocumentFinder, WordsAsked
from core.strategies import StrategyConfig
from core.text.terms import split_words
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.strategies.survey.items import Listed, read_items
from reasoning.strategies.survey.judging import Verdict, judge_passages, show_beginning
from reasoning.strategies.survey.plan import Plan, read_plan
from reasoning.strategies.survey.report import OTHERS, Surveyed, write_answer
from reasoning.strategies.survey.rows import Copies, Row, Sums, fingerprint, merge_versions
from reasoning.strategies.survey.tabulation import Tabulation, tabulate
from reasoning.strategies.survey.undecided.model_reading import STEP, ModelReader, Undecided
from reasoning.strategies.survey.units import count_by, has_names, resolve_unit

_BATCH, _FIRST_BATCH = 200, 20
"""Passages that are read at once, and first, so that rows come soon. Between two batches, the time is looked at."""
MOST_DOCUMENTS, MOST_SECONDS, MOST_CALLS = 200_000, 600, 2_000
MOST_ROWS = 400
"""With the documents that do not count, an answer has no more citations than other answers."""
_REFS = 1000
_MOST_COMPARED = 500
"""Documents of several passages that are read whole, to find copies."""
_LONGEST_VALUE = 200
_KEY_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
"""Words of a key: `EFCAConfidentialityAgreement` has three."""
_NO_HISTORY = (
    "the conversation before the question was not read: `survey` reads no history; ask a question that can be "
    "understood alone"
)


class Config(StrategyConfig):
    """How far a survey goes, and how much of it is shown."""

    documents: int = Field(
        default=20_000, ge=1, le=MOST_DOCUMENTS, description="At most this many documents that could match are read."
    )
    seconds: float = Field(
        default=60.0, gt=0, le=MOST_SECONDS, description="Reading by words ends after so many seconds."
    )
    calls: int = Field(
        default=100,
        ge=0,
        le=MOST_CALLS,
        description="A language model, if one is configured, reads at most this many documents that words leave "
        "undecided.",
    )
    rows: int = Field(default=100, ge=1, le=MOST_ROWS, description="Documents that are listed with their passages.")


class Survey:
    """Decides on each document that has all words of the question, and says on which documents it could not."""

    def __init__(self, config: Config, finder: DocumentFinder, backends: ReasoningBackends | None = None) -> None:
        """Without `backends`, or if they have no language model, no model is asked."""
        self._config = config
        self._finder = finder
        self._backends = backends

    async def check(self, corpus: Corpus) -> None:
        """Each corpus can be surveyed."""

    async def answer(self, question: Question, trace: Trace) -> Answer:
        began = time.monotonic()
        plan = await resolve_unit(self._finder, question, read_plan(question.text), self._config.documents)
        trace.note(plan.describe())
        if question.history:
            trace.note(_NO_HISTORY)
        course = _Course(self._finder, self._config, plan, trace)
        if not plan.is_empty:
            with trace.timed("survey"):
                for part in question.parts or (QueryPart(corpus=question.corpus, documents=question.documents),):
                    await course.survey(part)
                await course.read_tables()
            if reader := self._reader(plan, question, trace):
                with trace.timed("survey.model"):
                    await course.ask(reader)
            with trace.timed("survey"):
                await course.compare_copies()
        counted = await compute(merge_versions, course.rows[Verdict.YES])
        tabulation = await self._tabulate(plan, counted, course.listed, trace)
        if tabulation is None and plan.unit and not plan.counts_rows and not course.listed.items:
            for name in plan.unit_names:
                by_unit = replace(plan, grouping=count_by(plan, name))
                named = await self._tabulate(by_unit, counted, course.listed, trace)
                if named is not None and has_names(named):
                    plan, tabulation = by_unit, named
                    break
        answer = write_answer(
            plan,
            counted,
            Surveyed(rows=course.rows, denied=course.denied, listed=course.listed, sums=course.sums),
            tabulation=tabulation,
            most=self._config.rows,
            unsupported=question.unsupported,
        )
        step = Step(
            id="1",
            question=question.text,
            hits=tuple(course.hits()),
            answer="" if answer.abstained else answer.text,
            support=answer.support,
            seconds=time.monotonic() - began,
        )
        trace.emit(StepEvent(result=step))
        answer = replace(answer, steps=(step,))
        trace.emit(AnswerEvent(answer=answer))
        return answer

    async def _tabulate(self, plan: Plan, counted: Copies, listed: Listed, trace: Trace) -> Tabulation | None:
        if plan.grouping is None and plan.aggregate is None:
            return None
        with trace.timed("survey.table"):
            return await tabulate(
                self._finder,
                counted.rows,
                plan.grouping,
                plan.aggregate,
                listed.items,
                has_condition=bool(plan.sought or plan.phrases or plan.of_kind or plan.comparison),
            )

    def _reader(self, plan: Plan, question: Question, trace: Trace) -> ModelReader | None:
        """Returns what reads undecided documents. A model's word that a document lacks something cannot be checked, so
        no model is asked for what documents lack.
        """
        backends = self._backends
        if backends is None or backends.models is None or not self._config.calls or plan.is_absence:
            return None
        searcher = backends.searcher_name, backends.searcher
        return ModelReader(self._finder, backends.models, searcher, plan, question, trace)


class _Course:
    """One survey while it runs: its rows by verdict, what tables list, and its sums. `denied` are the rows on which a
    model said no.
    """

    def __init__(self, finder: DocumentFinder, config: Config, plan: Plan, trace: Trace) -> None:
        self.sums = Sums()
        self.rows: dict[Verdict, list[Row]] = {verdict: [] for verdict in Verdict}
        self.denied: list[Row] = []
        self.listed = Listed()
        self._undecided: list[Undecided] = []
        self._tables_unlisted = 0
        self._finder = finder
        self._config = config
        self._plan = plan
        self._trace = trace
        self._deadline = time.monotonic() + config.seconds

    async def survey(self, part: QueryPart) -> None:
        """Reads the candidates of one corpus, until the survey has read enough or its time is over."""
        left = self._config.documents - self.sums.read - self.sums.lacking
        found = await self._finder.find(part.corpus, self._plan.asked, part.documents, max(left, 0))
        self.sums.unread += found.left_out
        if found.left_out:
            self.sums.stopped = f"it reads {self._config.documents:,} documents at most"
        names_kind = await self._names_kind(part, found)
        start = 0
        for batch in _make_batches(found.documents):
            if self._is_late():
                self.sums.stopped = "its time was over"
                self.sums.unread += len(found.documents) - start
                return
            await self._read(part.corpus, batch, names_kind)
            start += len(batch)

    def _is_late(self) -> bool:
        return time.monotonic() >= self._deadline or self._trace.seconds_left == 0.0

    async def _names_kind(self, part: QueryPart, found: Candidates) -> bool:
        """Returns whether some document of the corpus is of the kind that the question names."""
        if not self._plan.kind_wording or found.kind_is_known:
            return bool(self._plan.kind_wording)
        if await self._has_kind(part.corpus, found):
            return True
        everything = await self._finder.find(part.corpus, WordsAsked(), part.documents, self._config.documents)
        if await self._has_kind(part.corpus, everything):
            return True
        self.sums.kind_unknown = True
        return False

    async def _has_kind(self, corpus: Corpus, found: Candidates) -> bool:
        ids = [candidate.document_id for candidate in found.documents]
        for start in range(0, len(ids), _REFS):
            refs = await self._finder.get_refs(corpus, ids[start : start + _REFS])
            if any(_is_of_kind(self._plan, ref) for ref in refs.values()):
                return True
        return False

    async def _read(self, corpus: Corpus, candidates: Sequence[Candidate], names_kind: bool) -> None:
        """Reads passages first, and then which documents there are: a document that was deleted meanwhile, or that
        the caller must not see any more, does not count.
        """
        chunks = await self._finder.get_chunks(corpus, [id for candidate in candidates for id in candidate.chunk_ids])
        refs = await self._finder.get_refs(corpus, [candidate.document_id for candidate in candidates])
        there = [
            (candidate, refs[candidate.document_id], [chunks[id] for id in candidate.chunk_ids if id in chunks])
            for candidate in candidates
            if candidate.document_id in refs
            and (not names_kind or candidate.is_of_kind or _is_of_kind(self._plan, refs[candidate.document_id]))
        ]
        rows = await compute(lambda: [_judge(self._plan, corpus, *document) for document in there])
        shown = []
        for (candidate, _, passages), judged in zip(there, rows, strict=True):
            if candidate.has_words:
                self.sums.verdicts[judged.verdict] += 1
            else:
                self.sums.lacking += 1
            row = _turn_round(judged, has_words=candidate.has_words) if self._plan.is_absence else judged
            if row.verdict is Verdict.UNDECIDED and passages and len(self._undecided) < self._config.calls:
                self._undecided.append(Undecided(row=row.without_passage(), candidate=candidate))
            listed = self.rows[row.verdict]
            most = self._config.rows if row.verdict is Verdict.YES else min(OTHERS, self._config.rows)
            if len(listed) < most:
                listed.append(row)
                shown.append(row)
            elif row.verdict is Verdict.YES:
                listed.append(row.without_passage())
            elif row.verdict is not Verdict.NO:
                self._tables_unlisted += row.has_rows
        if hits := tuple(_make_hit(row.corpus, row.document, row.finding.chunk) for row in shown if row.finding):
            self._trace.emit(SearchEvent(query=self._plan.describe(), searcher="survey", hits=hits, step="1"))

    async def read_tables(self) -> None:
        """Looks at the rows of tables that list what is counted. A document with such rows counts, even if its other
        rows say the opposite; a document that only rows speak for does not count if none of them counts. Where rows of
        any table count, a document without a table does not.
        """
        verdicts = (Verdict.YES, Verdict.OPPOSITE, Verdict.UNDECIDED)
        rows = [row for verdict in verdicts for row in self.rows[verdict]]
        self.listed = await read_items(self._finder, self._plan, rows, self._is_late, unlisted=self._tables_unlisted)
        moved: list[tuple[Row, Verdict]] = []
        for row in rows:
            if row.document.id not in self.listed.tables:
                if self._plan.counts_rows and self.listed.tables and not row.has_rows:
                    moved.append((row, Verdict.NO))
                continue
            is_counted, is_open = row.document.id in self.listed.items, self.listed.tables[row.document.id] > 0
            verdict = Verdict.YES if is_counted else Verdict.UNDECIDED if is_open else Verdict.NO
            if verdict is not row.verdict and (is_counted or row.is_of_table):
                moved.append((row, verdict))
        self._move(moved)
        self._undecided = [asked for asked in self._undecided if asked.row.document.id not in self.listed.items]

    def _move(self, moved: Sequence[tuple[Row, Verdict]]) -> None:
        leaving = {id(row) for row, _ in moved}  # rows are large, and comparing them takes long
        for verdict in {row.verdict for row, _ in moved}:
            self.rows[verdict] = [row for row in self.rows[verdict] if id(row) not in leaving]
        for row, verdict in moved:
            self.rows[verdict].append(replace(row, verdict=verdict))
            self.sums.verdicts[row.verdict] -= 1
            self.sums.verdicts[verdict] += 1

    async def ask(self, reader: ModelReader) -> None:
        """Has a language model read the undecided documents, as far as the option and the budget allow."""
        undecided = self.sums.verdicts[Verdict.UNDECIDED]
        if not self._undecided:
            return
        self.sums.model = reader.model
        await reader.read(self._undecided, self._keep)
        place = {asked.row.document.id: at for at, asked in enumerate(self._undecided)}
        for rows in (self.rows[Verdict.YES], self.denied):
            if len(rows) <= self._config.rows:  # calls end in any order, and the same answer is told in the same order
                rows.sort(key=lambda row: place.get(row.document.id, -1))
        self.sums.unasked = reader.stopped
        if not reader.stopped and undecided > len(self._undecided):
            self.sums.unasked = f"it reads {self._config.calls:,} documents at most"
        self._trace.emit(
            StepEvent(
                result=Step(
                    id=STEP,
                    question="Which of the undecided documents count?",
                    hits=(),
                    answer=f"{self.sums.confirmed:,} count, {self.sums.denied:,} do not",
                    parents=("1",),
                )
            )
        )

    def _keep(self, row: Row, read: Row | None) -> None:
        """Replaces the row of an undecided document by its row after a model has read it."""
        others = self.rows[Verdict.UNDECIDED]
        at = next((at for at, other in enumerate(others) if other.document.id == row.document.id), None)
        if at is not None:
            del others[at]
        self.sums.verdicts[Verdict.UNDECIDED] -= 1
        if read is None:
            return
        self.sums.verdicts[read.verdict] += 1
        self.sums.asked += bool(read.opinion)
        if read.verdict is Verdict.UNDECIDED:
            others.insert(len(others) if at is None else at, read)
            return
        listed = self.rows[Verdict.YES] if read.verdict is Verdict.YES else self.denied
        self.sums.confirmed += read.verdict is Verdict.YES
        self.sums.denied += read.verdict is Verdict.NO
        most = self._config.rows if read.verdict is Verdict.YES else min(OTHERS, self._config.rows)
        is_shown = len(listed) < most
        if is_shown or read.verdict is Verdict.YES:
            listed.append(read if is_shown else read.without_passage())
        if is_shown and read.finding is not None:
            hit = _make_hit(read.corpus, read.document, read.finding.chunk)
            self._trace.emit(SearchEvent(query=self._plan.describe(), searcher="survey", hits=(hit,), step=STEP))

    async def compare_copies(self) -> None:
        """Reads the documents whole that may be copies of one another, some hundred at most."""
        rows = self.rows[Verdict.YES]
        alike = Counter(row.likeness for row in rows if not row.content)
        read = 0
        for at, row in enumerate(rows):
            if row.content or alike[row.likeness] < 2 or not row.likeness[0]:
                continue
            if read == _MOST_COMPARED or self._is_late():
                self._trace.note(f"{_MOST_COMPARED} documents of several passages were compared, and no more")
                return
            read += 1
            rows[at] = replace(row, content=fingerprint(await self._finder.list_chunks(row.corpus, row.document.id)))

    def hits(self) -> Iterator[Hit]:
        """Yields the passages of the rows that are shown."""
        others = (self.rows[verdict] for verdict in (Verdict.OPPOSITE, Verdict.UNDECIDED))
        for rows in (self.rows[Verdict.YES], self.denied, *others):
            for row in rows:
                if row.finding is not None:
                    yield _make_hit(row.corpus, row.document, row.finding.chunk)


def _make_batches(candidates: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Yields candidates, in their order, with so many passages together."""
    start, passages, most = 0, 0, _FIRST_BATCH
    for end, candidate in enumerate(candidates, start=1):
        passages += len(candidate.chunk_ids)
        if passages >= most or end == len(candidates):
            yield candidates[start:end]
            start, passages, most = end, 0, _BATCH


def _judge(plan: Plan, corpus: Corpus, candidate: Candidate, document: DocumentRef, chunks: Sequence[Chunk]) -> Row:
    if not chunks:  # the document was replaced while the survey ran
        return Row(corpus=corpus, document=document, verdict=Verdict.UNDECIDED, finding=None)
    is_whole = candidate.passages == len(chunks) == 1
    if candidate.has_words:
        finding = judge_passages(plan, document.title, chunks, is_whole=is_whole)
    else:
        finding = show_beginning(chunks[0])
    verdict = finding.verdict
    is_apart = candidate.has_words and not candidate.is_together
    if is_apart or (verdict is Verdict.OPPOSITE and candidate.left_out):
        verdict = Verdict.UNDECIDED
    return Row(
        corpus=corpus,
        document=document,
        verdict=verdict,
        finding=finding,
        likeness=(candidate.passages, fingerprint(chunks)),
        content=fingerprint(chunks) if is_whole else b"",
    )


def _turn_round(row: Row, *, has_words: bool) -> Row:
    """Returns the row of a survey of documents that lack something: a document without its words does, and a document
    that says it, or the opposite of it, does not.
    """
    if not has_words:
        return replace(row, verdict=Verdict.YES)
    return row if row.verdict is Verdict.UNDECIDED else replace(row, verdict=Verdict.NO)


def _is_of_kind(plan: Plan, document: DocumentRef) -> bool:
    """Returns whether the key, the title or a value of the metadata names the kind: `NDA` of `Mutual%20NDA.txt`."""
    values = [value for value in document.metadata.values() if isinstance(value, str) and len(value) <= _LONGEST_VALUE]
    names = " ".join([*_KEY_WORD.findall(unquote(document.key)), document.title, *values])
    stems = {word.stem for word in split_words(names)}
    return any(wording <= stems for wording in plan.kind_wording)


def _make_hit(corpus: Corpus, document: DocumentRef, chunk: Chunk) -> Hit:
    return Hit(chunk=chunk, document=document, score=1.0, corpus=corpus.name)
