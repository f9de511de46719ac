"""PAR RAG's review over the scripted server: what comes of each verdict, and what is looked up for it."""

import pytest

from core.errors import ModelFailed
from core.ports.reasoning import Step, Support, Unsupported
from core.trace import Trace
from tests.integration.reasoning.good_model import of_role, roles
from tests.integration.reasoning.par_replies import (
    DOCUMENTS,
    PASS,
    QUESTION,
    STATEMENTS,
    STEPS,
    answered,
    concluded,
    entities,
    number_of,
    planned,
    reviews_of,
    revised,
    three_steps,
    unconfident,
)
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, ChatServer, Reply


async def review(
    server: ChatServer, *replies: Reply, strategy: str = "par", unsupported: Unsupported = Unsupported.INFER
) -> tuple[Step, Trace]:
    """Asks a question of one step: the replies are those to its call, and to what reviews it and concludes."""
    server.script.extend([planned(STEPS[:1]), *replies])
    answer, trace = await ReasoningDesk(server, DOCUMENTS).ask(strategy, QUESTION, unsupported=unsupported)
    (step,) = answer.steps
    return step, trace


HINTON = answered("S. E. Hinton", 1)
INFERRED = answered("S. E. Hinton", 1, support="inferred", unstated="who wrote it")
FOUND = entities("Hinton")
END = concluded("S. E. Hinton [1]")


async def test_a_revised_answer_takes_the_place_of_the_first_with_its_sources(server: ChatServer) -> None:
    three_steps(server)
    server.scripts["plan"].append(planned([("Who published The Outsiders?", "Retrieve")]))
    server.scripts["answer"].append(answered("Dell, who reprinted The Outsiders", 1))

    def respond(call: Call) -> Reply:
        if call.role == "review":
            return revised("Viking Press", number_of(call, "Viking Press"), 99)
        return entities("Dell") if call.role == "query_entities" else concluded("Viking Press [1]")

    server.respond = respond
    answer, trace = await ReasoningDesk(server, DOCUMENTS).ask("par", QUESTION)
    (step,) = answer.steps
    assert (step.answer, step.verdict, step.support) == ("Viking Press", "REVISED", Support.STATED)
    assert [quote.hit.document.key for quote in step.quotes] == ["viking"]
    concluding = of_role(server, "conclude")[0].text
    assert "Answer: Viking Press [1]" in concluding
    assert "Dell" not in concluding
    assert "a citation [99] of step 1 was dropped: no such passage was shown" in trace.notes
    assert answer.citations[0].quote == "In 1967 The Outsiders was published by Viking Press."
    assert reviews_of(trace) == [("REVISED", "Dell, who reprinted The Outsiders", "Viking Press")]


async def test_a_revised_answer_has_the_support_that_the_review_gives_it(server: ChatServer) -> None:
    revision = revised("S. E. Hinton", 1, support="inferred", unstated="who wrote it")
    step, _ = await review(server, answered("Tulsa", 1), entities("Tulsa"), revision, END)
    assert (step.answer, step.support, step.unstated) == ("S. E. Hinton", Support.INFERRED, "who wrote it")
    assert "Answer: S. E. Hinton (inferred; not stated: who wrote it) [1]" in of_role(server, "conclude")[0].text


@pytest.mark.parametrize(
    "wrong",
    [
        revised("Viking Press"),
        revised("Viking Press", 77),
        revised("Viking Press", 1, support="none"),
        revised("Viking Press", 1, support="memory"),
        revised("", 1),
    ],
    ids=["no citation", "no such passage", "no support", "from memory", "no answer"],
)
@pytest.mark.parametrize("unsupported", list(Unsupported))
async def test_a_revised_answer_without_a_passage_is_left_out(
    server: ChatServer, wrong: Reply, unsupported: Unsupported
) -> None:
    step, trace = await review(server, HINTON, FOUND, wrong, END, unsupported=unsupported)
    assert (step.answer, step.verdict, step.support) == ("S. E. Hinton", "UNCONFIDENT", Support.INFERRED)
    assert step.unstated == "a review did not confirm it"
    assert "step 1: its review gave an answer without a passage, which was left out" in trace.notes
    assert reviews_of(trace) == [("UNCONFIDENT", "S. E. Hinton", "S. E. Hinton")]


async def test_a_review_that_passes_may_find_the_passage_that_states_an_answer(server: ChatServer) -> None:
    server.script.extend([planned(STEPS[:1]), answered("S. E. Hinton", support="inferred"), entities("Rumble Fish")])

    def respond(call: Call) -> Reply:
        if call.role != "review":
            return END
        assert "Answer: S. E. Hinton (inferred)" in call.text
        return Reply.json({"status": "PASS", "support": "stated", "citations": [number_of(call, "Rumble Fish")]})

    server.respond = respond
    answer, _ = await ReasoningDesk(server, DOCUMENTS).ask("par", QUESTION)
    (step,) = answer.steps
    assert (step.verdict, step.support) == ("PASS", Support.STATED)
    assert [quote.hit.document.key for quote in step.quotes] == ["rumble"]


async def test_citations_in_the_text_of_a_revised_answer_count(server: ChatServer) -> None:
    """As the paper writes them: a status, and an answer with `[n]`."""
    revision = Reply.json({"status": "revised", "answer": "S. E. Hinton [1]"})
    step, _ = await review(server, answered("Tulsa", 1), entities("Tulsa"), revision, END)
    assert (step.answer, step.support) == ("S. E. Hinton", Support.STATED)
    assert [quote.hit.document.key for quote in step.quotes] == ["rumble"]


async def test_without_a_further_round_an_unconfident_review_keeps_the_answer(server: ChatServer) -> None:
    doubt = unconfident("Who is S. E. Hinton?")
    step, trace = await review(server, HINTON, FOUND, doubt, END, strategy="par:review_rounds=0")
    assert sum(event.kind == "search" for event in trace.events) == 3, "its question is not searched for"
    assert roles(server) == ["plan", "answer", "query_entities", "review", "conclude"]
    assert (step.answer, step.verdict, step.support) == ("S. E. Hinton", "UNCONFIDENT", Support.INFERRED)
    assert "step 1: its review stayed unconfident, and its answer was kept" in trace.notes
    assert reviews_of(trace) == [("UNCONFIDENT", "S. E. Hinton", "S. E. Hinton")]


async def test_the_question_of_an_unconfident_review_is_looked_up(server: ChatServer) -> None:
    server.script.extend([planned(STEPS[:1]), answered("the novel writer", 1), entities()])
    server.script.extend([unconfident("What did Dell do in Tulsa?"), entities("Dell")])
    server.script.extend([revised("S. E. Hinton", 1), END])
    desk = ReasoningDesk(server, DOCUMENTS)
    answer, trace = await desk.ask("par", QUESTION)
    assert roles(server) == [*["plan", "answer", "query_entities", "review", "query_entities", "review", "conclude"]]
    both = f"{STEPS[0][0]} the novel writer"
    assert [(name, query.text, query.entities) for name, query in desk.searched] == [
        ("bridged", STEPS[0][0], None),
        ("bridged", both, None),
        ("fine", both, None),
        ("bridged", "What did Dell do in Tulsa?", None),
        ("fine", "What did Dell do in Tulsa?", ("Dell",)),
    ]
    assert (answer.steps[0].answer, answer.steps[0].verdict) == ("S. E. Hinton", "REVISED")
    assert reviews_of(trace) == [
        ("UNCONFIDENT", "the novel writer", "the novel writer"),
        ("REVISED", "the novel writer", "S. E. Hinton"),
    ]
    first, second = of_role(server, "review")
    assert "Dell" not in first.labels["passages"]
    assert {"rumble", "dell"} <= set(second.labels["passages"].split()), "the passages of both searches, together"
    assert "<question>\nWhat did Dell do in Tulsa?\n</question>" in second.text
    assert "An earlier review asked" not in first.text


async def test_both_searches_have_a_share_of_the_passages_that_a_second_review_reads(server: ChatServer) -> None:
    server.script.extend([planned(STEPS[:1]), answered("the novel writer", 1), entities()])
    server.script.extend([unconfident("What did Dell do in Tulsa?"), entities("Dell")])
    server.script.extend([PASS, END])
    await ReasoningDesk(server, DOCUMENTS).ask("par", QUESTION, k=2)
    assert [call.labels["passages"].split() for call in of_role(server, "review")] == [
        ["rumble", "outsiders"],
        ["rumble", "dell"],
    ]


@pytest.mark.parametrize(
    "question",
    [STEPS[0][0], STEPS[0][0].upper(), " ", f"{STEPS[0][0]} {STATEMENTS[0]}"],
    ids=["the step's", "in capitals", "none", "what was searched with"],
)
async def test_a_question_that_was_searched_for_is_not_looked_up_again(server: ChatServer, question: str) -> None:
    first = answered("S. E. Hinton", 1, statement=STATEMENTS[0])
    step, trace = await review(server, first, FOUND, unconfident(question), END)
    assert roles(server) == ["plan", "answer", "query_entities", "review", "conclude"]
    assert step.verdict == "UNCONFIDENT"
    assert "step 1: its review stayed unconfident, and its answer was kept" in trace.notes


async def test_a_question_that_finds_nothing_new_is_not_reviewed_again(server: ChatServer) -> None:
    step, _ = await review(server, HINTON, FOUND, unconfident("Is it a novel for adults?"), FOUND, END)
    assert roles(server) == ["plan", "answer", "query_entities", "review", "query_entities", "conclude"]
    assert step.verdict == "UNCONFIDENT"


async def test_a_review_that_never_passes_ends(server: ChatServer) -> None:
    server.scripts["plan"].append(planned(STEPS[:1]))
    server.scripts["answer"].append(HINTON)
    server.scripts["query_entities"].extend([FOUND] * 4)
    asked = ["What did Dell do?", "What is Viking Press?", "What is Zork?", "What is it?"]
    server.scripts["review"].extend([unconfident(one) for one in asked])
    server.scripts["conclude"].append(END)
    desk = ReasoningDesk(server, {**DOCUMENTS, "zork": ("Zork", "Zork is a game.")})
    answer, _ = await desk.ask("par:review_rounds=3", QUESTION)
    assert roles(server).count("review") == 4
    assert answer.steps[0].verdict == "UNCONFIDENT"
    assert desk.queries[-1] == "What is Zork?"


async def test_an_answer_that_was_not_found_goes_to_review(server: ChatServer) -> None:
    """Never skipped; the evidence is looked for with the question and what is missing, since there is no answer."""
    server.script.extend([planned(STEPS[:1]), answered("", unstated="the writer"), entities()])
    server.script.extend([revised("S. E. Hinton", 1), END])
    desk = ReasoningDesk(server, DOCUMENTS)
    answer, trace = await desk.ask("par:skip_supported=true", QUESTION)
    assert {query.k for _, query in desk.searched} == {10}
    assert desk.queries == [STEPS[0][0], *[f"{STEPS[0][0]} the writer"] * 2]
    assert "<answer>\nAnswer: (not found)\n</answer>" in of_role(server, "review")[0].text
    assert answer.steps[0].verdict == "REVISED"
    assert reviews_of(trace) == [("REVISED", "", "S. E. Hinton")]


async def test_a_review_that_passes_what_was_not_found_makes_no_answer_of_it(server: ChatServer) -> None:
    server.script.extend([planned(STEPS[:1]), answered(""), entities(), PASS, concluded("", "none")])
    answer, trace = await ReasoningDesk(server, DOCUMENTS).ask("par", QUESTION)
    assert (answer.steps[0].answer, answer.steps[0].verdict) == ("", "UNCONFIDENT")
    assert answer.abstained
    assert "step 1: its review passed an answer that is missing; it counts as UNCONFIDENT" in trace.notes
    concluding = of_role(server, "conclude")[0].text
    assert "Answer: (not found)" in concluding
    assert DOCUMENTS["rumble"][1] in concluding, "the passages of a step without an answer are read again"


@pytest.mark.parametrize("unusable", [{"status": "MAYBE"}, {"answer": "x"}, {"status": "REVISED", "citations": ["a"]}])
async def test_an_unusable_review_is_told_back_once(server: ChatServer, unusable: dict[str, object]) -> None:
    step, _ = await review(server, HINTON, FOUND, Reply.json(unusable), PASS, END)
    assert "could not be read" in of_role(server, "review")[1].messages[-1]["content"]
    assert step.verdict == "PASS"
    with pytest.raises(ModelFailed, match="step 'review'"):
        await review(server, HINTON, FOUND, *[Reply.json(unusable)] * 2)


async def test_the_review_of_a_step_that_combines_reads_the_answers_before_it(server: ChatServer) -> None:
    server.scripts["plan"].append(planned([STEPS[0], ("Is the author's name written with initials?", "Answer")]))
    server.scripts["answer"].extend([HINTON, answered("yes")])
    server.scripts["query_entities"].extend([FOUND] * 2)
    server.scripts["refine"].append(Reply.json({"question": "Is S. E. Hinton written with initials?"}))
    server.scripts["review"].extend([PASS, PASS])
    server.scripts["conclude"].append(concluded("yes [1]"))
    await ReasoningDesk(server, DOCUMENTS).ask("par", QUESTION)
    first, second = of_role(server, "review")
    assert "What is known already" not in first.text
    assert f"Question: {STEPS[0][0]}\nAnswer: S. E. Hinton\n" in second.text


def passed(*citations: int, **more: str) -> Reply:
    said = {"status": "PASS", "answer": "", "support": "stated", "unstated": "", "citations": list(citations)}
    return Reply.json({**said, "question": "", **more})


@pytest.mark.parametrize("support", ["stated", "inferred"])
async def test_a_review_that_passes_an_answer_as_inferred_is_unconfident(server: ChatServer, support: str) -> None:
    """A PASS is of a stated answer. What is no more than inferred has one verdict, and nothing is looked up for it."""
    passing = passed(1, support="inferred", unstated="the author", question="What did Dell do in Tulsa?")
    step, trace = await review(server, answered("S. E. Hinton", 1, support=support), FOUND, passing, END)
    assert (step.answer, step.verdict, step.support) == ("S. E. Hinton", "UNCONFIDENT", Support.INFERRED)
    assert step.unstated == "the author"
    assert "step 1: its review passed an answer that no passage states; it counts as UNCONFIDENT" in trace.notes
    assert roles(server) == ["plan", "answer", "query_entities", "review", "conclude"]


async def test_a_review_that_passes_without_a_passage_states_nothing(server: ChatServer) -> None:
    step, trace = await review(server, INFERRED, FOUND, passed(), END)
    assert (step.verdict, step.support, step.unstated) == ("UNCONFIDENT", Support.INFERRED, "who wrote it")
    assert [quote.hit.document.key for quote in step.quotes] == ["rumble"]
    assert any("that no passage states" in note for note in trace.notes)


async def test_a_review_may_pass_what_follows_from_the_answers_before(server: ChatServer) -> None:
    server.scripts["plan"].append(planned([STEPS[0], ("Is the author's name written with initials?", "Answer")]))
    server.scripts["answer"].extend([HINTON, answered("yes", support="inferred")])
    server.scripts["query_entities"].extend([FOUND] * 2)
    server.scripts["refine"].append(Reply.json({"question": "Is S. E. Hinton written with initials?"}))
    server.scripts["review"].extend([PASS, passed()])
    server.scripts["conclude"].append(concluded("yes [1]"))
    answer, _ = await ReasoningDesk(server, DOCUMENTS).ask("par", QUESTION)
    assert [(step.verdict, step.support) for step in answer.steps] == [("PASS", Support.STATED)] * 2


async def test_an_inferred_answer_that_stays_the_best_stays_inferred(server: ChatServer) -> None:
    """UNCONFIDENT without a question: nothing more is to be asked, and nothing is looked up."""
    doubt = {"status": "UNCONFIDENT", "support": "inferred", "unstated": "whose book it is", "question": ""}
    step, trace = await review(server, INFERRED, FOUND, Reply.json(doubt), END)
    assert sum(event.kind == "search" for event in trace.events) == 3
    assert (step.answer, step.verdict, step.support) == ("S. E. Hinton", "UNCONFIDENT", Support.INFERRED)
    assert step.unstated == "whose book it is", "the review has read more than the answer"
    assert roles(server) == ["plan", "answer", "query_entities", "review", "conclude"]


async def test_an_unconfident_review_neither_answers_nor_cites(server: ChatServer) -> None:
    more = {"answer": "Tulsa", "support": "stated", "unstated": "the writer", "citations": [2], "question": ""}
    step, trace = await review(server, HINTON, FOUND, Reply.json({"status": "UNCONFIDENT", **more}), END)
    assert (step.answer, step.support, step.unstated) == ("S. E. Hinton", Support.INFERRED, "the writer")
    assert [quote.hit.document.key for quote in step.quotes] == ["rumble"]
    assert reviews_of(trace) == [("UNCONFIDENT", "S. E. Hinton", "S. E. Hinton")]


async def test_a_stated_answer_that_passes_keeps_its_words_and_passages(server: ChatServer) -> None:
    step, _ = await review(server, HINTON, FOUND, passed(2, answer="Tulsa"), END)
    assert (step.answer, step.verdict, step.support) == ("S. E. Hinton", "PASS", Support.STATED)
    assert [quote.hit.document.key for quote in step.quotes] == ["rumble"]


async def test_the_prompt_tells_the_fields_of_each_verdict(server: ChatServer) -> None:
    three_steps(server)
    await ReasoningDesk(server, DOCUMENTS).ask("par", QUESTION)
    rules = of_role(server, "review")[0].messages[0]["content"].splitlines()
    for verdict in ("PASS", "REVISED", "UNCONFIDENT"):
        (rule,) = [line for line in rules if line.startswith(f'  - "{verdict}": ')]
        assert "`support`" in rule
    assert not [line for line in rules if line.startswith("- `support`")], "no second rule beside these"
