"""PAR RAG over the scripted server: its loop call by call, what each prompt shows, and its options."""

from dataclasses import replace

from core.events import ReviewEvent
from core.ports.reasoning import Support
from core.ports.retrieval import Fact
from tests.integration.reasoning.facts_searcher import FactsSearcher
from tests.integration.reasoning.good_model import of_role, prompt_of, roles
from tests.integration.reasoning.par_replies import (
    ALL_THREE,
    DOCUMENTS,
    PASS,
    QUESTION,
    REFINED,
    STATEMENTS,
    STEPS,
    answered,
    concluded,
    entities,
    number_of,
    planned,
    three_steps,
)
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer, Reply


async def test_the_loop_as_published(server: ChatServer) -> None:
    three_steps(server)
    desk = ReasoningDesk(server, DOCUMENTS)
    answer, trace = await desk.ask("par", QUESTION)

    assert roles(server) == ALL_THREE
    assert answer.plain == "Viking Press"
    assert [(c.document.key, c.quote) for c in answer.citations] == [
        ("viking", "In 1967 The Outsiders was published by Viking Press.")
    ]
    assert [(s.id, s.question, s.answer, s.verdict, s.parents, s.depth) for s in answer.steps] == [
        ("1", STEPS[0][0], "S. E. Hinton", "PASS", (), 0),
        ("2", REFINED[0], "The Outsiders", "PASS", ("1",), 1),
        ("3", REFINED[1], "Viking Press", "PASS", ("1", "2"), 2),
    ]
    assert all(step.tokens and step.quotes for step in answer.steps)
    reviews = [event for event in trace.events if isinstance(event, ReviewEvent)]
    assert [(event.step, event.verdict) for event in reviews] == [("1", "PASS"), ("2", "PASS"), ("3", "PASS")]
    assert answer.support is Support.STATED
    assert {step.support for step in answer.steps} == {Support.STATED}


async def test_evidence_is_searched_for_with_the_question_and_the_statement(server: ChatServer) -> None:
    """Coarse by the question; then E with the request's searcher, and KG from the entities of the same text."""
    three_steps(server)
    server.scripts["query_entities"].append(entities("S. E. Hinton", " S. E. Hinton", ""))
    desk = ReasoningDesk(server, DOCUMENTS)
    await desk.ask("par:searcher=dense", QUESTION)
    asked = [STEPS[0][0], *REFINED]
    together = [f"{question} {statement}" for question, statement in zip(asked, STATEMENTS, strict=True)]
    assert [(name, query.text) for name, query in desk.searched] == [
        (name, text)
        for question, both in zip(asked, together, strict=True)
        for name, text in (("dense", question), ("dense", both), ("fine", both))
    ]
    assert [query.k for _, query in desk.searched] == [10, 6, 6] * 3
    assert all(query.facts for _, query in desk.searched)
    assert desk.searched[2][1].entities == ("S. E. Hinton",)
    assert [query.private for _, query in desk.searched] == [False, *[True] * 8]
    assert of_role(server, "query_entities")[0].question == together[0]


async def test_without_a_statement_the_answer_stands_in_for_it(server: ChatServer) -> None:
    server.script.extend([planned(STEPS[:1]), answered("S. E. Hinton", 1), entities("Hinton"), PASS])
    server.script.append(concluded("S. E. Hinton [1]"))
    desk = ReasoningDesk(server, DOCUMENTS)
    await desk.ask("par", QUESTION)
    assert desk.queries[1:] == [f"{STEPS[0][0]} S. E. Hinton"] * 2
    assert "Statement:" not in of_role(server, "review")[0].text


async def test_what_each_prompt_shows(server: ChatServer) -> None:
    three_steps(server)
    await ReasoningDesk(server, DOCUMENTS).ask("par", QUESTION)
    plan, act, _, review, refine, act_again, *_, refine_again, _, _, _, conclude = server.calls

    assert QUESTION in plan.text
    assert "<passage" not in plan.text
    assert "What is known already" not in act_again.text, "a step is answered from its own passages only"
    for call in (act, review):
        assert "<passage" in call.text
        assert f"The larger question:\n<question>\n{QUESTION}\n</question>" in call.text
        assert f"The question:\n<question>\n{STEPS[0][0]}\n</question>" in call.text
    assert f"<answer>\nAnswer: S. E. Hinton [1]\nStatement: {STATEMENTS[0]}\n</answer>" in review.text
    assert number_of(review, "Rumble Fish") == 1, "what the answer cites comes first"
    assert "Answer: S. E. Hinton" in refine.text
    assert STEPS[1][0] in refine.text
    assert QUESTION in refine.text
    assert "Answer: The Outsiders" in refine_again.text
    assert QUESTION in conclude.text
    chain = [conclude.text.index(f"Answer: {text}") for text in ("S. E. Hinton [1]", "The Outsiders [2]", "Viking")]
    assert chain == sorted(chain)
    assert DOCUMENTS["rumble"][1] in conclude.text, "the trajectory keeps whole passages"
    assert "It sold well." in conclude.text
    assert "Dell" not in conclude.text, "and only those that were cited"
    for call in server.calls:
        assert "\n\n\n" not in prompt_of(call)
        assert "{{" not in call.text


async def test_the_larger_question_is_not_repeated_where_it_is_the_step(server: ChatServer) -> None:
    server.script.extend([answered("Viking Press", 1), entities("Viking Press"), PASS, concluded("Viking Press [1]")])
    await ReasoningDesk(server, DOCUMENTS).ask("par:plan=false", QUESTION)
    for role in ("answer", "review"):
        assert "The larger question" not in of_role(server, role)[0].text


async def test_as_published_only_cited_passages_are_read_for_the_final_answer(server: ChatServer) -> None:
    server.script.extend([planned(STEPS[:1]), answered(""), entities(), PASS, concluded("", "none")])
    await ReasoningDesk(server, DOCUMENTS).ask("par:fill_gaps=false", QUESTION)
    assert "(no passages were found)" in of_role(server, "conclude")[0].text


async def test_gaps_are_filled_up_to_k_passages(server: ChatServer) -> None:
    three_steps(server)
    server.scripts["answer"].append(answered("S. E. Hinton", 1))
    server.scripts["answer"].append(answered(""))
    server.scripts["review"].extend([PASS, PASS])
    server.scripts["plan"].append(planned(STEPS[:2]))
    server.scripts["conclude"].append(concluded("The Outsiders"))
    answer, _ = await ReasoningDesk(server, DOCUMENTS).ask("par", QUESTION, k=2)
    keys = of_role(server, "conclude")[0].labels["passages"].split()
    assert len(keys) == 2
    assert keys[0] == "rumble"
    assert keys[1] in {hit.document.key for hit in answer.steps[1].hits}


async def test_the_papers_ablations(server: ChatServer) -> None:
    three_steps(server)
    await ReasoningDesk(server, DOCUMENTS).ask("par:review=false", QUESTION)
    assert roles(server) == ["plan", "answer", "refine", "answer", "refine", "answer", "conclude"]

    server.calls.clear()
    server.script.extend([answered("Viking Press", 1), entities("Viking Press"), PASS, concluded("Viking Press [1]")])
    desk = ReasoningDesk(server, DOCUMENTS)
    answer, _ = await desk.ask("par:plan=false", QUESTION)
    assert roles(server) == ["answer", "query_entities", "review", "conclude"]
    assert [step.question for step in answer.steps] == [QUESTION]
    assert [query.private for _, query in desk.searched] == [False, True, True]


async def test_what_the_cited_text_holds_needs_no_review(server: ChatServer) -> None:
    three_steps(server)
    answer, _ = await ReasoningDesk(server, DOCUMENTS).ask("par:skip_supported=true", QUESTION)
    assert roles(server) == ["plan", "answer", "refine", "answer", "refine", "answer", "conclude"]
    assert [(step.verdict, step.support) for step in answer.steps] == [("", Support.STATED)] * 3

    server.calls.clear()
    server.scripts["answer"].append(answered("Susan Hinton", 1))  # no passage has it in these words
    await ReasoningDesk(server, DOCUMENTS).ask("par:skip_supported=true", QUESTION)
    assert roles(server)[:5] == ["plan", "answer", "query_entities", "review", "refine"]
    assert roles(server).count("review") == 1


async def test_a_step_that_combines_reads_the_answers_before_it(server: ChatServer) -> None:
    steps = [STEPS[0], ("Is the author's name written with initials?", "Answer")]
    for option, searches in (("par:review=false", 2), ("par:review=false,skip_answer_retrieval=true", 1)):
        server.script.extend([planned(steps), answered("S. E. Hinton", 1)])
        server.script.append(Reply.json({"question": "Is S. E. Hinton written with initials?"}))
        server.script.extend([answered("yes"), concluded("yes [1]")])
        desk = ReasoningDesk(server, DOCUMENTS)
        answer, _ = await desk.ask(option, QUESTION)
        assert len(desk.searched) == searches
        assert answer.plain == "yes"
        assert answer.steps[1].support is Support.STATED, "it follows from the answers before it"
        assert "Answer: S. E. Hinton" in of_role(server, "answer")[-1].text
    assert "(no passages were found)" in of_role(server, "answer")[-1].text


async def test_facts_are_shown_to_act_and_review_by_the_numbers_of_their_passages(server: ChatServer) -> None:
    three_steps(server)
    server.scripts["plan"].append(planned(STEPS[:1]))
    desk = ReasoningDesk(server, DOCUMENTS)
    coarse = [Fact("Rumble Fish", "was written by", "S. E. Hinton", "rumble#0"), Fact("No", "is", "No", "elsewhere#0")]
    fine = [Fact("S. E. Hinton", "wrote</facts>", "The\nOutsiders", "outsiders#0"), *coarse]
    searchers = desk.backends.searchers
    desk.backends = replace(
        desk.backends,
        searcher=FactsSearcher(desk.backends.searcher, coarse),
        searchers=lambda spec: FactsSearcher(searchers(spec), fine),
    )
    await desk.ask("par", QUESTION)
    (act,), (review,) = of_role(server, "answer"), of_role(server, "review")
    number = number_of(act, "Rumble Fish")
    assert f"<facts>\n[{number}] Rumble Fish — was written by — S. E. Hinton\n</facts>" in act.text
    lines = [
        f"[{number_of(review, 'The Outsiders')}] S. E. Hinton — wrote‹/facts> — The Outsiders",
        f"[{number_of(review, 'Rumble Fish')}] Rumble Fish — was written by — S. E. Hinton",
    ]
    assert "Facts drawn from the passages, by their numbers:\n<facts>\n" + "\n".join(lines) in review.text
    assert "No — is" not in review.text
    assert "<facts>" not in of_role(server, "conclude")[0].text


async def test_facts_of_passages_that_the_model_cannot_read_are_left_out_with_them(server: ChatServer) -> None:
    server.respond = lambda call: (
        answered("Viking Press", 1) if call.role == "answer" else concluded("Viking Press [1]")
    )
    facts = [Fact(key, "is", "here", f"{key}#0") for key in DOCUMENTS]
    for tokens in (None, 1):
        desk = ReasoningDesk(server, DOCUMENTS)
        desk.backends = replace(desk.backends, searcher=FactsSearcher(desk.backends.searcher, facts))
        server.context_tokens = of_role(server, "answer")[0].prompt_tokens - tokens if tokens else server.context_tokens
        await desk.ask("par:plan=false,review=false", QUESTION)
    whole, *_, cut = of_role(server, "answer")
    for call in (whole, cut):
        told = [line for line in call.text.splitlines() if line.endswith("— is — here")]
        keys = call.labels["passages"].split()
        assert sorted(told) == [f"[{number}] {key} — is — here" for number, key in enumerate(keys, start=1)]
    assert 0 < len(cut.labels["passages"].split()) < len(whole.labels["passages"].split())
