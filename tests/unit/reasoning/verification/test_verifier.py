"""A verification over answers that are scripted by what is masked."""

import asyncio
from collections.abc import Mapping

import pytest

from core.errors import ModelUnavailable
from core.ports.reasoning import Answer, Support
from core.trace import Budget, Trace
from core.verification import Verdict, Verification
from reasoning.verification.given import MAX_DOCUMENTS, GivenAnswer
from reasoning.verification.verifier import Compare, verify_answer
from tests.unit.reasoning.verification.given import answer_citing, cited, given

_NOTHING = answer_citing("No.", support=Support.NONE)
_QUESTION = "Who?"


class Corpus:
    """Answers by what is masked: the first rule all of whose documents are left is the answer; else there is none.

    Each answer takes `calls` calls. `most` is how many ran at once.
    """

    def __init__(self, rules: Mapping[tuple[str, ...], Answer], calls: int = 1) -> None:
        self.rules = rules
        self.calls = calls
        self.masked: list[set[str]] = []
        self.running = self.most = 0

    async def ask(self, masked: frozenset[tuple[str, str]], trace: Trace) -> Answer:
        keys = {id for _, id in masked}
        self.masked.append(keys)
        self.running += 1
        self.most = max(self.most, self.running)
        for _ in range(self.calls):
            trace.admit("answer")
            trace.usage.row("answer", "m").calls += 1
            await asyncio.sleep(0)
        self.running -= 1
        return next((answer for needed, answer in self.rules.items() if not keys & set(needed)), _NOTHING)


async def _says(first: str, second: str, *_: object) -> bool | None:
    raise AssertionError(f"a model is asked whether {first!r} and {second!r} are the same")


async def _verify(
    corpus: Corpus,
    answer: GivenAnswer,
    *,
    compare: Compare | None = _says,
    budget: Budget | None = None,
    at_once: int = 4,
    told: list[Verdict] | None = None,
) -> Verification:
    trace = Trace(budget=budget or Budget())
    heard = told if told is not None else list[Verdict]()
    return await verify_answer(_QUESTION, answer, corpus.ask, compare, trace, at_once=at_once, on_verdict=heard.append)


def _roles(verification: Verification) -> dict[str, str]:
    return {one.located.document.key: one.role.value for one in verification.documents}


def _together(verification: Verification) -> list[set[str]]:
    return [{one.document.key for one in group} for group in verification.together]


async def test_each_document_is_masked_and_told() -> None:
    corpus = Corpus({("hop1", "hop2"): answer_citing("Ada", "hop1", "hop2")})
    told = list[Verdict]()
    verification = await _verify(corpus, given(cited("hop1"), cited("hop2")), told=told)
    assert _roles(verification) == {"hop1": "needed", "hop2": "needed"}
    assert {one.located.document.key for one in told} == {"hop1", "hop2"}
    assert corpus.masked == [{"hop1"}, {"hop2"}]
    assert verification.usage.calls == 2
    assert verification.together == verification.notes == ()


async def test_two_documents_that_replace_each_other_are_redundant_and_one_of_them_is_needed() -> None:
    copies = {("a", "hop2"): answer_citing("Ada", "a", "hop2"), ("b", "hop2"): answer_citing("Ada", "b", "hop2")}
    for documents in (("a", "hop2"), ("a", "b", "hop2")):  # the copy is cited, or not
        verification = await _verify(Corpus(copies), given(*map(cited, documents)))
        assert _roles(verification) == {one: "needed" if one == "hop2" else "redundant" for one in documents}
        assert [one.document.key for one in verification.documents[0].replaced_by] == ["b"]
        assert _together(verification) == [{"a", "b"}]


async def test_a_third_copy_is_found_when_two_are_masked() -> None:
    rules = {(one,): answer_citing("Ada", one) for one in "abc"}
    corpus = Corpus(rules)
    verification = await _verify(corpus, given(cited("a")))
    assert _roles(verification) == {"a": "redundant"}
    assert [one.document.key for one in verification.documents[0].replaced_by] == ["b", "c"]
    assert _together(verification) == [{"a", "b", "c"}]
    assert corpus.masked == [{"a"}, {"a", "b"}, {"a", "b", "c"}]


async def test_more_copies_than_are_masked_together_are_a_note() -> None:
    rules = {(one,): answer_citing("Ada", one) for one in "abcdefgh"}
    verification = await _verify(Corpus(rules), given(cited("a")))
    assert _together(verification) == []
    assert "more documents say the same" in verification.notes[0]


async def test_a_document_that_adds_nothing_is_in_no_group() -> None:
    corpus = Corpus({("a",): answer_citing("Ada", "a")})
    verification = await _verify(corpus, given(cited("a"), cited("beside")))
    assert _roles(verification) == {"a": "needed", "beside": "redundant"}
    assert _together(verification) == []


async def test_another_answer_that_passages_state_contradicts() -> None:
    corpus = Corpus({("a",): answer_citing("1815", "a"), ("b",): answer_citing("1816", "b")})
    verification = await _verify(corpus, given(cited("a"), text="1815"))
    assert _roles(verification) == {"a": "contradicts"}
    assert verification.documents[0].without is not None
    assert verification.documents[0].without.answer == "1816"
    assert verification.documents[0].replaced_by == ()


@pytest.mark.parametrize(("said", "role"), [(True, "redundant"), (False, "contradicts"), (None, "unclear")])
async def test_a_model_compares_what_the_texts_do_not_decide(said: bool | None, role: str) -> None:
    asked = list[tuple[str, str]]()

    async def compare(first: str, second: str, chunks: frozenset[str], _: Trace) -> bool | None:
        asked.append((first, second))
        assert "b#0" in chunks
        return said

    corpus = Corpus({("a",): answer_citing("Burma", "a"), ("b",): answer_citing("Myanmar", "b")})
    verification = await _verify(corpus, given(cited("a"), text="Burma"), compare=compare)
    assert _roles(verification) == {"a": role}
    assert set(asked) == {("Burma", "Myanmar")}


async def test_a_comparison_that_fails_is_unclear_with_a_note() -> None:
    async def compare(*_: object) -> bool | None:
        raise ModelUnavailable("the endpoint is down")

    corpus = Corpus({("a",): answer_citing("Burma", "a"), ("b",): answer_citing("Myanmar", "b")})
    verification = await _verify(corpus, given(cited("a"), text="Burma"), compare=compare)
    assert _roles(verification) == {"a": "unclear"}
    assert verification.notes == ("two answers were not compared: the endpoint is down",)


async def test_a_run_that_fails_is_unclear_with_a_note() -> None:
    class Failing(Corpus):
        async def ask(self, masked: frozenset[tuple[str, str]], trace: Trace) -> Answer:
            if ("people", "a") in masked:
                raise ModelUnavailable("the endpoint is down")
            return await super().ask(masked, trace)

    verification = await _verify(Failing({}), given(cited("a"), cited("b")))
    assert _roles(verification) == {"a": "unclear", "b": "needed"}
    assert verification.documents[0].without is None
    assert "the endpoint is down" in verification.documents[0].why
    assert verification.notes == ("not all documents were verified: the endpoint is down",)


@pytest.mark.parametrize("budget", [Budget(calls=5), Budget(tokens=500), Budget(calls=5, tokens=500)])
async def test_what_the_budget_has_no_room_for_is_not_begun(budget: Budget) -> None:
    """Two answers of two calls and 200 tokens fit; half an answer would tell nothing."""
    corpus = Corpus({("a", "b", "c", "d"): answer_citing("Ada", "a")}, calls=2)

    class Paid(Corpus):
        async def ask(self, masked: frozenset[tuple[str, str]], trace: Trace) -> Answer:
            try:
                return await corpus.ask(masked, trace)
            finally:
                trace.usage.row("answer", "m").prompt_tokens += 200

    verification = await _verify(Paid({}), given(*map(cited, "abcd"), calls=2), budget=budget)
    assert list(_roles(verification).values()) == ["needed", "needed", "unclear", "unclear"]
    assert verification.usage.calls == 4
    [note] = verification.notes
    assert note.startswith("not all documents were verified: the budget of the verification is used up")
    assert "--verify-budget" in note


async def test_a_run_that_the_budget_ends_tells_nothing() -> None:
    """It takes more than the answer took, and so ends without one."""

    class Longer(Corpus):
        async def ask(self, masked: frozenset[tuple[str, str]], trace: Trace) -> Answer:
            for _ in range(3):
                trace.exhausted = trace.calls_left == 0
                if not trace.exhausted:
                    trace.admit("answer")
            return _NOTHING

    verification = await _verify(Longer({}), given(cited("a")), budget=Budget(calls=2))
    assert _roles(verification) == {"a": "unclear"}


async def test_seconds_that_are_over_begin_nothing() -> None:
    corpus = Corpus({})
    verification = await _verify(corpus, given(cited("a")), budget=Budget(seconds=1e-9))
    assert (_roles(verification), corpus.masked) == ({"a": "unclear"}, [])


async def test_as_many_run_at_once_as_are_permitted() -> None:
    for at_once in (1, 3):
        corpus = Corpus({}, calls=4)
        await _verify(corpus, given(*map(cited, "abcdef")), at_once=at_once)
        assert corpus.most == at_once


async def test_too_many_documents_are_not_masked() -> None:
    corpus = Corpus({})
    many = given(*(cited(f"d{number}") for number in range(MAX_DOCUMENTS + 1)))
    verification = await _verify(corpus, many)
    assert len(corpus.masked) == MAX_DOCUMENTS
    assert _roles(verification)[f"d{MAX_DOCUMENTS}"] == "unclear"
    assert f"the first {MAX_DOCUMENTS} are masked" in verification.notes[0]


async def test_without_a_document_there_is_nothing_to_mask() -> None:
    verification = await _verify(Corpus({}), given())
    assert verification.documents == ()
    assert verification.notes == ("the answer cites no document of the corpus, so there is nothing to mask",)
