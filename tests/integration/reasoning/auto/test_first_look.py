"""`auto` looks before it plans: what the first call settles, and the plans that it writes."""

import pytest

from core.ports.reasoning import Support, Unsupported
from tests.integration.reasoning.auto.replies import (
    CHAIN,
    FACTS,
    FISH,
    WHO,
    answer_step,
    cite,
    concluded,
    plan,
    settled,
)
from tests.integration.reasoning.good_model import roles
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer, Reply


async def test_a_question_that_the_first_look_settles_costs_one_call(server: ChatServer, desk: ReasoningDesk) -> None:
    server.respond = lambda call: settled("1925", cite(call, "viking", "founded in 1925"))
    answer, trace = await desk.ask("auto", "When was Viking Press founded?")
    assert roles(server) == ["settle_or_plan"]
    assert answer.text == "1925 [1]"
    assert answer.citations[0].quote == "Viking Press is a publisher founded in 1925 in New York."
    assert (answer.support, answer.note, answer.abstained) == (Support.STATED, "", False)
    assert [(one.id, one.depth, one.support) for one in answer.steps] == [("Q0.1", 0, Support.STATED)]
    assert trace.usage.calls == 1


@pytest.mark.parametrize(
    ("said", "support"),
    [
        ("yes", Support.INFERRED),
        ("yes: business class is permitted [1]", Support.INFERRED),
        ("no: business class is not permitted [1]", Support.STATED),
        ("no", Support.STATED),
    ],
)
async def test_an_answer_that_its_sentence_denies_is_inferred(server: ChatServer, said: str, support: Support) -> None:
    rules = "Employees travel second class by rail. Business class on aircraft is not permitted."
    desk = ReasoningDesk(server, {"rules": ("Travel rules", rules)})
    server.respond = lambda call: settled(said, cite(call, "rules", "Business class on aircraft is not permitted."))
    answer, trace = await desk.ask("auto", "Consider the travel rules; is business class on aircraft permitted?")
    assert answer.support is support
    denial = "Not stated: the opposite of “Business class on aircraft is not permitted.”"
    assert (denial in answer.note) is (support is Support.INFERRED)
    assert any("what it cites says otherwise" in note for note in trace.notes) is (support is Support.INFERRED)


async def test_every_link_of_a_settled_question_is_cited(server: ChatServer, desk: ReasoningDesk) -> None:
    server.respond = lambda call: settled(
        "1967", cite(call, "fish", "novel by S. E. Hinton"), cite(call, "outsiders", "published in 1967 by Viking")
    )
    answer, _ = await desk.ask("auto", FISH)
    assert answer.text == "1967 [1] [2]"
    assert [citation.document.key for citation in answer.citations] == ["fish", "outsiders"]


async def test_passages_that_contradict_each_other_are_both_told(server: ChatServer) -> None:
    desk = ReasoningDesk(server, {"a": ("Poll", "The poll gave 48% to Ayala."), "b": ("Count", "Ayala had 36%.")})
    server.respond = lambda call: settled("48% [1]; 36% [2]", cite(call, "a", "48%"), cite(call, "b", "36%"))
    answer, _ = await desk.ask("auto", "What share did Ayala have?")
    assert answer.text == "48% [1]; 36% [2]"
    said = {one.document.key: answer.text[one.answer_span.start : one.answer_span.end] for one in answer.citations}
    assert said == {"a": "48%", "b": "36%"}


async def test_only_what_the_first_look_did_not_state_is_asked(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(
        plan(*CHAIN, known={"Q1.1": {"answer": "S. E. Hinton", "citations": [{"passage": 1, "quote": "S. E. Hinton"}]}})
    )
    server.respond = answer_step
    answer, _ = await desk.ask("auto", FISH)
    assert roles(server) == ["settle_or_plan", "answer_step", "answer_step"]
    assert desk.queries[1:] == list(FACTS)[1:3]
    assert answer.plain == "1967"
    assert answer.support is Support.STATED
    assert [(one.id, one.depth, one.parents) for one in answer.steps] == [
        ("Q0.1", 0, ()),
        ("Q1.1", 1, ("Q0.1",)),
        ("Q2.1", 2, ("Q1.1",)),
        ("Q3.1", 3, ("Q2.1",)),
    ]


async def test_an_empty_corpus_costs_no_call(server: ChatServer) -> None:
    answer, _ = await ReasoningDesk(server, {}).ask("auto", FISH)
    assert answer.abstained
    assert not server.calls


async def test_adaptive_retrieval_answers_from_memory_and_says_so(server: ChatServer, desk: ReasoningDesk) -> None:
    server.script.extend([Reply.json({"retrieve": False}), Reply.json({"answer": "4"})])
    answer, _ = await desk.ask("auto:retrieve=adaptive", "2 + 2?")
    assert answer.text == "4"
    assert answer.support is Support.MEMORY
    assert "from the model's memory" in answer.note
    assert not desk.queries


async def test_a_quote_that_is_not_there_gives_way_to_the_best_sentence(
    server: ChatServer, desk: ReasoningDesk
) -> None:
    server.respond = lambda call: settled(
        "854 km", cite(call, "oder", "the Oder measures 854 km"), {"passage": 99, "quote": "x"}
    )
    answer, trace = await desk.ask("auto", "How long is the Oder?")
    assert answer.citations[0].quote == "It is 854 km long."
    assert any("quote of step Q0.1 is not in the passage" in note for note in trace.notes)
    assert any("citation [99] of step Q0.1 was dropped" in note for note in trace.notes)


async def test_an_answer_that_cites_nothing_is_not_stated(server: ChatServer, desk: ReasoningDesk) -> None:
    server.respond = lambda _: settled("854 km")
    answer, trace = await desk.ask("auto", "How long is the Oder?")
    assert answer.plain == "854 km"
    assert answer.support is Support.INFERRED
    assert any("counts as 'inferred': it cites nothing" in note for note in trace.notes)
    strict, _ = await desk.ask("auto", "How long is the Oder?", unsupported=Unsupported.ABSTAIN)
    assert strict.abstained


async def test_a_question_that_is_settled_by_not_knowing_is_not_settled(
    server: ChatServer, desk: ReasoningDesk
) -> None:
    server.respond = lambda call: concluded("", "none") if call.role == "conclude" else settled("I do not know.")
    answer, _ = await desk.ask("auto", "How long is the Oder?")
    assert answer.abstained
    assert "know" not in answer.text


async def test_a_settled_question_with_steps_is_settled(server: ChatServer, desk: ReasoningDesk) -> None:
    steps = [{"id": "Q1.1", "question": WHO, "answer": "", "citations": []}]
    server.respond = lambda call: settled("854 km", cite(call, "oder", "854 km"), steps=steps)
    answer, _ = await desk.ask("auto", "How long is the Oder?")
    assert answer.plain == "854 km"
    assert roles(server) == ["settle_or_plan"]


async def test_a_question_that_is_settled_without_an_answer_is_planned(server: ChatServer, desk: ReasoningDesk) -> None:
    steps = [{"id": "Q1.1", "question": WHO, "answer": "", "citations": []}]
    server.scripts["settle_or_plan"].append(settled("", steps=steps))
    server.respond = answer_step
    answer, _ = await desk.ask("auto", FISH)
    assert answer.plain == "S. E. Hinton"


async def test_neither_an_answer_nor_steps_leads_to_the_last_call(server: ChatServer, desk: ReasoningDesk) -> None:
    server.script.extend([plan(), concluded("1967 [1]", "inferred")])
    answer, _ = await desk.ask("auto", FISH)
    assert roles(server) == ["settle_or_plan", "conclude"]
    assert answer.plain == "1967"


@pytest.mark.parametrize(
    "steps",
    [
        [("Q1.1", "a <A2.1>?"), ("Q2.1", "b <A1.1>?")],
        [("Q1.1", "a?"), ("Q2.1", "b <A1.7>?")],
        [("first", "a?")],
        [("Q1.1", " ")],
        [(f"Q1.{n}", "a?") for n in range(1, 41)],
    ],
    ids=["cyclic", "a tag that names nothing", "no id", "no question", "40 nodes"],
)
async def test_a_plan_that_cannot_be_carried_out_is_sent_back_once_and_then_left(
    server: ChatServer, desk: ReasoningDesk, steps: list[tuple[str, str]]
) -> None:
    server.script.extend([plan(*steps), plan(*steps), concluded("1967 [1]", "inferred")])
    answer, trace = await desk.ask("auto", FISH)
    assert roles(server) == ["settle_or_plan", "settle_or_plan", "conclude"]
    assert answer.plain == "1967"
    assert any("neither settled nor planned" in note for note in trace.notes)
