"""The set `published` over a scripted model that replies in its forms, and in the forms that models give."""

import json

import pytest

from core.errors import ModelFailed
from core.ports.reasoning import Support, Unsupported
from core.trace import Trace
from indexer.summary_tree.summarizing import TreeNode, summarize_cluster
from tests.integration.reasoning import par_replies
from tests.integration.reasoning.good_model import of_role, roles
from tests.integration.reasoning.level.replies import HOPS, PLAIN, QUESTION, SUMMARIES
from tests.integration.reasoning.par_replies import ALL_THREE, REFINED, STATEMENTS, STEPS
from tests.integration.reasoning.published_replies import level_reply, par_reply, published, published_prompts
from tests.reasoning_desk import CORPUS, ReasoningDesk
from tests.twins.chat_server import Call, ChatServer, Reply

JSON_ROLES = {"conclude", "query_entities", "refine_query"}
"""The roles of LevelRAG and PAR RAG whose prompts are ours, or may be."""

NODE = TreeNode(
    chunk_id="c", view_id="v", name="viking", title="Viking", text=par_replies.DOCUMENTS["viking"][1], tokens=9
)


def of_level(server: ChatServer, **texts: str) -> None:
    """Replies as a good model does, but with other texts for some roles, each time."""
    server.respond = lambda call: Reply(text=texts[call.role]) if call.role in texts else level_reply(call)


def of_par(server: ChatServer, **texts: str) -> None:
    server.respond = lambda call: Reply(text=texts[call.role]) if call.role in texts else par_reply(call)


async def test_level_in_the_published_forms(desk: ReasoningDesk) -> None:
    desk.server.respond = level_reply
    with published():
        answer, trace = await desk.ask(PLAIN, QUESTION)
    round_ = ["summarize", "verify"]
    assert roles(desk.server) == ["atomic_queries", *round_, "supplement", *round_, "supplement", *round_, "conclude"]
    assert desk.queries == HOPS
    assert (answer.plain, answer.support) == ("Viking Press", Support.STATED)
    assert [(one.document.key, one.quote) for one in answer.citations] == [
        ("outsiders", "The Outsiders was published by Viking Press in 1967.")
    ]
    assert [(step.answer, step.support) for step in answer.steps[:3]] == [
        (SUMMARIES[hop][0], Support.STATED) for hop in HOPS
    ]
    assert trace.notes == []
    assert {call.mode for call in desk.server.calls if call.role not in JSON_ROLES} == {"text"}


async def test_levels_low_searchers_in_the_published_forms(desk: ReasoningDesk) -> None:
    def respond(call: Call) -> Reply:
        return Reply(text="no") if call.role == "verify" else level_reply(call)

    desk.server.respond = respond
    with published():
        await desk.ask("level:searchers=sparse+dense,high_level=false,max_calls=1000", HOPS[0])
    assert {"rewrite_keywords", "verify", "pseudo_document"} <= set(roles(desk.server))
    sparse = [query for name, query in desk.searched if name == "sparse"]
    assert sparse[0].text == '"Rumble Fish" author writer'
    assert f"{HOPS[0]} Rumble Fish was written by S. E. Hinton." in desk.queries


async def test_par_in_the_published_forms(server: ChatServer) -> None:
    server.respond = par_reply
    desk = ReasoningDesk(server, par_replies.DOCUMENTS)
    with published():
        answer, trace = await desk.ask("par", QUESTION)
    assert roles(server) == ALL_THREE
    assert [(step.question, step.answer, step.verdict, step.support) for step in answer.steps] == [
        (question, statement, "PASS", Support.STATED)
        for question, statement in zip([STEPS[0][0], *REFINED], STATEMENTS, strict=True)
    ]
    assert (answer.plain, answer.support) == ("Viking Press", Support.STATED)
    assert [(one.document.key, one.quote) for one in answer.citations] == [
        ("viking", "In 1967 The Outsiders was published by Viking Press.")
    ]
    assert trace.notes == []
    assert {call.mode for call in server.calls if call.role != "query_entities"} == {"text"}
    first, *_ = of_role(server, "answer")
    assert "The larger question" not in first.text  # an answer is from its passages only


async def test_every_published_prompt_is_asked(server: ChatServer) -> None:
    desk = ReasoningDesk(server, par_replies.DOCUMENTS)
    with published():
        server.respond = par_reply
        for strategy in ("par", "par:guide=false"):
            await desk.ask(strategy, QUESTION)
        of_level(server, verify="no")
        await desk.ask("level:preset=paper,high_level=false", HOPS[0])
        server.respond = level_reply
        for options in ("", ",summarize=false,supplements=1"):
            of_level(server, **({"verify": "no"} if options else {}))
            await desk.ask(f"level:searchers=sparse+dense{options}", QUESTION)
        server.respond = lambda call: Reply(text="Novels,\nand who published them.")  # noqa: ARG005 - a reply to all
        summary = await summarize_cluster([NODE], desk.models, CORPUS.id, Trace())
        await desk.models.close()
    assert summary == "Novels, and who published them."
    systems = {call.messages[0]["content"] for call in server.calls}
    assert [name for name, prompt in published_prompts().replaced.items() if prompt.system not in systems] == []
    assert not any("{{" in call.text for call in server.calls)


def test_every_published_prompt_keeps_material_and_instructions_apart() -> None:
    for prompt in published_prompts().replaced.values():
        assert (
            "never an instruction" in prompt.system
            or "never instructions" in prompt.system
            or (not prompt.variables & {"passages", "contexts", "steps"})
        ), prompt.name


async def test_without_a_list_the_question_is_the_query(desk: ReasoningDesk) -> None:
    of_level(desk.server, atomic_queries="I would look up the novel first.", verify="yes", summarize="Viking Press.")
    with published():
        await desk.ask(PLAIN, QUESTION)
    assert desk.queries == [QUESTION]


@pytest.mark.parametrize(
    "text", ["No additional information is required.", "[1] No additional information is required.", "Nothing more."]
)
async def test_a_supplement_without_queries_ends_the_rounds(desk: ReasoningDesk, text: str) -> None:
    of_level(desk.server, supplement=text, verify="no")
    with published():
        await desk.ask(PLAIN, QUESTION)
    assert roles(desk.server) == ["atomic_queries", "summarize", "verify", "supplement", "conclude"]


async def test_a_summary_that_no_passage_holds_is_not_stated(desk: ReasoningDesk) -> None:
    of_level(desk.server, summarize="Rumble Fish was written by Francis Ford Coppola.", verify="yes")
    with published():
        answer, trace = await desk.ask(PLAIN, QUESTION, unsupported=Unsupported.INFER)
    step = answer.steps[0]
    assert (step.support, step.quotes) == (Support.INFERRED, ())
    assert any("it cites nothing" in note for note in trace.notes)


async def test_a_summary_may_name_its_passages(desk: ReasoningDesk) -> None:
    def respond(call: Call) -> Reply:
        if call.role != "summarize":
            return level_reply(call)
        return Reply(text=f"{SUMMARIES[HOPS[0]][0]} [{par_replies.number_of(call, 'Rumble Fish')}]")

    desk.server.respond = respond
    with published():
        answer, _ = await desk.ask(f"{PLAIN},supplements=0", QUESTION)
    step = answer.steps[0]
    assert (step.answer, step.support) == (SUMMARIES[HOPS[0]][0], Support.STATED)
    assert [quote.hit.document.key for quote in step.quotes] == ["rumble"]


async def test_a_plan_in_prose_is_asked_for_again(server: ChatServer) -> None:
    desk = ReasoningDesk(server, par_replies.DOCUMENTS)
    server.respond = par_reply
    server.scripts["plan"].append(Reply(text="First I would look up the author."))
    with published():
        answer, _ = await desk.ask("par", QUESTION)
        assert roles(server) == ["plan", *ALL_THREE]
        assert answer.plain == "Viking Press"
        assert (
            server.calls[1]
            .messages[-1]["content"]
            .endswith("with JSON in the form that was asked for and nothing else.")
        )
        of_par(server, plan="First I would look up the author.")
        with pytest.raises(ModelFailed, match="step 'plan'"):
            await desk.ask("par", QUESTION)


async def test_a_question_that_copies_its_fence_is_read_without_it(server: ChatServer) -> None:
    """As Qwen2.5-Coder 1.5B replies."""
    desk = ReasoningDesk(server, par_replies.DOCUMENTS)
    server.respond = par_reply
    server.scripts["refine"].append(Reply(text=f"<question>\n{REFINED[0]}\n</question>"))
    with published():
        answer, _ = await desk.ask("par", QUESTION)
    assert [step.question for step in answer.steps] == [STEPS[0][0], *REFINED]


async def test_reviews_in_the_published_form(server: ChatServer) -> None:
    desk = ReasoningDesk(server, par_replies.DOCUMENTS)
    server.respond = par_reply
    server.scripts["review"].extend(
        [
            Reply(text='{"Status": "Revised", "Answer": "Susan Eloise Hinton, that is S. E. Hinton [1]"}'),
            Reply(text='It misses a detail: {"Status": "UNCONFIDENT", "Question": "Which novel is set in Tulsa?"}'),
            Reply(text=json.dumps({"Status": "REVISED", "Answer": "Dell, without a passage"})),
        ]
    )
    with published():
        answer, trace = await desk.ask("par", QUESTION)
    assert [step.verdict for step in answer.steps] == ["REVISED", "UNCONFIDENT", "UNCONFIDENT"]
    assert answer.steps[0].answer == "Susan Eloise Hinton, that is S. E. Hinton"
    assert any("an answer without a passage, which was left out" in note for note in trace.notes)


async def test_an_answer_without_a_citation_is_not_stated(server: ChatServer) -> None:
    desk = ReasoningDesk(server, par_replies.DOCUMENTS)
    of_par(server, answer="It was S. E. Hinton.", plan='[{"Question": "Who is the author?", "Action": "retrieve"}]')
    server.scripts["review"].append(Reply(text='{"Status": "UNCONFIDENT"}'))
    with published():
        answer, _ = await desk.ask("par", QUESTION)
    assert answer.steps[0].support is Support.INFERRED


async def test_a_final_answer_that_is_not_known_is_none(server: ChatServer) -> None:
    desk = ReasoningDesk(server, par_replies.DOCUMENTS)
    of_par(server, conclude="I don't know.")
    with published():
        answer, _ = await desk.ask("par", QUESTION)
    assert (answer.support, answer.citations) == (Support.NONE, ())
    assert answer.plain == "The passages that were found do not hold the answer."
