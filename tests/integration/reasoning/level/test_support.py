"""The support of LevelRAG's summaries and answers, and the citations behind its contexts."""

from typing import Any

import pytest

from core.ports.reasoning import Answer, Support, Unsupported
from core.trace import Trace
from tests.integration.reasoning.good_model import of_role, roles
from tests.integration.reasoning.level.replies import (
    HOPS,
    PLAIN,
    QUESTION,
    SUMMARIES,
    comparison,
    concluded,
    queries,
    summarized,
    three_hops,
)
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Reply


async def test_a_summary_that_abstains_says_so(desk: ReasoningDesk) -> None:
    three_hops(desk.server)
    lacking = "Who wrote Rumble Fish could not be found."
    desk.server.scripts["summarize"].append(summarized(lacking, support="none"))
    desk.server.scripts["supplement"].append(queries(HOPS[2]))
    answer, _ = await desk.ask(PLAIN, QUESTION)
    assert roles(desk.server) == ["atomic_queries", "summarize", "supplement", "summarize", "verify", "conclude"]
    assert f"Context 1: {lacking}" in of_role(desk.server, "supplement")[0].text
    assert (answer.steps[0].answer, answer.steps[0].support) == ("", Support.NONE)
    assert answer.shown == ("The Outsiders was published by Viking Press.",)


async def test_a_summary_that_says_so_and_claims_support_has_none(desk: ReasoningDesk) -> None:
    three_hops(desk.server)
    desk.server.scripts["summarize"].append(summarized("Who wrote Rumble Fish could not be found.", support="inferred"))
    desk.server.scripts["supplement"].append(queries(HOPS[2]))
    answer, _ = await desk.ask(PLAIN, QUESTION)
    assert (answer.steps[0].answer, answer.steps[0].support) == ("", Support.NONE)
    assert answer.shown == ("The Outsiders was published by Viking Press.",)


@pytest.mark.parametrize(
    ("option", "support", "expected"),
    [
        ("memory=true", "memory", Support.MEMORY),
        ("memory=false", "memory", Support.NONE),
        ("memory=false", "stated", Support.INFERRED),
    ],
)
async def test_a_summary_without_a_passage_is_at_most_inferred(
    desk: ReasoningDesk, option: str, support: str, expected: Support
) -> None:
    comparison(desk.server, first=[HOPS[0]])
    desk.server.scripts["summarize"].append(summarized("S. E. Hinton wrote Rumble Fish.", 77, support=support))
    answer, trace = await desk.ask(f"{PLAIN},{option},supplements=0", HOPS[0])
    assert ('"memory" if you know' in of_role(desk.server, "summarize")[0].text) is (option == "memory=true")
    assert answer.steps[0].support is expected
    assert trace.notes[0] == "a citation [77] of step 1 was dropped: no such passage was shown"
    if expected is Support.NONE:
        assert answer.abstained
    else:
        assert f"Context 1 ({expected}): S. E. Hinton wrote Rumble Fish." in desk.server.calls[-1].text
        assert (answer.support, answer.citations) == (expected, ()), "it names a context that no passage supports"


async def test_an_answer_is_not_better_than_the_contexts_that_it_names(desk: ReasoningDesk) -> None:
    comparison(desk.server)
    desk.server.scripts["summarize"].extend(
        [
            summarized("Zork is tall.", 1),
            summarized("Viking is 2 m tall.", 1, support="inferred", unstated="the height of Viking"),
        ]
    )
    desk.server.scripts["conclude"].append(concluded("Zork [1, 2]"))
    answer, _ = await desk.ask(PLAIN, "Which is taller, Zork or Viking?")
    for role in ("verify", "conclude"):
        shown = of_role(desk.server, role)[0].text
        assert "(inferred; not stated: the height of Viking): Viking is 2 m tall." in shown
        assert "marked as inferred, or as from memory" in shown
    assert answer.support is Support.INFERRED
    assert "Not stated: the height of Viking." in answer.note
    assert answer.text == "Zork [1] [2]"
    assert len(answer.citations) == 2
    abstained, _ = await _ask_again(desk, unsupported=Unsupported.ABSTAIN)
    assert abstained.abstained


async def _ask_again(desk: ReasoningDesk, **options: Any) -> tuple[Answer, Trace]:
    desk.server.scripts["summarize"].extend([summarized("Zork is tall.", 1, support="inferred")] * 2)
    return await desk.ask(PLAIN, "Which is taller, Zork or Viking?", **options)


async def test_a_marker_becomes_the_citations_of_its_context(desk: ReasoningDesk) -> None:
    """Of all its quotes; a marker of a context that is not there, or that no passage supports, is dropped."""
    asked = ["Which novel is by Hinton?", "Which house is Viking Press, publishing?"]
    comparison(desk.server, first=asked)
    others = desk.server.respond
    found = summarized("Hinton wrote The Outsiders.", 1, 2)
    summaries = {asked[0]: found, asked[1]: summarized("It could not be found.", support="none")}
    desk.server.respond = lambda call: summaries[call.question] if call.role == "summarize" else others(call)
    desk.server.scripts["conclude"].append(concluded("The Outsiders [1][2][9]"))
    answer, trace = await desk.ask(f"{PLAIN},supplements=0", "Novels and houses?")
    contexts = of_role(desk.server, "conclude")[0].text
    assert "Context 1: Hinton wrote The Outsiders." in contexts
    assert answer.shown == ("Hinton wrote The Outsiders.",)
    assert sum("was dropped" in note for note in trace.notes) == 2
    assert answer.plain == "The Outsiders"
    assert [citation.marker for citation in answer.citations] == [1, 2]


async def test_a_last_call_in_prose_is_an_inferred_answer(desk: ReasoningDesk) -> None:
    three_hops(desk.server)
    desk.server.scripts["conclude"].extend([Reply(text="It was Viking Press [3].")] * 2)
    answer, _ = await desk.ask(PLAIN, QUESTION)
    assert (answer.plain, answer.support) == ("It was Viking Press.", Support.INFERRED)
    assert answer.citations[0].document.key == "outsiders"


async def test_nothing_found(desk: ReasoningDesk) -> None:
    desk.server.scripts["atomic_queries"].append(queries())
    desk.server.scripts["supplement"].append(queries())
    answer, _ = await desk.ask(PLAIN, "xyzzy")
    assert desk.queries == ["xyzzy"], "the question itself where no query came"
    assert roles(desk.server) == ["atomic_queries", "supplement"]
    assert "Context 1: Nothing was found about this: xyzzy" in desk.server.calls[1].text
    assert answer.abstained
    assert answer.steps[0].support is Support.NONE
    assert answer.shown == (), "no last call was made, and no summary is evidence"


async def test_an_answer_that_is_none(desk: ReasoningDesk) -> None:
    three_hops(desk.server)
    desk.server.scripts["conclude"].append(
        Reply.json({"answer": "", "support": "none", "unstated": "who published it"})
    )
    answer, _ = await desk.ask(PLAIN, QUESTION)
    assert answer.note == "Not stated: who published it."
    assert answer.abstained
    assert answer.shown == tuple(summary for summary, _ in SUMMARIES.values())


async def test_an_answer_from_memory_has_no_markers(desk: ReasoningDesk) -> None:
    three_hops(desk.server)
    desk.server.scripts["conclude"].append(concluded("Viking Press [1] [3]", "memory"))
    answer, _ = await desk.ask(PLAIN, QUESTION, unsupported=Unsupported.MEMORY)
    assert (answer.text, answer.support, answer.citations) == ("Viking Press", Support.MEMORY, ())
