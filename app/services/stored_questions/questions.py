"""Stored questions as a caller asks, reads, repeats and compares them."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.broker.notifier import OutageLog
from app.container import Container
from app.services.questions import AskRequest
from app.services.stored_questions.texts import fill_texts
from core.corpora import Corpus
from core.documents import DocumentRef
from core.errors import Conflict, HopweaveError, InvalidInput, NotFound
from core.filters import parse_filter
from core.ids import new_id
from core.ports.chat import Message, Speaker
from core.questions import AskedQuestion, NewQuestion, QuestionEvent, QuestionSource
from core.record_policy.questions import withdrawal_problem

_log = logging.getLogger("hopweave.questions")

_CLEAN_SECONDS = 60.0

_MAX_REQUEST = 300_000
"""Characters. Lists show the requests of up to 200 questions."""

_MOST_TURNS = 10
"""Questions of a conversation that are read for the next one. A model is shown the last 8,000 characters at most."""

_LONGEST_TURN = 2_000
"""Characters of a question, and of an answer, that are read for the next one: no model is shown more of a message."""


@dataclass(frozen=True, kw_only=True)
class QuestionChanges:
    """What changed since the question `before`, which `after` asks again.

    All documents are cited by the answers. `changed` documents are cited by both, and have another revision since.
    """

    before: AskedQuestion
    after: AskedQuestion
    same_answer: bool
    added: Sequence[DocumentRef]
    removed: Sequence[DocumentRef]
    changed: Sequence[DocumentRef]
    same: Sequence[DocumentRef]


async def check_askable(container: Container, corpus: Corpus, request: AskRequest) -> None:
    """Raises what `ask` would raise for a request that cannot be answered, so that it is not stored."""
    container.limits.check(k=request.k, history=len(request.history))
    await container.check_tokens()
    if request.filter is not None:
        parse_filter(request.filter)
    container.check_embedding(corpus)
    container.reasoner(request.reasoner or container.default_reasoner, request.searcher, corpora=(corpus,))


async def store_question(
    container: Container, corpus: Corpus, request: Mapping[str, Any], *, again_of: str | None = None
) -> AskedQuestion:
    """Stores a question that begins to be answered. `request` is the body to ask it again with.

    Raises `InvalidInput` for a body that is too long to be stored, and `RateLimited` if as many of the caller's
    questions run as may.
    """
    if (length := len(json.dumps(request, ensure_ascii=False))) > _MAX_REQUEST:
        raise InvalidInput(
            f"the body of the question has {length:,} characters of JSON; at most {_MAX_REQUEST:,} are stored: shorten "
            "`filter` or `options`, or use `ask`, which stores nothing"
        )
    settings = container.settings.questions
    question = NewQuestion(
        id=new_id(), corpus_id=corpus.id, text=str(request["question"]), request=request, again_of=again_of
    )
    return await container.record.questions.create(
        question, lease_seconds=settings.lease_seconds, max_running=settings.max_running
    )


async def read_question(container: Container, corpus: Corpus, question_id: str) -> AskedQuestion:
    """Returns a question with the texts that the caller may see. Raises `NotFound`."""
    question = await container.record.questions.get(corpus.id, question_id)
    if not await _sees_sources(container, corpus, question):
        problem = withdrawal_problem(question.state, question.problem) if question.state.final else None
        return replace(question, withdrawn=True, answer=None, verification=None, problem=problem)
    if question.answer is None:
        return question
    return replace(question, answer=await fill_texts(container, corpus, question.answer))


async def continue_conversation(
    container: Container, corpus: Corpus, request: AskRequest, follows: str | None
) -> AskRequest:
    """Returns a request with the conversation that ends with the question `follows` as its history.

    These are the last questions, with their answers, as far as they are still stored; before the first of a
    conversation stands its own `history`. Without `follows` the request stays as it is.
    """
    turns: list[Message] = []
    told: set[str] = set()
    following = follows
    for _ in range(_MOST_TURNS):
        if following is None:
            break
        try:
            question = await container.record.questions.get(corpus.id, following)
        except NotFound:  # deleted, or its days are over
            break
        messages, sources = await _list_messages(container, corpus, question)
        turns, told = [*messages, *turns], told | sources
        following = question.request.get("follows")
    if not turns:
        return request
    most = container.limits.history
    history = tuple(turns if most is None else turns[max(0, len(turns) - most) :])
    return replace(request, history=history, told=frozenset(told))


async def _list_messages(
    container: Container, corpus: Corpus, question: AskedQuestion
) -> tuple[Sequence[Message], frozenset[str]]:
    """Returns the messages of one question, and the ids of the documents that its answer was made of. One that was
    declined, or whose documents the caller may not see, has no answer.
    """
    earlier = question.request.get("history", ())[-2 * _MOST_TURNS :]
    said = [Message(speaker=Speaker(turn["role"]), content=turn["content"][:_LONGEST_TURN]) for turn in earlier]
    said.append(Message(speaker=Speaker.USER, content=question.text[:_LONGEST_TURN]))
    answer = question.answer
    if answer is not None and not answer["abstained"] and await _sees_sources(container, corpus, question):
        said.append(Message(speaker=Speaker.ASSISTANT, content=str(answer["answer"])[:_LONGEST_TURN]))
        sources = await container.record.questions.list_sources(corpus.id, question.id)
        return said, frozenset(source.document_id for source in sources)
    return said, frozenset()


async def list_questions(
    container: Container, corpus: Corpus, *, kept: bool | None, limit: int, before: str | None
) -> Sequence[AskedQuestion]:
    """Returns the caller's questions, newest first, without answers."""
    return await container.record.questions.list(corpus.id, asked_by=[""], kept=kept, limit=limit, before=before)


async def list_events(container: Container, corpus: Corpus, question_id: str, *, after: int) -> Sequence[QuestionEvent]:
    """Returns the events after a number; none if the caller may not see all that was retrieved."""
    events = await container.record.questions.list_events(corpus.id, question_id, after=after)
    if not events:
        return ()
    question = await container.record.questions.get(corpus.id, question_id)
    return events if await _sees_sources(container, corpus, question) else ()


def is_outdated(corpus: Corpus, question: AskedQuestion) -> bool:
    """Whether the corpus has changed since the question was asked."""
    return question.generation is None or corpus.generation > question.generation


async def compare(container: Container, corpus: Corpus, question_id: str) -> QuestionChanges:
    """Raises `Conflict` if the question repeats no other question or is not answered yet, and `NotFound` if that other
    question has been deleted.
    """
    after = await read_question(container, corpus, question_id)
    if after.again_of is None:
        raise Conflict(f"question {question_id!r} asks no other one again; ask it again, and compare the new one")
    if not after.state.final:
        raise Conflict(f"question {question_id!r} is still being answered; wait until it is done")
    try:
        before = await read_question(container, corpus, after.again_of)
    except NotFound as error:
        raise NotFound(
            f"the question {after.again_of!r}, which this one asks again, has been deleted; keep a question to compare "
            "it later"
        ) from error
    old, new = [await _read_cited(container, corpus, answer) for answer in (before, after)]
    names = await container.record.documents.get_refs(corpus.id, {*old, *new}, enabled=None)
    both = [id for id in names if id in old and id in new]

    def named(ids: list[str]) -> list[DocumentRef]:
        return sorted((names[id] for id in ids), key=lambda ref: ref.key)

    return QuestionChanges(
        before=before,
        after=after,
        same_answer=_is_same(before, after),
        added=named([id for id in names if id not in old]),
        removed=named([id for id in names if id not in new]),
        changed=named([id for id in both if old[id] != new[id]]),
        same=named([id for id in both if old[id] == new[id]]),
    )


async def clean_questions(container: Container) -> None:
    """Deletes questions whose time is over, every minute, forever."""
    outages = OutageLog(_log)
    while True:
        try:
            await container.record.questions.prune(after_seconds=container.settings.questions.stored_seconds)
        except HopweaveError as error:
            outages.report_outage("record", error)
        else:
            outages.report_recovery("record")
        await asyncio.sleep(_CLEAN_SECONDS)


async def _read_cited(container: Container, corpus: Corpus, question: AskedQuestion) -> dict[str, str]:
    """Returns the fingerprints of the cited documents by id."""
    sources: Sequence[QuestionSource] = await container.record.questions.list_sources(corpus.id, question.id)
    return {source.document_id: source.fingerprint for source in sources if source.cited}


async def _sees_sources(container: Container, corpus: Corpus, question: AskedQuestion) -> bool:
    """Whether the caller may see all documents that were retrieved: their metadata may have changed since."""
    if container.sees_all_documents:
        return True
    ids = {source.document_id for source in await container.record.questions.list_sources(corpus.id, question.id)}
    return set(await container.record.documents.get_refs(corpus.id, ids, enabled=None)) == ids


def _is_same(before: AskedQuestion, after: AskedQuestion) -> bool:
    if before.answer is None or after.answer is None:
        return False
    return _plain(before.answer) == _plain(after.answer)


def _plain(answer: Mapping[str, Any]) -> str:
    """Returns the text of an answer without the markers of its citations, and with single spaces."""
    text = str(answer["answer"])
    for marker in {citation["marker"] for citation in answer["citations"]}:
        text = text.replace(f"[{marker}]", "")
    return " ".join(text.split())
