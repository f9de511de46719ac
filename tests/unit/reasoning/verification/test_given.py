"""What a verification reads of an answer, and what it is expected to cost."""

from dataclasses import replace

import pytest

from core.trace import Usage
from core.verification import VerificationCost
from reasoning.verification.given import MAX_DOCUMENTS, estimate_cost, read_answer
from tests.unit.reasoning.verification.given import answer_citing, cited, given, step


def _usage(calls: int, tokens: int, *, cached: int = 0, role: str = "conclude") -> Usage:
    usage = Usage()
    row = usage.row(role, "m")
    row.calls, row.prompt_tokens, row.cached = calls, tokens, cached
    return usage


def test_documents_of_the_answer_come_first_then_those_of_its_steps() -> None:
    steps = (step("1", "Ada Lovelace", "ada"), step("2", "", "lost"), step("3", "De Morgan", "letters", "morgan"))
    read = read_answer(answer_citing("Madurai", "morgan", steps=steps), Usage())
    assert read.text == "Madurai"
    assert [(one.located.key, one.markers) for one in read.documents] == [
        (("people", "morgan"), (1,)),
        (("people", "ada"), ()),
        (("people", "letters"), ()),
    ]
    morgan, ada, letters = read.documents
    assert morgan.places & letters.places
    assert not ada.places & letters.places
    assert read.chunks == {"morgan#0", "ada#0", "letters#0", "lost#0"}


def test_citations_of_the_web_are_no_documents() -> None:
    answer = answer_citing("Ada", "ada", "web")
    linked = replace(answer.citations[1], url="https://example.org", corpus="")
    read = read_answer(replace(answer, citations=(answer.citations[0], linked)), Usage())
    assert [one.located.document.key for one in read.documents] == ["ada"]
    assert read.links == (2,)
    assert "web#0" not in read.chunks


@pytest.mark.parametrize(
    ("usage", "calls", "tokens"),
    [
        (_usage(3, 1200), 3, 1200),
        (_usage(3, 1200, cached=1), 4, 1600),
        (_usage(0, 0, cached=2), 2, 800),
        (_usage(1, 400, role="restate_question"), 0, 0),
    ],
)
def test_asking_again_costs_what_the_answer_took_without_cache_and_restatement(
    usage: Usage, calls: int, tokens: int
) -> None:
    read = read_answer(answer_citing("Ada", "ada"), usage)
    assert (read.calls, read.tokens) == (calls, tokens)


def test_the_cost_is_an_answer_and_a_comparison_for_each_document() -> None:
    cost = estimate_cost(given(cited("ada"), cited("morgan"), calls=3))
    assert cost is not None
    assert (cost.documents, cost.calls) == (2, 8)
    assert 600 < cost.tokens < 2_000


def test_without_a_model_nothing_is_paid_and_without_a_document_there_is_no_cost() -> None:
    assert estimate_cost(given(cited("ada"), calls=0)) == VerificationCost(documents=1, calls=0, tokens=0)
    assert estimate_cost(given()) is None


def test_at_most_so_many_documents_are_paid_for() -> None:
    cost = estimate_cost(given(*(cited(f"d{number}") for number in range(MAX_DOCUMENTS + 5))))
    assert cost is not None
    assert cost.documents == MAX_DOCUMENTS
