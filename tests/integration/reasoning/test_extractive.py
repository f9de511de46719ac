"""What `extractive` answers over a scripted searcher: its text, its notes and its abstentions."""

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.documents import DocumentRef
from core.ports.chat import Message, Speaker
from core.ports.reasoning import Support, Unsupported
from core.ports.retrieval import Fact, Hit, SearchResult, Signals
from reasoning.shared.fusion import find_cosines
from reasoning.strategies.extractive.quoting import reading as reading_module
from reasoning.strategies.extractive.quoting.asked import Asked
from reasoning.strategies.extractive.quoting.units import Unit, list_units
from testing.word_search import RecordingSearcher
from tests.integration.reasoning.facts_searcher import FactsSearcher
from tests.integration.reasoning.referring_searcher import DEFINING, REFERRING, ReferringSearcher
from tests.reasoning_desk import ReasoningDesk, hit
from tests.twins.chat_server import ChatServer
from tests.twins.embedder import TwinEmbedder

QUESTION = "Which publisher published The Outsiders?"
QUOTING = "extractive:min_probability=0"


async def test_quotes_cite_their_passages(desk: ReasoningDesk, server: ChatServer) -> None:
    answer, _ = await desk.ask(f"{QUOTING},sentences=2", QUESTION)
    assert (answer.abstained, answer.support, answer.steps[0].support) == (False, Support.QUOTED, Support.QUOTED)
    assert "The Outsiders was published by Viking Press in 1967." in answer.text
    assert len(answer.citations) == 2
    assert not server.calls


async def test_a_doubtful_answer_says_so(desk: ReasoningDesk) -> None:
    asked = (QUOTING, "Who illustrated the cover of The Outsiders in Bolivia?")
    answer, _ = await desk.ask(*asked)
    assert (answer.abstained, answer.support) == (False, Support.QUOTED)
    assert "It is unsure: the estimate that one of the quotes answers the question is" in answer.note
    assert "“illustrated”" in answer.note
    assert "“of”" not in answer.note
    assert answer.citations
    withheld, _ = await desk.ask(*asked, unsupported=Unsupported.ABSTAIN)
    assert (withheld.abstained, withheld.support) == (True, Support.NONE)
    assert withheld.text.startswith("No sentence here surely answers this. Nearest:\n\n")
    assert withheld.citations
    assert withheld.steps[0].answer == ""


async def test_a_lead_in_that_names_the_document_is_no_evidence(desk: ReasoningDesk) -> None:
    """All passages of the document fit its words, also where none answers."""
    lacking = "who illustrated its cover in Bolivia?"
    about, _ = await desk.ask(QUOTING, f"Consider The Outsiders; {lacking}")
    story, _ = await desk.ask(QUOTING, f"Consider the novel of Halden; {lacking}")
    assert "“illustrated”" in about.note
    assert "“Halden”" in story.note
    assert "“Outsiders”" not in about.note
    other, _ = await desk.ask(QUOTING, "Consider version 3.7 of The Outsiders; who published it?")
    assert "“3.7”" in other.note, "it is another version than the document"
    declined, _ = await desk.ask("extractive", f"Consider The Outsiders; {lacking}")
    assert declined.abstained


async def test_an_answer_says_that_it_only_quotes(desk: ReasoningDesk) -> None:
    answer, trace = await desk.ask(QUOTING, QUESTION)
    assert answer.note.startswith("Extractive: this answer only quotes its sources; no language model wrote it.")
    assert not any("conversation" in note for note in trace.notes)
    history = (Message(speaker=Speaker.USER, content="Who wrote it?"),)
    _, trace = await desk.ask(QUOTING, QUESTION, history=history)
    assert any("the conversation before the question was not read" in note for note in trace.notes)


async def test_it_declines_below_its_probability_and_shows_what_is_near(desk: ReasoningDesk) -> None:
    answer, _ = await desk.ask("extractive:min_probability=1", QUESTION)
    assert (answer.abstained, answer.support, answer.steps[0].answer) == (True, Support.NONE, "")
    assert answer.steps[0].hits
    assert answer.text.startswith("No sentence here surely answers this. Nearest:\n\n")
    assert 1 <= len({one.chunk_id for one in answer.citations}) == len(answer.citations) <= 3
    assert all(one.quote in answer.text for one in answer.citations)


async def test_what_shares_no_word_is_declined(desk: ReasoningDesk) -> None:
    foreign, _ = await desk.ask("extractive", "Capital of Mongolia?")
    assert foreign.abstained


async def test_without_hits_nothing_is_near(desk: ReasoningDesk) -> None:
    answer, _ = await desk.ask("extractive", "Zzz?")
    assert (answer.abstained, answer.citations) == (True, ())
    assert answer.text == "No passage was found that answers this."


async def test_a_long_quote_is_shortened_in_the_text_of_an_abstention(server: ChatServer) -> None:
    long = {"long": ("Orrin", "Orrin " + "has a mill and " * 60 + "a church.")}
    desk = ReasoningDesk(server, long)
    answer, _ = await desk.ask("extractive:min_probability=1", "Where is the mill of Orrin?")
    [citation] = [one for one in answer.citations if one.document.key == "long"]
    assert len(citation.quote) > 500
    assert len(answer.text) < 500
    assert answer.text[citation.answer_span.start : citation.answer_span.end].endswith("…")


@pytest.mark.parametrize("signal", [0.9, -0.2])
async def test_the_searchers_own_cosine_counts(signal: float) -> None:
    embedder = TwinEmbedder()
    near = replace(hit("a", "A", "far away"), signals=Signals(dense=signal))
    assert await find_cosines(embedder, await embedder.embed_query("near?"), [near]) == [signal]


async def test_a_hit_without_a_cosine_is_embedded() -> None:
    embedder = TwinEmbedder()
    vector = await embedder.embed_query("Orrin\nThe mill.")
    far = replace(hit("a", "A", "far away"), signals=Signals(dense=0.1))
    cosines = await find_cosines(embedder, vector, [hit("b", "Orrin", "The mill."), far])
    assert cosines == pytest.approx([1.0, 0.1], abs=1e-5)
    assert await find_cosines(embedder, vector, []) == []


def _found(*hits: Hit) -> SearchResult:
    return SearchResult(hits=hits, generation=0)


async def test_passages_are_read_beside_the_event_loop(desk: ReasoningDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand hits fifty are read, and not in the thread that answers others."""
    threads: set[int] = set()

    def list_in_thread(asked: Asked, hits: Sequence[Hit], most: int) -> list[Unit]:
        threads.add(threading.get_ident())
        return list_units(asked, hits, most)

    monkeypatch.setattr(reading_module, "list_units", list_in_thread)
    hits = [hit(f"d{number}", "", f"The fee of part {number} is 12 euros.") for number in range(1000)]
    reading = await reading_module.read_hits(desk.backends, desk.corpus, "What is the fee of part 7?", _found(*hits))
    assert {unit.rank for unit in reading.units} == set(range(50))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_an_identifier_that_is_typed_asks_for_its_place(desk: ReasoningDesk) -> None:
    """A question with all words of a sentence may ask for what it does not say; a typed word asks for the word."""
    row = hit("a", "Penguins", "Species: Gentoo; Individual ID: N43A2; Clutch Completion: Yes")
    reading = await reading_module.read_hits(desk.backends, desk.corpus, "N43A2", _found(row))
    assert reading.is_found
    assert not (await reading_module.read_hits(desk.backends, desk.corpus, "N43A3", _found(row))).is_found
    assert not (await reading_module.read_hits(desk.backends, desk.corpus, "Who is N43A2?", _found(row))).is_found


async def test_what_is_asked_for_and_of_what_stand_in_one_quote(desk: ReasoningDesk) -> None:
    """The serial number of a gauge is none of the torque wrench that another document names."""
    wrench = hit("a", "", "The torque wrench and the gauge are tested by Orb every two years.")
    gauge = hit("b", "Test of a gauge", "Serial number: 77120. Tested by Orb in May.")
    asked = "What is the serial number of the torque wrench tested by Orb?"
    apart = await reading_module.read_hits(desk.backends, desk.corpus, asked, _found(wrench, gauge))
    assert apart.right <= reading_module.OTHER_NUMBER
    own = hit("c", "Torque wrench", "Serial number: 90417. Tested by Orb in June.")
    found = await reading_module.read_hits(desk.backends, desk.corpus, asked, _found(own, wrench, gauge))
    assert found.right > reading_module.OTHER_NUMBER


async def test_steps_for_another_thing_are_no_answer(desk: ReasoningDesk) -> None:
    manual = hit("a", "KL-7 manual", "To change the filter:\n1. Open the lid.\n2. Lift it out.")
    for code, is_found in (("KL-7", True), ("KL-9", False)):
        asked = f"How do I change the filter of the {code}?"
        reading = await reading_module.read_hits(desk.backends, desk.corpus, asked, _found(manual))
        assert reading.is_found is is_found
        assert reading.units[0].text.endswith("1. Open the lid.\n2. Lift it out.") or not is_found


async def test_the_words_that_name_a_report_are_no_evidence_and_other_reports_are_not_read(desk: ReasoningDesk) -> None:
    refs = [DocumentRef(id=id, key=f"{id} Okeke.md", title="", metadata={}) for id in ("2023 Q1", "2022 Q4")]
    texts = (
        "This report on Form 10-Q has three items. The ferry was sold for lack of crew.",
        "The ferry was sold for cash.",
    )
    first, second = (
        replace(hit(ref.id, "", text), document=ref, versions=tuple(other for other in refs if other != ref))
        for ref, text in zip(refs, texts, strict=True)
    )
    asked = "In the Q1 2023 10-Q, why was the ferry sold?"
    reading = await reading_module.read_hits(desk.backends, desk.corpus, asked, _found(first, second))
    assert reading.units[0].text == "The ferry was sold for lack of crew."
    assert {unit.hit.document.id for unit in reading.units} == {"2023 Q1"}
    assert not {word.stem for word in reading.asked.words} & {"10", "q1", "2023"}
    others = hit("Beta", "", "Beta sold the ferry for lack of fuel.")
    kept = await reading_module.read_hits(desk.backends, desk.corpus, asked, _found(first, second, others))
    assert {unit.hit.document.id for unit in kept.units} == {"2023 Q1", "Beta"}, "another company's is no version"
    for question, read in {
        "Why was the ferry sold?": {"2023 Q1", "2022 Q4"},
        "Why was the ferry sold in the latest 10-Q compared to previous quarters?": {"2023 Q1"},
        "What was the price of the ferry in the latest 10-Q compared to previous quarters?": {"2023 Q1", "2022 Q4"},
    }.items():
        reading = await reading_module.read_hits(desk.backends, desk.corpus, question, _found(second, first))
        assert {unit.hit.document.id for unit in reading.units} == read, question


async def test_each_version_is_quoted_if_a_question_asks_for_each(server: ChatServer) -> None:
    """The sentence of two versions is the same, which two sides of a comparison may not have."""
    days = {"1.0": "four", "1.1": "four", "2.0": "six"}
    rules = {f"policy-{name}.md": f"A stay at a hotel has at most {most} nights." for name, most in days.items()}
    desk = ReasoningDesk(server, {key: ("Travel Policy", text) for key, text in rules.items()})
    refs = [found.document for found in desk.hits.values()]
    hits = [
        replace(found, versions=tuple(ref for ref in refs if ref != found.document)) for found in desk.hits.values()
    ]
    desk.backends = replace(desk.backends, searcher=RecordingSearcher("bridged", hits, desk.searched))
    answer, _ = await desk.ask(QUOTING, "How many nights may a stay at a hotel have, in each version?")
    told = [
        f"policy-{name}: A stay at a hotel has at most {most} nights. [{n}]"
        for n, (name, most) in enumerate(days.items(), 1)
    ]
    assert answer.text == "\n\n".join(told)
    assert [step.question for step in answer.steps] == ["How many nights may a stay at a hotel have?"] * 3
    whole, _ = await desk.ask(QUOTING, "How many nights may a stay at a hotel have?")
    assert "policy-1.0: " not in whole.text


async def test_the_sentence_that_states_the_asked_fact_is_quoted_first(server: ChatServer) -> None:
    """The words of the question are in the first sentence; the fact is in another."""
    text = "Many ask who opened the Orrin Mill. The works began in 1912, by Ada Lund of Ulm."
    desk = ReasoningDesk(server, {"mill": ("Orrin Mill", text)})
    fact = Fact("Orrin Mill", "was opened by", "Ada Lund", "mill#0")
    desk.backends = replace(desk.backends, searcher=FactsSearcher(desk.backends.searcher, [fact]))
    answer, _ = await desk.ask(QUOTING, "Who opened the Orrin Mill?")
    assert answer.citations[0].quote == "The works began in 1912, by Ada Lund of Ulm."
    without, _ = await desk.ask(f"{QUOTING},facts=false", "Who opened the Orrin Mill?")
    assert without.citations[0].quote == "Many ask who opened the Orrin Mill."


async def test_a_reference_is_followed_in_its_document(desk: ReasoningDesk) -> None:
    searcher = ReferringSearcher()
    desk.backends = replace(desk.backends, searcher=searcher)
    answer, _ = await desk.ask(f"{QUOTING},sentences=5", "Why are there legal proceedings of Norwick?", k=2)
    assert [query.documents for _, query in searcher.queries] == [None]
    assert [found.chunk.id for found in answer.steps[0].hits][2:] == ["report#2", "report#3"]
    quotes = [citation.quote for citation in answer.citations]
    assert REFERRING[3] in quotes
    assert quotes.index(REFERRING[4]) < quotes.index(REFERRING[0]), "a reference goes behind what says something itself"


async def test_the_definition_of_a_term_goes_with_the_sentence_that_uses_it(desk: ReasoningDesk) -> None:
    searcher = ReferringSearcher(DEFINING, "“Maturity Date” means")
    desk.backends = replace(desk.backends, searcher=searcher)
    answer, _ = await desk.ask(QUOTING, "When does the loan of Norwick mature?", k=2)
    assert [citation.quote for citation in answer.citations] == [DEFINING[3], *DEFINING[:2]]


def _versions_desk(server: ChatServer, texts: dict[str, str]) -> ReasoningDesk:
    """Returns a desk whose searches find all texts, each a version of the others."""
    desk = ReasoningDesk(server, {key: ("Solberg Mills", text) for key, text in texts.items()})
    refs = [found.document for found in desk.hits.values()]
    hits = [
        replace(found, versions=tuple(ref for ref in refs if ref != found.document)) for found in desk.hits.values()
    ]
    desk.backends = replace(desk.backends, searcher=RecordingSearcher("bridged", hits, desk.searched))
    return desk


async def test_a_quarter_that_no_report_tells_is_declined(server: ChatServer) -> None:
    table = "NOK million | {}\nNet debt | 71\nNet sales | 90"
    desk = _versions_desk(server, {f"Solberg {name}.md": table.format(name) for name in ("Q4 2023", "Q1 2024")})
    answer, _ = await desk.ask(QUOTING, "What was the net debt of Solberg in Q4 2024?")
    assert (answer.abstained, answer.support) == (True, Support.NONE)
    assert answer.text.startswith("No document that was found tells Q4 2024; the reports are of Q4 2023 and Q1 2024.")
    assert answer.citations
    told, _ = await desk.ask(QUOTING, "What was the net debt of Solberg in Q1 2024?")
    assert not told.abstained


async def test_the_date_of_a_release_stands_in_its_heading(server: ChatServer) -> None:
    desk = ReasoningDesk(server, {"log": ("Changes of kettle", "- The lid closes. It is tight.")})
    for heading, is_quoted in (("3.1.0 (2024-02-09)", True), ("3.1.0 fixes the fault of 2019-01-01", False)):
        hits = [replace(found, chunk=replace(found.chunk, heading=heading)) for found in desk.hits.values()]
        desk.backends = replace(desk.backends, searcher=RecordingSearcher("bridged", hits, desk.searched))
        asked = ("extractive", "When was kettle 3.1.0 released?")
        answer, _ = await desk.ask(*asked)
        assert answer.text.startswith(f"{heading}: - The lid") == is_quoted
        withheld, _ = await desk.ask(*asked, unsupported=Unsupported.ABSTAIN)
        assert withheld.abstained, "no quote surely has the date"


async def test_how_an_outlook_changed_is_quoted_from_each_report(server: ChatServer) -> None:
    outlooks = {"Q4 2023": "We expect sales of 400.", "Q1 2024": "We now expect sales of 380."}
    desk = _versions_desk(server, {f"Solberg {name}.md": text for name, text in outlooks.items()})
    answer, _ = await desk.ask(QUOTING, "How did Solberg's outlook for sales change?")
    assert answer.text.split("\n\n") == [
        f"Solberg {name}: {text} [{number}]" for number, (name, text) in enumerate(outlooks.items(), start=1)
    ]
