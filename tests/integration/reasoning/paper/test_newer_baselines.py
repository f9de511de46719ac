"""ITER-RETGEN, ReSP and RQ-RAG: the calls, queries and contexts of each beside the algorithm of its paper."""

import json

import pytest

from core.ports.reasoning import Answer, Support, Unsupported
from core.trace import Budget, Trace
from reasoning.engine.answers import Conclusion
from reasoning.strategies.rq_rag import Candidate, select_answer
from tests.integration.reasoning.good_model import roles
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, ChatServer, Reply

QUESTION = "When was the novel by the author of Rumble Fish published by Viking Press?"
DOCUMENTS = {
    "rumble": ("Rumble Fish", "Rumble Fish is a novel by S. E. Hinton. It was published in 1975."),
    "hinton": ("S. E. Hinton", "S. E. Hinton is an American writer. Her coming-of-age novel is The Outsiders."),
    "outsiders": ("The Outsiders", "The Outsiders was published by Viking Press in 1967."),
    "oder": ("Oder", "The Oder is a river. It is 854 km long."),
}


@pytest.fixture
def desk(server: ChatServer) -> ReasoningDesk:
    return ReasoningDesk(server, DOCUMENTS)


def prompt(call: Call) -> str:
    return call.messages[-1]["content"]


def concluded(text: str, thoughts: str = "", support: str = "stated") -> Reply:
    return Reply.json({"thoughts": thoughts, "answer": text, "support": support, "unstated": ""})


def summarized(text: str, *citations: int, support: str = "stated") -> Reply:
    return Reply.json({"summary": text, "support": support, "unstated": "", "citations": citations})


# ITER-RETGEN (arXiv 2305.15294, section 3.1): y_t = M(y_t | prompt(D_{y_{t-1} || q}, q)) for t = 1 … T, y_0 = ''


async def test_iter_retgen_retrieves_with_the_last_generation_and_the_question(desk: ReasoningDesk) -> None:
    generations = [
        ("1975 [1]", "Rumble Fish is by S. E. Hinton [1]."),
        ("1975", "S. E. Hinton wrote The Outsiders [1]."),
        ("1967 [1]", "The Outsiders was published by Viking Press in 1967 [1]."),
    ]
    for answer, thoughts in generations:
        desk.server.scripts["conclude"].append(concluded(answer, thoughts))
    answer, trace = await desk.ask("iter_retgen:iterations=3,k=1", QUESTION)
    assert roles(desk.server) == ["conclude"] * 3, "one generation after each retrieval"
    assert desk.queries == [
        QUESTION,
        f"Rumble Fish is by S. E. Hinton. 1975 {QUESTION}",
        f"S. E. Hinton wrote The Outsiders. 1975 {QUESTION}",
    ], "the chain of thought and the answer, without the numbers of passages"
    assert [query.private for _, query in desk.searched] == [False, True, True]
    for call, (_, query) in zip(desk.server.calls, desk.searched, strict=True):
        assert query.k == 1
        assert prompt(call).count("<passage ") == 1, "each generation reads the passages of its own retrieval"
        assert QUESTION in prompt(call)
        assert "step by step" in call.text
    assert [step.id for step in answer.steps] == ["1", "2", "answer"]
    assert [step.parents for step in answer.steps] == [(), ("1",), ("2",)]
    assert answer.plain == "1967", "the last generation is the answer"
    assert [event.kind for event in trace.events].count("token") > 0
    assert sum(step.tokens for step in answer.steps) == trace.usage.tokens


async def test_iter_retgen_answers_with_the_last_iteration_that_the_budget_allowed(desk: ReasoningDesk) -> None:
    desk.server.scripts["conclude"].append(concluded("1975 [1]"))
    answer, trace = await desk.ask("iter_retgen:k=1", QUESTION, budget=Budget(calls=1))
    assert (answer.text, len(answer.citations)) == ("1975 [1]", 1)
    assert any("left out: iterations from 2 to 2" in note for note in trace.notes)


async def test_iter_retgen_abstains_if_the_last_generation_does(desk: ReasoningDesk) -> None:
    desk.server.scripts["conclude"].extend([concluded("1975 [1]"), concluded("", support="none")])
    answer, _ = await desk.ask("iter_retgen", QUESTION)
    assert answer.abstained


# ReSP (arXiv 2407.13101, section 3): retrieve, summarize for Q and for Q*, judge, plan Q*; at most three times


def summaries(desk: ReasoningDesk, evidence: list[Reply], pathway: list[Reply]) -> None:
    """The summaries of the question are told from those of sub-questions by what is asked."""

    def respond(call: Call) -> Reply:
        assert call.role == "summarize"
        return (evidence if call.question == QUESTION else pathway).pop(0)

    desk.server.respond = respond


async def test_resp_keeps_two_memories_and_plans_one_sub_question_after_another(desk: ReasoningDesk) -> None:
    evidence = [
        summarized("Rumble Fish is a novel by S. E. Hinton.", 1),
        summarized("The Outsiders is a novel by S. E. Hinton.", 1),
        summarized("The Outsiders was published by Viking Press in 1967.", 1),
    ]
    pathway = [
        summarized("S. E. Hinton wrote The Outsiders.", 1),
        summarized("Viking Press published The Outsiders in 1967.", 1),
    ]
    asked = ["Which novel did the American writer S. E. Hinton write?", "When did Viking Press publish The Outsiders?"]
    summaries(desk, list(evidence), list(pathway))
    desk.server.scripts["verify"].extend([Reply.json({"enough": False})] * 2)
    desk.server.scripts["supplement"].extend(Reply.json({"queries": [question]}) for question in asked)
    desk.server.scripts["conclude"].append(concluded("1967 [3]"))
    answer, _ = await desk.ask("resp:k=1", QUESTION)

    first, second, third = (["summarize"], ["verify", "supplement", "summarize", "summarize"], ["conclude"])
    assert roles(desk.server) == [*first, *second, *second, *third], "after the last iteration nothing is judged"
    assert desk.queries == [QUESTION, *asked], "the first sub-question is the question"
    assert [query.private for _, query in desk.searched] == [False, True, True]
    made = [call for call in desk.server.calls if call.role == "summarize"]
    assert sorted(call.question for call in made) == sorted([QUESTION] * 3 + asked), "twice for each later retrieval"
    assert all(prompt(call).count("<passage ") == 1 for call in made)
    for call in desk.server.calls:
        if call.role != "summarize":
            assert "<passage " not in prompt(call), "the reasoner and the generator read the memories"
            assert QUESTION in prompt(call)
    plans = [prompt(call) for call in desk.server.calls if call.role == "supplement"]
    assert asked[0] not in plans[0]
    assert asked[0] in plans[1], "what was asked is recorded, so that it is not planned again"
    assert all("at most 1," in call.text for call in desk.server.calls if call.role == "supplement")
    contexts = prompt(desk.server.calls[-1])
    texts = [*(reply_text(reply) for reply in evidence), *(reply_text(reply) for reply in pathway)]
    assert [contexts.index(text) for text in texts] == sorted(contexts.index(text) for text in texts)
    assert answer.plain == "1967"
    assert answer.citations[0].document.key == "outsiders"
    assert [(step.id, step.question) for step in answer.steps] == [
        ("1", QUESTION),
        ("2", asked[0]),
        ("3", asked[1]),
        ("answer", QUESTION),
    ]


def reply_text(reply: Reply) -> str:
    return str(json.loads(reply.text)["summary"])


async def test_resp_ends_as_soon_as_its_memory_is_enough(desk: ReasoningDesk) -> None:
    summaries(desk, [summarized("Rumble Fish was published in 1975.", 1)], [])
    desk.server.scripts["verify"].append(Reply.json({"enough": True}))
    desk.server.scripts["conclude"].append(concluded("1975 [1]"))
    answer, _ = await desk.ask("resp", QUESTION)
    assert roles(desk.server) == ["summarize", "verify", "conclude"]
    assert answer.text == "1975 [1]"


async def test_resp_does_not_ask_a_sub_question_twice(desk: ReasoningDesk) -> None:
    summaries(desk, [summarized("Rumble Fish was published in 1975.", 1)], [])
    desk.server.scripts["verify"].append(Reply.json({"enough": False}))
    desk.server.scripts["supplement"].append(Reply.json({"queries": [QUESTION.lower()]}))
    desk.server.scripts["conclude"].append(concluded("1975 [1]"))
    _, trace = await desk.ask("resp", QUESTION)
    assert desk.queries == [QUESTION]
    assert any("was asked before" in note for note in trace.notes)


async def test_resp_tells_what_was_not_found_to_the_reasoner_and_never_as_evidence(desk: ReasoningDesk) -> None:
    summaries(
        desk,
        [summarized("", support="none"), summarized("It is of 1967, I remember.", support="memory")],
        [summarized("Who wrote Rumble Fish could not be found.", support="none")],
    )
    desk.server.scripts["verify"].extend([Reply.json({"enough": False})] * 2)
    desk.server.scripts["supplement"].extend(
        [Reply.json({"queries": ["Who wrote Rumble Fish?"]}), Reply.json({"queries": []})]
    )
    answer, _ = await desk.ask("resp", QUESTION, unsupported=Unsupported.INFER)
    assert roles(desk.server)[-1] == "supplement", "nothing was found, so nothing is concluded"
    assert "could not be found" in prompt(desk.server.calls[-1])
    assert "I remember" not in prompt(desk.server.calls[-1])
    assert answer.abstained
    assert answer.shown == ()


@pytest.mark.parametrize(("calls", "made"), [(2, 2), (5, 2), (6, 6), (9, 6), (11, 10)])
async def test_resp_keeps_the_last_call_of_the_budget_for_the_answer(
    desk: ReasoningDesk, calls: int, made: int
) -> None:
    """Of a model to which nothing is ever enough."""

    def respond(call: Call) -> Reply:
        said = {
            "summarize": {"summary": "It is of 1975.", "support": "stated", "unstated": "", "citations": [1]},
            "verify": {"enough": False},
            "supplement": {"queries": [f"Which novel, number {call.number}?"]},
            "conclude": {"answer": "1975 [1]", "support": "stated", "unstated": ""},
        }
        return Reply.json(said[call.role])

    desk.server.respond = respond
    answer, trace = await desk.ask("resp:iterations=50", QUESTION, budget=Budget(calls=calls))
    assert answer.plain == "1975"
    assert len(desk.server.calls) == made
    assert any("too few for another iteration; left out: further iterations" in note for note in trace.notes)


# RQ-RAG (arXiv 2404.00610, section 3.3): each node is rewritten, decomposed, disambiguated and answered; one is chosen


def moving(*moves: tuple[str, str]) -> Reply:
    return Reply.json({"moves": [{"kind": kind, "query": query} for kind, query in moves]})


async def test_rq_rag_of_the_paper_expands_every_node_in_all_ways(desk: ReasoningDesk) -> None:
    def respond(call: Call) -> Reply:
        if call.role == "conclude":
            return concluded("1967 [1]" if "Outsiders" in prompt(call) else "1975 [1]")
        kind = next(kind for kind in ("rewrite", "decompose", "disambiguate") if f'"{kind}": ' in call.text)
        return moving((kind, f"{kind} novel {call.number}"))

    desk.server.respond = respond
    answer, _ = await desk.ask("rq_rag:preset=paper", QUESTION)
    refining = [call for call in desk.server.calls if call.role == "next_queries"]
    answering = [call for call in desk.server.calls if call.role == "conclude"]
    assert (len(refining), len(answering)) == (3 + 9, 1 + 3 + 9), "a tree of depth 2 with an answer at each node"
    assert all(call.body["temperature"] == 1.0 for call in refining)
    assert [(name, query.k) for name, query in desk.searched] == [("dense", 3)] * 12
    root = answering[[prompt(call).count("<passage ") for call in answering].index(0)]
    assert "<passage " not in prompt(root), "one trajectory answers without a retrieval"
    kinds = [step.verdict for step in answer.steps if not step.id.endswith("answer")]
    assert sorted(kinds) == sorted(["rewrite", "decompose", "disambiguate"] * 4)
    assert answer.steps[-1].id == "answer"
    assert len(answer.steps[-1].parents) == 13


async def test_rq_rag_goes_the_ways_that_the_model_chooses(desk: ReasoningDesk) -> None:
    parts = ("Who wrote Rumble Fish?", "Which novel did Viking Press publish?")

    def respond(call: Call) -> Reply:
        if call.role == "conclude":
            right = "The Outsiders was published" in prompt(call)
            return concluded("1967 [1]") if right else concluded("1975 [1]", support="inferred")
        if "Searched for before" not in prompt(call):
            return moving(*(("decompose", part) for part in parts), ("rewrite", "beyond the width"))
        if parts[1] in prompt(call):
            return moving(("answer", ""))
        return moving(("decompose", parts[0]), ("rewrite", "Hinton coming-of-age novel"))

    desk.server.respond = respond
    answer, trace = await desk.ask("rq_rag:k=1", QUESTION)
    assert sorted(desk.queries) == sorted([*parts, "Hinton coming-of-age novel"]), "no query is made twice on a path"
    by_query = {query.text: query.private for _, query in desk.searched}
    assert by_query == {parts[0]: False, parts[1]: False, "Hinton coming-of-age novel": True}
    first = desk.server.calls[0]
    assert "<passage " not in prompt(first)
    assert '"answer"' not in first.text, "nothing was retrieved, and memory is not permitted"
    assert [(step.id, step.parents) for step in sorted(answer.steps, key=lambda step: step.id)] == [
        ("1", ()),
        ("1.1", ("1",)),
        ("1.1.answer", ("1.1",)),
        ("2", ()),
        ("2.answer", ("2",)),
        ("answer", ("2.answer", "1.1.answer")),
    ]
    assert answer.plain == "1967"
    assert answer.support is Support.STATED
    assert not any(event.kind == "token" for event in trace.events), "drafts are not streamed"


async def test_rq_rag_searches_for_the_question_if_the_model_has_no_query(desk: ReasoningDesk) -> None:
    desk.server.scripts["next_queries"].extend([moving(("answer", "")), moving()])
    desk.server.scripts["conclude"].append(concluded("1975 [1]"))
    answer, _ = await desk.ask("rq_rag", QUESTION)
    assert desk.queries == [QUESTION]
    assert answer.text == "1975 [1]"


async def test_rq_rag_chooses_among_the_answers_that_the_budget_allowed(desk: ReasoningDesk) -> None:
    def respond(call: Call) -> Reply:
        if call.role == "conclude":
            return concluded("1975 [1]")
        if "Searched for before" not in prompt(call):
            return moving(("rewrite", "Rumble Fish published"))
        return moving(("answer", ""), ("rewrite", "Hinton novel"))

    desk.server.respond = respond
    answer, trace = await ask_within(desk, 3)
    assert answer.text == "1975 [1]"
    assert any("left out: all trajectories but 1" in note for note in trace.notes)
    answer, trace = await ask_within(desk, 1)
    assert answer.abstained


async def ask_within(desk: ReasoningDesk, calls: int) -> tuple[Answer, Trace]:
    return await desk.ask("rq_rag", QUESTION, budget=Budget(calls=calls))


def candidate(text: str, support: Support) -> Candidate:
    return Candidate(step=text, conclusion=Conclusion(text=text, support=support))


def test_rq_rag_selects_by_confidence_or_by_the_sum_of_equal_answers() -> None:
    three = [candidate(text, Support.INFERRED) for text in ("Tex [1]", "the tex", "Tex.")]
    stated = candidate("The Outsiders [1]", Support.STATED)
    none = candidate("", Support.NONE)
    assert select_answer([none, *three, stated], "confidence") is stated
    assert select_answer([none, *three, stated], "ensemble") is three[0]
    assert select_answer([none, *three[:2], stated], "ensemble") is stated, "1 against .5 + .5: the better supported"
    assert select_answer([none], "ensemble") is none
