"""`auto` with a small model: one search, a value that code checks, and support that code computes."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.errors import ModelFailed
from core.ports.chat import Message, Speaker
from core.ports.reasoning import Support, Unsupported
from core.ports.retrieval import Query, Searcher, SearchResult
from core.trace import Trace
from tests.integration.reasoning.auto.conftest import DOCUMENTS
from tests.integration.reasoning.auto.replies import concluded
from tests.integration.reasoning.good_model import roles
from tests.integration.reasoning.referring_searcher import REFERRING, ReferringSearcher
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, ChatServer, Reply

FISH = "Who is the author of the novel Rumble Fish?"


@pytest.fixture
def small(server: ChatServer) -> ReasoningDesk:
    return ReasoningDesk(
        server,
        DOCUMENTS | {"fish": ("Rumble Fish", "The author of the novel Rumble Fish is S. E. Hinton.")},
        profile="small",
    )


class _NamingSearcher:
    """Says with each result that the question names this document."""

    def __init__(self, inner: Searcher, named: str) -> None:
        self._inner = inner
        self._named = frozenset({named})

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        return replace(await self._inner.search(query, trace), named=self._named)


def picked(text: str) -> Reply:
    return Reply.json({"answer": text})


def picking(*texts: str) -> Callable[[Call], Reply]:
    left = list(texts)
    return lambda _: picked(left.pop(0))


async def test_a_value_that_a_passage_states(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = picking("S. E. Hinton")
    answer, trace = await small.ask("auto", FISH)
    assert roles(server) == ["pick_answer"]
    assert (answer.text, answer.support) == ("S. E. Hinton [1]", Support.STATED)
    assert answer.citations[0].quote == "The author of the novel Rumble Fish is S. E. Hinton."
    assert [step.id for step in answer.steps] == ["Q0.1"]
    assert small.queries == [FISH]
    assert trace.notes == []
    assert prompt_words(server.calls[0]) <= 120


def prompt_words(call: Call) -> int:
    """Words of the instructions, without passages and question."""
    system, user = call.messages[0]["content"], call.messages[-1]["content"]
    return len(system.split()) + len(user.rpartition("</question>")[2].split())


@pytest.mark.parametrize("text", ["S. E. Hinton [99]", "[99] S. E. Hinton"])
async def test_a_citation_of_no_passage_is_told(server: ChatServer, small: ReasoningDesk, text: str) -> None:
    server.respond = lambda _: picked(text)
    answer, trace = await small.ask("auto", FISH)
    assert trace.notes == ["a citation [99] of step Q0.1 was dropped: no such passage was shown"]
    assert answer.plain == "S. E. Hinton"
    assert [citation.document.key for citation in answer.citations] == ["fish"], "the passage that holds the answer"


async def test_an_answer_of_a_dropped_citation_that_no_passage_holds_cites_nothing(
    server: ChatServer, small: ReasoningDesk
) -> None:
    server.respond = lambda _: picked("It was written by Ravelin Corvo in 1911 [99]")
    answer, _ = await small.ask("auto:write=true", "Explain who wrote the novel Rumble Fish")
    assert (answer.citations, answer.support) == ((), Support.INFERRED)
    server.respond = lambda _: picked("The author of the novel Rumble Fish is S. E. Hinton. [99]")
    answer, _ = await small.ask("auto:write=true", "Explain who the author of the novel Rumble Fish is")
    assert [citation.document.key for citation in answer.citations] == ["fish"]


async def test_a_value_beside_something_else_is_inferred(server: ChatServer, small: ReasoningDesk) -> None:
    """The model takes the first hop's answer for the last, and code sees that nothing says what was asked."""
    server.respond = lambda _: picked("S. E. Hinton")
    answer, trace = await small.ask("auto", "Who is the spouse of the author of Rumble Fish?")
    assert (answer.plain, answer.support) == ("S. E. Hinton", Support.INFERRED)
    assert answer.citations
    assert "does not have 'spouse'" in trace.notes[0]
    strict, _ = await small.ask(
        "auto", "Who is the spouse of the author of Rumble Fish?", unsupported=Unsupported.ABSTAIN
    )
    assert strict.abstained


async def test_what_stands_in_no_passage_is_chosen_again_from_what_does(
    server: ChatServer, small: ReasoningDesk
) -> None:
    server.respond = picking("Susan Eloise", "S. E. Hinton")
    answer, _ = await small.ask("auto", FISH)
    assert roles(server) == ["pick_answer"] * 2
    first, second = server.calls
    assert first.messages == second.messages, "a local server has read them already"
    choices = second.body["response_format"]["json_schema"]["schema"]["properties"]["answer"]["enum"]
    assert "S. E. Hinton" in choices
    assert "Rumble Fish" not in choices, "the question has it itself"
    assert (answer.plain, answer.support) == ("S. E. Hinton", Support.STATED)


async def test_a_sentence_gives_way_to_the_only_value_in_it(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = picking("The novel was written, as we know, by the author S. E. Hinton")
    answer, _ = await small.ask("auto", FISH)
    assert (answer.plain, len(server.calls)) == ("S. E. Hinton", 1)


async def test_a_choice_is_between_the_sides(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = picking("the Ebro, of course")
    answer, _ = await small.ask("auto", "Which is longer, Oder or Ebro?")
    schema = server.calls[0].body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["Oder", "Ebro"]
    assert "one of: Oder; Ebro." in server.calls[0].text
    assert answer.plain == "Ebro", "not every server heeds a schema"


async def test_a_judgement_is_inferred(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = picking("yes")
    answer, _ = await small.ask("auto", "Is the Ebro longer than the Oder?")
    assert (answer.plain, answer.support) == ("yes", Support.INFERRED)
    assert {citation.document.key for citation in answer.citations} == {"ebro", "oder"}


@pytest.mark.parametrize(("said", "support"), [("2,340", Support.STATED), ("2,518", Support.INFERRED)])
async def test_a_value_of_another_column_is_inferred(server: ChatServer, said: str, support: Support) -> None:
    """The row has it, but the cell that was shown, since the question asks for it, is another one."""
    rows = "\n".join(
        f"Division: {name}; Q3 2024 (kEUR): {third}; Q4 2024 (kEUR): {fourth}"
        for name, third, fourth in (("Pumps", "1,387", "1,402"), ("Sonar", "2,340", "2,518"), ("Cables", "911", "905"))
    )
    desk = ReasoningDesk(server, {"report": ("Revenue by division", rows)}, profile="small")
    server.respond = lambda _: picked(said)
    answer, _ = await desk.ask("auto", "What was the revenue of the Sonar division in Q3 2024?")
    assert "2,518" not in server.calls[0].text
    assert (answer.plain, answer.support) == (said, support)
    assert ("Not stated: it of what is asked, but of “Sonar, Q4 2024 (kEUR)”" in answer.note) is (said == "2,518")


async def test_a_number_that_was_not_shown_is_inferred(server: ChatServer) -> None:
    """Two sentences of the passage are shown."""
    years = ("spring", "120"), ("summer", "95"), ("autumn", "64"), ("winter", "77")
    text = " ".join(f"In {season} the mill sold {count} bales." for season, count in years)
    desk = ReasoningDesk(server, {"mill": ("Mill", text)}, profile="small")
    server.respond = lambda _: picked("77")
    answer, trace = await desk.ask("auto", "How many bales were sold by the mill?")
    assert "77" not in server.calls[0].text
    assert (answer.plain, answer.support) == ("77", Support.INFERRED)
    assert "was not shown '77'" in trace.notes[0]


async def test_a_judgement_about_a_document_is_made_from_its_best_sentences(server: ChatServer) -> None:
    filler = " ".join(f"Clause {number} is on bricks." for number in range(40))
    lease = f"{filler} The tenant may sublet with consent. {filler}"
    desk = ReasoningDesk(server, DOCUMENTS | {"lease": ("Lease of Halden", lease)}, profile="small")
    server.respond = picking("yes")
    answer, trace = await desk.ask("auto:judge=true", "Consider the Lease of Halden; may the tenant sublet?")
    assert "one of: yes; no." in server.calls[0].text
    assert "The tenant may sublet with consent." in server.calls[0].text
    assert server.calls[0].text.count("bricks") <= 4
    assert (answer.plain, answer.support) == ("yes", Support.INFERRED)
    assert "does not have 'a yes or no'" in trace.notes[0], "the quote below it has the words of the question"
    assert answer.citations[0].quote == "The tenant may sublet with consent."


async def test_yes_or_no_about_a_document_is_quoted(server: ChatServer) -> None:
    """The model is not asked, and a request that wants only what passages state gets the quote, too."""
    filler = " ".join(f"Clause {number} is on bricks." for number in range(40))
    lease = f"{filler} The tenant may sublet with consent. {filler}"
    desk = ReasoningDesk(server, DOCUMENTS | {"lease": ("Lease of Halden", lease)}, profile="small")
    asked = "Consider the Lease of Halden; may the tenant sublet?"
    for unsupported in (Unsupported.INFER, Unsupported.ABSTAIN):
        answer, _ = await desk.ask("auto", asked, unsupported=unsupported)
        assert answer.text.startswith("The tenant may sublet with consent. [1]")
        assert (answer.support, answer.reasoner, answer.abstained) == (Support.QUOTED, "auto", False)
        assert answer.note.startswith("Quotes: a small model's yes or no would be a guess")
        assert [(step.id, step.support) for step in answer.steps] == [("Q0.1", Support.QUOTED)]
    assert not server.calls


async def test_yes_or_no_that_no_sentence_tells_is_the_models(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = picking("no")
    answer, _ = await small.ask("auto", "Is the Oder longer than 900 km?")
    assert roles(server) == ["pick_answer"]
    assert (answer.plain, answer.support) == ("no", Support.INFERRED)


@pytest.mark.parametrize("said", ["", "I do not know.", "not stated in the passages"])
async def test_no_answer_is_an_abstention(server: ChatServer, small: ReasoningDesk, said: str) -> None:
    server.respond = lambda _: picked(said)
    answer, _ = await small.ask("auto", FISH)
    assert answer.abstained
    assert answer.text.startswith(
        "No sentence here surely answers this. Nearest:\n\nThe author of the novel Rumble Fish"
    )
    assert answer.citations[0].quote == "The author of the novel Rumble Fish is S. E. Hinton."


async def test_a_judgement_is_made_from_the_named_document_and_cites_what_was_judged(server: ChatServer) -> None:
    """No sentence surely tells it, and the other contract has more of the question's words."""
    lease = "The tenant pays for water. Dogs are welcome in the yard. The roof is of slate."
    other = "Some obligations of the agreement survive its termination."
    named = {"lease": ("Lease of Halden", lease), "loan": ("Loan of Norwick", other)}
    desk = ReasoningDesk(server, DOCUMENTS | named, profile="small")
    desk.backends = replace(desk.backends, searcher=_NamingSearcher(desk.backends.searcher, "lease"))
    asked = "Consider the Lease of Halden; do some obligations survive its termination?"
    declined, _ = await desk.ask("auto", asked)
    assert declined.abstained
    assert declined.text.startswith("No sentence here surely answers this. Nearest:")
    assert {citation.document.key for citation in declined.citations} == {"lease"}
    assert declined.note.endswith("would be a guess, so it was not asked; `auto:judge=true` asks it.")
    assert not server.calls
    server.respond = picking("no")
    answer, _ = await desk.ask("auto:judge=true", asked)
    assert roles(server) == ["pick_answer"]
    assert other not in server.calls[0].text
    assert (answer.plain, answer.support) == ("no", Support.INFERRED)
    assert {citation.document.key for citation in answer.citations} == {"lease"}
    assert all(citation.quote in lease for citation in answer.citations)


async def test_sentences_are_written_within_a_bound(server: ChatServer, small: ReasoningDesk) -> None:
    """A small model may repeat itself until its context is full."""
    server.respond = lambda _: Reply(text='{"answer": "It fell. It fell. It fe', finish_reason="length")
    answer, trace = await small.ask("auto:write=true", "Why did Hinton write Rumble Fish?")
    assert server.calls[0].body["max_tokens"] == 800
    assert answer.plain.startswith("It fell.")
    assert "this step allows no more than 800" in trace.notes[0]


async def test_a_value_of_one_report_is_found_by_code(server: ChatServer) -> None:
    table = "Figures (in millions)\n\n| | Q2 2023 |\n|---|---|\n| Revenue | $1,340 |\n\nFerries sold well."
    desk = ReasoningDesk(server, {"2023 Q2 Okeke.md": ("Okeke Ferries", table)}, profile="small")
    answer, _ = await desk.ask("auto", "What was the revenue of Okeke Ferries in Q2 2023, and why?")
    assert answer.text.startswith("Revenue, Q2 2023: $1,340 million [1]")
    assert (answer.support, answer.citations[0].document.key) == (Support.QUOTED, "2023 Q2 Okeke.md")
    assert not server.calls


async def test_what_sentences_answer_is_quoted(server: ChatServer) -> None:
    """A request with instructions is the model's."""
    dam = "The dam was raised in 1911 because the spring floods had twice reached the mill. It has nine sluices."
    desk = ReasoningDesk(server, DOCUMENTS | {"dam": ("Dam of Halden", dam)}, profile="small")
    answer, _ = await desk.ask("auto", "Why was the dam of Halden raised in 1911?")
    assert answer.text.startswith(
        "The dam was raised in 1911 because the spring floods had twice reached the mill. [1]"
    )
    assert (answer.support, answer.abstained) == (Support.QUOTED, False)
    assert answer.note.startswith("Quotes: a small model's explanation would be worse than its sources")
    assert not server.calls
    server.respond = lambda _: concluded("Floods [1]", "inferred")
    await desk.ask("auto", "Why was the dam of Halden raised in 1911?", instructions="Answer in one word.")
    assert roles(server) == ["conclude"]


async def test_a_reference_is_followed(server: ChatServer, small: ReasoningDesk) -> None:
    """As `extractive` follows it. Of that search, the step has the passages of the place alone."""
    small.backends = replace(small.backends, searcher=ReferringSearcher())
    answer, _ = await small.ask("auto", "Why are there legal proceedings of Norwick?", k=2)
    assert answer.support is Support.QUOTED
    assert REFERRING[3] in [citation.quote for citation in answer.citations]
    assert [found.chunk.id for found in answer.steps[0].hits][2:] == ["report#2", "report#3"]
    assert not server.calls


async def test_an_explanation_that_no_sentence_gives_is_written(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = lambda _: concluded("Nobody knows [1]", "inferred")
    await small.ask("auto", "How did Hinton write The Outsiders?")
    assert roles(server) == ["conclude"]


async def test_more_than_a_value_is_written(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = lambda _: concluded("It was written while at school [1]", "inferred")
    for question, instructions in (("How did Hinton write The Outsiders?", ""), (FISH, "Answer with a poem.")):
        answer, _ = await small.ask("auto:write=true", question, instructions=instructions)
        assert answer.plain == "It was written while at school"
    assert roles(server) == ["conclude"] * 2


async def test_what_is_written_without_a_marker_is_cited_by_code(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = lambda _: picked("The author of the novel Rumble Fish is S. E. Hinton.")
    answer, _ = await small.ask("auto:write=true", "Explain who the author of the novel Rumble Fish is")
    assert roles(server) == ["conclude"]
    schema = server.calls[0].body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["answer"], "what it stands on is computed"
    assert prompt_words(server.calls[0]) <= 120
    assert answer.support is Support.INFERRED, "a small model is not believed in sentences"
    assert [citation.document.key for citation in answer.citations] == ["fish"]


async def test_a_marker_alone_is_no_answer(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = lambda _: picked("[1]")
    answer, _ = await small.ask("auto:write=true", "Why did Hinton write Rumble Fish?")
    assert answer.abstained


async def test_a_reply_without_the_form_is_the_answer(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = lambda _: Reply(text="S. E. Hinton")
    answer, _ = await small.ask("auto", FISH)
    assert answer.plain == "S. E. Hinton"


async def test_half_of_the_form_is_an_error_of_its_step(server: ChatServer, small: ReasoningDesk) -> None:
    server.respond = lambda _: Reply(text='{"answer": [')
    with pytest.raises(ModelFailed, match="step 'pick_answer'"):
        await small.ask("auto", FISH)


@pytest.mark.parametrize("text", ['{"answer": "S. E. Hin', "S. E. Hin"])
async def test_a_value_that_is_cut_is_no_answer(server: ChatServer, small: ReasoningDesk, text: str) -> None:
    server.respond = lambda _: Reply(text=text, finish_reason="length")
    with pytest.raises(ModelFailed, match="mid-answer; allow more with HOPWEAVE_LLM__MAX_OUTPUT_TOKENS"):
        await small.ask("auto", FISH)


async def test_nothing_found_calls_no_model(server: ChatServer, small: ReasoningDesk) -> None:
    answer, _ = await small.ask("auto", "xyzzy")
    assert answer.abstained
    assert not server.calls


async def test_a_conversation_is_understood_first(server: ChatServer, small: ReasoningDesk) -> None:
    server.scripts["denoise"].append(Reply.json({"question": FISH}))
    server.scripts["pick_answer"].append(picked("S. E. Hinton"))
    history = (Message(speaker=Speaker.USER, content="I like Rumble Fish."),)
    answer, _ = await small.ask("auto", "Who is its author?", history=history)
    assert (roles(server), answer.plain) == (["denoise", "pick_answer"], "S. E. Hinton")


async def test_other_reasoners_are_believed_less(server: ChatServer, small: ReasoningDesk) -> None:
    """What a small model calls stated is so only if one passage says all that is asked."""
    server.respond = lambda _: concluded("S. E. Hinton [1]")
    answer, _ = await small.ask("vanilla:k=1", "Who is the spouse of the author of Rumble Fish?")
    assert answer.support is Support.INFERRED
    answer, _ = await small.ask("vanilla:k=1", FISH)
    assert answer.support is Support.STATED


PUMPS = "Pump | Flow (m3/h)\nP-1 | 42\nP-2 | 9.5\nP-3 | 61\n"


@pytest.mark.parametrize("profile", ["small", "large"])
async def test_code_answers_over_the_rows_of_a_table(server: ChatServer, profile: str) -> None:
    desk = ReasoningDesk(server, {"pumps": ("Pumps", PUMPS)}, profile=profile)
    answer, _ = await desk.ask("auto", "Which pump has the lowest flow?")
    assert roles(server) == []
    assert answer.text.startswith("P-2: Flow (m3/h): 9.5 [1]\n\nLowest")
    assert (answer.support, [citation.quote for citation in answer.citations]) == (Support.QUOTED, ["P-2 | 9.5"])
    assert [(row.name, row.value) for row in answer.table] == [("P-2", "9.5")]
    assert [step.answer for step in answer.steps] == [answer.text]


async def test_a_small_model_is_not_asked_for_a_column_that_is_not_there(server: ChatServer) -> None:
    desk = ReasoningDesk(server, {"pumps": ("Pumps", PUMPS)}, profile="small")
    answer, _ = await desk.ask("auto", "What is the weight of the pump P-3?")
    assert roles(server) == []
    assert answer.abstained
    assert answer.text.startswith("No column of pumps is called “weight”. Its columns: Pump, Flow (m3/h).")
    assert answer.citations[0].quote == "P-3 | 61"
