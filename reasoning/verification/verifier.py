"""`verify_answer`: masks each document of an answer, asks again, and decides what the answer hangs on.

Documents that replace a masked document are masked together with it. A gate admits as many runs of the question at the
same time as the budget of the verification has room for.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from core.errors import HopweaveError
from core.ports.chat import ChatModels
from core.ports.reasoning import Answer, Question
from core.ports.retrieval import Searcher
from core.trace import Trace
from core.verification import AnswerWithout, DocumentRole, Located, Verdict, Verification
from reasoning.actions.judging.judgements import same_answer
from reasoning.engine.session import Session, gather
from reasoning.verification.given import MAX_DOCUMENTS, CitedDocument, GivenAnswer, list_cited
from reasoning.verification.sameness import compare_answers, compare_quotes, decide_role, describe_redundant, is_lost

Key = tuple[str, str]
"""A corpus' name and a document's id."""


def find_replacements(
    document: CitedDocument, before: Sequence[CitedDocument], after: Sequence[CitedDocument]
) -> tuple[Located, ...]:
    """Returns the documents that an answer cites for what a masked document stood for.

    `before` are the documents of the answer, `after` the documents of the same answer without the masked document. The
    first of these choices that is not empty is returned:

    - new documents in one of its places,
    - new documents,
    - documents in one of its places,
    - all documents.
    """
    known = {cited.located.key for cited in before}
    new = [cited for cited in after if cited.located.key not in known]
    choices = (
        [cited for cited in new if cited.places & document.places],
        new,
        [cited for cited in after if cited.places & document.places],
        list(after),
    )
    return tuple(cited.located for cited in next(filter(None, choices), []))


def form_groups(replaced_by: Mapping[Key, Sequence[Located]], others: Iterable[Key]) -> list[frozenset[Key]]:
    """Returns the groups of documents that replace each other, of two documents or more.

    `replaced_by` are the replacements of each redundant document. `others` are documents that are not redundant: none
    of them is in a group, since masking it says nothing about the rest.
    """
    left_out = set(others)
    groups: list[frozenset[Key]] = []
    for key, replacements in replaced_by.items():
        group = frozenset({key, *(replacement.key for replacement in replacements)} - left_out)
        apart = [formed for formed in groups if not formed & group]
        joined = group.union(*(formed for formed in groups if formed & group))
        groups = [*apart, joined]
    return [group for group in groups if len(group) > 1]


class _Gate:
    """Admits at most `at_once` runs at the same time. Each is expected to take so many calls and tokens.

    A run waits while other runs may use up what it needs. If no other run is left and the budget still has no room for
    it, it is refused: a run that ends without an answer tells nothing, and costs as much.
    """

    def __init__(self, trace: Trace, *, at_once: int, calls: int, tokens: int) -> None:
        self._trace = trace
        self._at_once = at_once
        self._calls = calls
        self._tokens = tokens
        self._running = 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[bool]:
        """Waits for a place and yields True, or False if the budget is used up."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._running or self._has_room())
            admitted = self._has_room()
            self._running += admitted
        try:
            yield admitted
        finally:
            async with self._changed:
                self._running -= admitted
                self._changed.notify_all()

    def _has_room(self) -> bool:
        runs = self._running + 1
        calls, tokens = self._trace.calls_left, self._trace.tokens_left
        return (
            runs <= self._at_once
            and self._trace.seconds_left != 0.0
            and (calls is None or runs * self._calls <= calls)
            and (tokens is None or runs * self._tokens <= tokens)
        )


AskWithout = Callable[[frozenset[Key], Trace], Awaitable[Answer]]
"""Answers the question again without these documents."""

Compare = Callable[[str, str, frozenset[str], Trace], Awaitable[bool | None]]
"""Asks a model whether two answers are the same. The third argument are the chunks whose words they may hold."""

_ROUNDS = 3
"""How often documents are masked together with documents that replace them."""
_OVER = (
    "the budget of the verification is used up; allow more calls, tokens or seconds (`verify_budget` over HTTP, "
    "--verify-budget on the command line), and verify again"
)


@dataclass(frozen=True, kw_only=True)
class _Run:
    """The question, asked again without some documents: the answer, or why it is missing."""

    answer: Answer | None = None
    failure: str = ""

    @property
    def without(self) -> AnswerWithout | None:
        answer = self.answer
        if answer is None:
            return None
        return AnswerWithout(answer=answer.plain, support=answer.support, abstained=answer.abstained)


async def verify_answer(
    question: str,
    given: GivenAnswer,
    ask_without: AskWithout,
    compare: Compare | None,
    trace: Trace,
    *,
    at_once: int = 1,
    on_verdict: Callable[[Verdict], None] = lambda _: None,
) -> Verification:
    """Returns what each document is to the answer. The budget of `trace` limits all of it.

    `compare` is None for an answer that only quotes: no model is asked then. At most `at_once` documents are masked at
    the same time. `on_verdict` is called with each verdict as soon as it is known. A run that fails, or that the budget
    ends, makes its document `unclear`, and a note says why.
    """
    verifier = _Verifier(question, given, ask_without, compare, trace, at_once)
    return await verifier.verify(on_verdict)


class _Verifier:
    """One verification. Every run has a trace of its own, which shares the budget and the usage of the verification."""

    def __init__(
        self,
        question: str,
        given: GivenAnswer,
        ask_without: AskWithout,
        compare: Compare | None,
        trace: Trace,
        at_once: int,
    ) -> None:
        self._question = question
        self._given = given
        self._ask_without = ask_without
        self._compare = compare
        self._trace = trace
        self._gate = _Gate(trace, at_once=at_once, calls=given.calls, tokens=given.tokens)

    async def verify(self, on_verdict: Callable[[Verdict], None]) -> Verification:
        async def judge(document: CitedDocument) -> Verdict:
            verdict = await self._judge(document)
            on_verdict(verdict)
            return verdict

        self._note_limits()
        documents = self._given.documents
        judged = await gather(judge(document) for document in documents[:MAX_DOCUMENTS])
        verdicts = {verdict.located.key: verdict for verdict in judged}
        for left_out in documents[MAX_DOCUMENTS:]:
            verdicts[left_out.located.key] = _unclear(left_out, f"at most {MAX_DOCUMENTS} documents are masked")
            on_verdict(verdicts[left_out.located.key])
        _drop_needed(verdicts)
        together = await self._find_groups(verdicts)
        return Verification(
            documents=tuple(verdicts.values()),
            together=together,
            usage=self._trace.usage,
            notes=tuple(self._trace.notes),
        )

    def _note_limits(self) -> None:
        given = self._given
        if not given.documents:
            self._trace.note("the answer cites no document of the corpus, so there is nothing to mask")
        if given.links:
            markers = ", ".join(f"[{marker}]" for marker in given.links)
            self._trace.note(f"passages of the web are not masked: {markers}")
        if len(given.documents) > MAX_DOCUMENTS:
            self._trace.note(f"the answer has {len(given.documents)} documents; the first {MAX_DOCUMENTS} are masked")

    async def _judge(self, document: CitedDocument) -> Verdict:
        run = await self._run(frozenset({document.located.key}))
        without = run.without
        if run.answer is None or without is None:
            return _unclear(document, run.failure)
        same = await self._is_same(document, run.answer, without)
        replaced_by = find_replacements(document, self._given.documents, list_cited(run.answer)) if same else ()
        role, why = decide_role(self._given, without, same, replaced_by)
        return Verdict(
            located=document.located,
            role=role,
            why=why,
            markers=document.markers,
            without=without,
            replaced_by=replaced_by if role is DocumentRole.REDUNDANT else (),
        )

    async def _run(self, masked: frozenset[Key]) -> _Run:
        async with self._gate.enter() as admitted:
            if not admitted:
                return self._fail(_OVER)
            trace = self._trace.branch()
            try:
                answer = await self._ask_without(masked, trace)
            except HopweaveError as error:
                return self._fail(_OVER if trace.exhausted else str(error))
        return self._fail(_OVER) if trace.exhausted else _Run(answer=answer)

    def _fail(self, reason: str) -> _Run:
        self._trace.note(f"not all documents were verified: {reason}")
        return _Run(failure=reason)

    async def _is_same(self, document: CitedDocument, answer: Answer, without: AnswerWithout) -> bool | None:
        """Whether the answer without a document says the same. A lost answer is not compared."""
        if is_lost(self._given, without):
            return False
        if self._compare is None:
            quotes = {citation.quote for citation in answer.citations}
            return compare_quotes(self._question, self._given, document, quotes)
        return await self._compare_texts(answer)

    async def _compare_texts(self, answer: Answer) -> bool | None:
        same = compare_answers(self._given.text, answer.plain)
        if same is not None or self._compare is None:
            return same
        trace = self._trace.branch()
        chunks = self._given.chunks | {citation.chunk_id for citation in answer.citations if citation.url is None}
        chunks |= {hit.chunk.id for step in answer.steps for hit in step.hits if hit.url is None}
        try:
            return await self._compare(self._given.text, answer.plain, chunks, trace)
        except HopweaveError as error:
            self._trace.note(f"two answers were not compared: {_OVER if trace.exhausted else error}")
            return None

    async def _find_groups(self, verdicts: dict[Key, Verdict]) -> tuple[tuple[Located, ...], ...]:
        """Returns the groups of redundant documents of which one is needed, and adds further replacements to the
        verdicts.
        """
        redundant = {
            key: verdict.replaced_by for key, verdict in verdicts.items() if verdict.role is DocumentRole.REDUNDANT
        }
        groups = form_groups(redundant, verdicts.keys() - redundant.keys())
        masked = await gather(self._mask_together(group, verdicts.keys()) for group in groups)
        found = []
        for group, (is_needed, added) in zip(groups, masked, strict=True):
            for key in group & redundant.keys() if added else ():
                verdicts[key] = _replace_by(verdicts[key], (*verdicts[key].replaced_by, *added))
            named = {
                located.key: located
                for verdict in verdicts.values()
                for located in (verdict.located, *verdict.replaced_by)
            }
            if is_needed:
                members = group.union(located.key for located in added)
                found.append(tuple(located for key, located in named.items() if key in members))
        return tuple(found)

    async def _mask_together(self, group: frozenset[Key], judged: Iterable[Key]) -> tuple[bool, tuple[Located, ...]]:
        """Masks a group, and again with what replaces it. Returns whether the answer is lost then, and the replacements
        that were found on the way.
        """
        masked, added = group, dict[Key, Located]()
        known = {*judged, *group}
        for _ in range(_ROUNDS):
            run = await self._run(masked)
            without = run.without
            if run.answer is None or without is None:
                return False, tuple(added.values())
            if is_lost(self._given, without):
                return True, tuple(added.values())
            same = await self._compare_texts(run.answer) if self._compare is not None else None
            cited = list_cited(run.answer)
            new = {document.located.key: document.located for document in cited if document.located.key not in known}
            if not same or not new:
                return same is False, tuple(added.values())
            added.update(new)
            known |= new.keys()
            masked |= new.keys()
        self._trace.note(f"more documents say the same than were masked together ({len(masked)})")
        return False, tuple(added.values())


def _drop_needed(verdicts: dict[Key, Verdict]) -> None:
    """Leaves needed documents out of the replacements of a redundant document, unless there is no other replacement:
    the answer cites them for something else, too.
    """
    needed = {key for key, verdict in verdicts.items() if verdict.role is DocumentRole.NEEDED}
    for key, verdict in verdicts.items():
        others = tuple(located for located in verdict.replaced_by if located.key not in needed)
        if others:
            verdicts[key] = _replace_by(verdict, others)


def _replace_by(verdict: Verdict, replaced_by: tuple[Located, ...]) -> Verdict:
    return replace(verdict, replaced_by=replaced_by, why=describe_redundant(replaced_by))


def _unclear(document: CitedDocument, reason: str) -> Verdict:
    return Verdict(
        located=document.located,
        role=DocumentRole.UNCLEAR,
        why=f"It was not found out: {reason}.",
        markers=document.markers,
    )


def make_comparison(question: Question, models: ChatModels, searcher: tuple[str, Searcher]) -> Compare:
    """Returns a comparison for `verify_answer`: it asks the model of the role `same_answer`.

    `searcher` is the reasoner's; nothing is searched.
    """

    async def compare(first: str, second: str, chunks: frozenset[str], trace: Trace) -> bool | None:
        session = Session("verification", question, models, searcher, trace)
        return await same_answer(session, question.text, first, second, chunks)

    return compare
