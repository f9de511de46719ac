"""The contract of the record about stored questions: in several processes, and what deletions do to them."""

import asyncio
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.errors import Conflict, Fenced, NotFound, RateLimited
from core.keys import Scope, make_key
from core.ports.record import Commit, Record
from core.questions import AskedQuestion, NewQuestion, QuestionEvent, QuestionOutcome, QuestionState
from testing.record import SETTINGS, RecordFixtures, claim_all, commit_of, delete, put

__all__ = ["QuestionsContract"]


_A, _B = ids.document_id("a"), ids.document_id("b")
_LEASE = 60.0
_HISTORY = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "The secret Ada"}]


async def _ask(record: Record, corpus: Corpus, text: str = "Who?", *, lease: float = _LEASE, **more: Any) -> str:
    request = {"question": text, "history": _HISTORY}
    question = NewQuestion(id=ids.new_id(), corpus_id=corpus.id, text=text, request=request, **more)
    created = await record.questions.create(question, lease_seconds=lease, max_running=3)
    assert created.state is QuestionState.RUNNING
    if lease >= _LEASE:
        assert created == await record.questions.get(corpus.id, question.id)
    return question.id


def _event(number: int, kind: str = "step", text: str = "The secret Ada") -> QuestionEvent:
    return QuestionEvent(number=number, kind=kind, data=f'{{"text":"{text}"}}')


async def _append(
    record: Record, id: str, *events: QuestionEvent, retrieved: Collection[str] = (), lease: float = _LEASE
) -> None:
    await record.questions.append(id, events, retrieved, lease_seconds=lease)


async def _finish(record: Record, id: str, *retrieved: str, cited: Collection[str] = ()) -> None:
    answer = {"answer": "The secret Ada", "citations": []}
    outcome = QuestionOutcome(
        state=QuestionState.DONE, answer=answer, support="stated", retrieved=retrieved, cited=cited
    )
    await record.questions.finish(id, outcome)


async def _list(record: Record, corpus: Corpus, asked_by: str = "", **more: Any) -> list[str]:
    return [one.id for one in await record.questions.list(corpus.id, asked_by=[asked_by], **more)]


def _problem(question: AskedQuestion) -> str:
    assert question.problem is not None
    return str(question.problem["detail"])


class QuestionsContract(RecordFixtures):
    async def test_a_question_is_followed_by_another_process(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await put(record, corpus, "b", [("two", ["Ada"])])
        corpus = await record.corpora.get("books")
        id = await _ask(record, corpus, "Who was the first?", again_of="f" * 32)
        running = await other.questions.get(corpus.id, id)
        assert (running.state, running.text, running.answer) == (QuestionState.RUNNING, "Who was the first?", None)
        assert (running.request["history"], running.again_of) == (_HISTORY, "f" * 32)
        assert (running.generation, running.kept, running.withdrawn) == (corpus.generation, False, False)
        await _append(record, id, _event(1, "plan"), _event(2, "token"), retrieved=[_A])
        await _append(record, id)
        await _append(record, id, _event(1, "plan"), _event(2, "token"))  # a write that is repeated
        await _append(record, id, _event(3, "token"), _event(4), retrieved=[_A, _B])
        assert await other.questions.list_events(corpus.id, id, after=1, limit=2) == [
            _event(2, "token"),
            _event(3, "token"),
        ]
        await _finish(record, id, _A, _B, cited=[_B])
        done = await other.questions.get(corpus.id, id)
        assert (done.state, done.support, done.problem) == (QuestionState.DONE, "stated", None)
        assert done.answer == {"answer": "The secret Ada", "citations": []}
        assert done.answered_at is not None
        assert done.answered_at >= done.asked_at
        assert [event.number for event in await other.questions.list_events(corpus.id, id)] == [1, 4], "no tokens"
        sources = await other.questions.list_sources(corpus.id, id)
        assert {one.document_id: one.cited for one in sources} == {_A: False, _B: True}
        assert all(one.fingerprint for one in sources)
        with pytest.raises(Fenced):
            await _append(record, id, _event(5))
        with pytest.raises(Fenced):
            await _finish(record, id)

    async def test_a_question_whose_process_is_gone_has_failed(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        id = await _ask(record, corpus, lease=0.01)
        await asyncio.sleep(0.05)
        found = await other.questions.get(corpus.id, id)
        assert (found.state, _problem(found)) == (
            QuestionState.FAILED,
            "the server ended while the question was answered; ask it again",
        )
        assert found.answered_at is not None
        for write in (_append(record, id, _event(1)), _finish(record, id)):
            with pytest.raises(Fenced):
                await write
        assert await record.questions.prune(after_seconds=60) == 0
        assert await other.questions.get(corpus.id, id) == found
        assert (await other.questions.cancel(corpus.id, id)).state is QuestionState.FAILED

    async def test_a_question_is_cancelled_by_another_process(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        id = await _ask(record, corpus)
        cancelled = await other.questions.cancel(corpus.id, id)
        assert cancelled.state is QuestionState.CANCELLED
        with pytest.raises(Fenced):
            await _append(record, id, _event(1))
        assert await record.questions.cancel(corpus.id, id) == cancelled

    async def test_no_more_than_some_run_at_once(self, record: Record, other: Record, corpus: Corpus) -> None:
        running = [await _ask(record, corpus) for _ in range(3)]
        await _ask(record, corpus, asked_by="k")
        with pytest.raises(RateLimited, match=r"3 of your questions .*HOPWEAVE_QUESTIONS__MAX_RUNNING"):
            await _ask(other, corpus)
        await record.questions.cancel(corpus.id, running[0])
        await _ask(other, corpus, lease=0.01)
        await asyncio.sleep(0.05)
        await _ask(other, corpus)

    async def test_an_asker_lists_its_own_newest_first(self, record: Record, other: Record, corpus: Corpus) -> None:
        mine = [await _ask(record, corpus) for _ in range(3)]
        theirs = await _ask(record, corpus, asked_by="k")
        await record.questions.set_kept(corpus.id, mine[1], kept=True)
        await _finish(record, mine[2])
        assert await _list(other, corpus) == mine[::-1]
        assert await _list(other, corpus, "k") == [theirs]
        assert await _list(other, corpus, kept=True) == [mine[1]]
        assert await _list(other, corpus, kept=False) == [mine[2], mine[0]]
        assert await _list(other, corpus, limit=1, before=mine[2]) == [mine[1]]
        [newest] = await other.questions.list(corpus.id, asked_by=[""], limit=1)
        assert (newest.answer, newest.support) == (None, "stated"), "lists are short"
        both = await other.questions.list(corpus.id, asked_by=["", "k"])
        assert [one.id for one in both] == [theirs, *mine[::-1]]
        rest = await other.questions.list(corpus.id, asked_by=["", "k"], before=theirs, limit=2)
        assert [one.id for one in rest] == [mine[2], mine[1]]
        with pytest.raises(NotFound):
            await _list(other, corpus, before=theirs)

    async def test_what_is_deleted_is_gone(self, record: Record, other: Record, corpus: Corpus) -> None:
        first, second = [await _ask(record, corpus) for _ in range(2)]
        await _append(record, first, _event(1))
        await other.questions.delete(corpus.id, first)
        for call in (
            record.questions.get(corpus.id, first),
            record.questions.delete(corpus.id, first),
            record.questions.cancel(corpus.id, first),
            record.questions.set_kept(corpus.id, first, kept=True),
            record.questions.get("f" * 32, second),
        ):
            with pytest.raises(NotFound, match="no question"):
                await call
        with pytest.raises(Fenced):
            await _append(record, first, _event(2))
        assert await record.questions.list_events(corpus.id, first) == []

    async def test_what_is_not_kept_ends(self, record: Record, corpus: Corpus) -> None:
        running, done, kept = [await _ask(record, corpus) for _ in range(3)]
        for id in (done, kept):
            await _finish(record, id)
        await record.questions.set_kept(corpus.id, kept, kept=True)
        assert await record.questions.prune(after_seconds=60) == 0
        await asyncio.sleep(0.05)
        assert await record.questions.prune(after_seconds=0.01) == 1
        assert await _list(record, corpus) == [kept, running]

    async def test_the_deletion_of_a_document_withdraws_what_was_made_of_it(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        for key in ("a", "b"):
            await put(record, corpus, key, [(f"text of {key}", ["Ada"])])
        done, running, apart = [await _ask(record, corpus) for _ in range(3)]
        for id, document in ((done, _A), (running, _A), (apart, _B)):
            await _append(record, id, _event(1), retrieved=[document])
        await _finish(record, done, _A, _B, cited=[_A, _B])
        await record.questions.set_verification(corpus.id, done, {"why": "The secret Ada"})
        await other.submissions.delete_documents(corpus.id, [_A])
        left = await record.questions.get(corpus.id, done)
        assert (left.withdrawn, left.state, left.text) == (True, QuestionState.DONE, "Who?")
        assert (left.answer, left.verification, left.support) == (None, None, "stated")
        assert left.request["history"] == _HISTORY[:1], "an answer before may have its text, too"
        assert [one.document_id for one in await record.questions.list_sources(corpus.id, done)] == [_B]
        ended = await record.questions.get(corpus.id, running)
        assert (ended.withdrawn, ended.state) == (True, QuestionState.FAILED)
        assert _problem(ended).startswith("a document that was retrieved was deleted while")
        for id in (done, running):
            assert await record.questions.list_events(corpus.id, id) == []
        with pytest.raises(Fenced):
            await _append(record, running, _event(2))
        with pytest.raises(Conflict, match="no answer to verify"):
            await record.questions.set_verification(corpus.id, done, {})
        assert not (await record.questions.get(corpus.id, apart)).withdrawn
        assert len(await record.questions.list_events(corpus.id, apart)) == 1

    async def test_a_document_that_was_retrieved_for_the_verification_withdraws_too(
        self, record: Record, corpus: Corpus
    ) -> None:
        for key in ("a", "b"):
            await put(record, corpus, key, [(f"text of {key}", ["Ada"])])
        done = await _ask(record, corpus)
        await _finish(record, done, _A, cited=[_A])
        await record.questions.set_verification(corpus.id, done, {"why": "says b"}, [_A, _B])
        sources = await record.questions.list_sources(corpus.id, done)
        assert {one.document_id: one.cited for one in sources} == {_A: True, _B: False}
        await record.submissions.delete_documents(corpus.id, [_B])
        left = await record.questions.get(corpus.id, done)
        assert (left.withdrawn, left.answer, left.verification) == (True, None, None)

    async def test_a_verification_is_not_stored_of_a_document_that_is_gone(
        self, record: Record, corpus: Corpus
    ) -> None:
        for key in ("a", "b"):
            await put(record, corpus, key, [(f"text of {key}", ["Ada"])])
        done = await _ask(record, corpus)
        await _finish(record, done, _A, cited=[_A])
        await record.submissions.delete_existing(corpus.id, [_B])
        with pytest.raises(Conflict, match="was deleted while the answer"):
            await record.questions.set_verification(corpus.id, done, {"why": "says b"}, [_B])
        assert (await record.questions.get(corpus.id, done)).verification is None

    async def test_a_document_that_is_deleted_before_it_is_named_withdraws_too(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        at_once, at_last = [await _ask(record, corpus) for _ in range(2)]
        await record.submissions.delete_existing(corpus.id, [_A])
        with pytest.raises(Fenced):
            await _append(record, at_once, _event(1), retrieved=[_A])
        with pytest.raises(Fenced):
            await _finish(record, at_last, _A)
        claims = await claim_all(record, corpus)
        await record.commits.commit([Commit(claim=claim) for claim in claims], grace=0)
        later = await _ask(record, corpus)
        with pytest.raises(Fenced):
            await _append(record, later, _event(1), retrieved=[_A])
        for id in (at_once, at_last, later):
            found = await record.questions.get(corpus.id, id)
            assert (found.state, found.withdrawn, found.answer) == (QuestionState.FAILED, True, None)
            assert await record.questions.list_events(corpus.id, id) == []

    async def test_a_replaced_document_leaves_the_answer(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        id = await _ask(record, corpus)
        await _finish(record, id, _A)
        before = await record.questions.list_sources(corpus.id, id)
        await put(record, corpus, "a", [("two", ["Ada"])])
        again = await _ask(record, corpus)
        await _finish(record, again, _A)
        found = await record.questions.get(corpus.id, id)
        assert (found.withdrawn, found.answer is not None) == (False, True)
        assert found.generation is not None
        assert found.generation < (await record.corpora.get("books")).generation
        assert await record.questions.list_sources(corpus.id, id) == before
        assert await record.questions.list_sources(corpus.id, again) != before, "another revision was read"

    async def test_a_reindexed_corpus_keeps_its_questions(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        done, running = [await _ask(record, corpus) for _ in range(2)]
        await _append(record, running, _event(1), retrieved=[_A])
        await _finish(record, done, _A)
        built = await record.reindexing.start(corpus.id, replace(SETTINGS, chunker="sentences"))
        lacking = await record.reindexing.compare(corpus.id)
        await record.submissions.enqueue(built.shadow_id, lacking.revisions, OnConflict.REPLACE, job_id=built.job_id)
        claims = await claim_all(record, await record.corpora.get_by_id(built.shadow_id))
        await record.commits.commit([commit_of(claim, [("anew", ["Ada"])]) for claim in claims], grace=0)
        assert await record.reindexing.swap(corpus.id) is not None
        await record.maintenance.delete_corpus_rows(corpus.id)
        now = await record.corpora.get("books")
        assert await _list(record, now) == [running, done]
        found = await record.questions.get(now.id, done)
        assert (found.generation, found.answer is not None) == (None, True)
        assert [one.document_id for one in await record.questions.list_sources(now.id, done)] == [_A]
        await _append(record, running, _event(2))
        assert [one.number for one in await record.questions.list_events(now.id, running)] == [1, 2]
        await delete(record, now, "a")
        assert (await record.questions.get(now.id, done)).withdrawn

    async def test_a_deleted_corpus_takes_its_questions_along(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        id = await _ask(record, corpus)
        await _append(record, id, _event(1), retrieved=[_A])
        await record.corpora.delete("books")
        with pytest.raises(NotFound):
            await record.questions.get(corpus.id, id)
        assert await _list(record, corpus) == []
        with pytest.raises(Fenced):
            await _append(record, id, _event(2))
        with pytest.raises(NotFound):
            await _ask(record, corpus)
        await record.maintenance.delete_corpus_rows(corpus.id)
        assert await record.questions.list_events(corpus.id, id) == []
        assert await record.questions.list_sources(corpus.id, id) == []
        assert await record.questions.export(corpus.id) == []

    async def test_a_deleted_key_takes_its_questions_along(self, record: Record, corpus: Corpus) -> None:
        key, _ = make_key("a", [Scope.READ])
        await record.keys.create(key)
        theirs, mine = await _ask(record, corpus, asked_by=key.id), await _ask(record, corpus)
        await record.keys.delete(key.id)
        assert (await _list(record, corpus, key.id), await _list(record, corpus)) == ([], [mine])
        with pytest.raises(NotFound):
            await record.questions.get(corpus.id, theirs)

    async def test_a_backup_has_what_is_final(self, record: Record, other: Record, corpus: Corpus) -> None:
        for key in ("a", "b"):
            await put(record, corpus, key, [(f"text of {key}", ["Ada"])])
        lost = await _ask(record, corpus)
        await _finish(record, lost, _A, _B, cited=[_A])
        done, failed, running = [await _ask(record, corpus) for _ in range(3)]
        await _finish(record, done, _A, cited=[_A])
        problem = {"status": 502, "detail": "the model failed"}
        await record.questions.finish(failed, QuestionOutcome(state=QuestionState.FAILED, problem=problem))
        await record.questions.set_kept(corpus.id, done, kept=True)
        saved = await record.questions.export(corpus.id)
        assert [one.id for one, _ in saved] == [lost, done, failed]
        copy = await other.corpora.create("copy", SETTINGS)
        await put(other, copy, "a", [("text of a", ["Ada"])])
        for _ in range(2):
            await other.questions.adopt(copy.id, saved)
        generation = (await other.corpora.get("copy")).generation
        found = await record.questions.get(copy.id, done)
        assert found == replace(saved[1][0], corpus_id=copy.id, generation=generation)
        assert found.kept
        assert (await record.questions.get(copy.id, failed)).problem == problem
        [source] = await record.questions.list_sources(copy.id, done)
        assert (source.document_id, source.cited) == (_A, True)
        left = await record.questions.get(copy.id, lost)
        assert (left.withdrawn, left.answer, left.text) == (True, None, "Who?"), "the other document is not there"
        await _append(record, running, _event(1))
        assert await _list(record, corpus) == [running, failed, done, lost]
