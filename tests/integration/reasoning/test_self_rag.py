"""`self_rag`: whether to retrieve, a candidate a passage, the critique's scores, the best kept; alone and in others."""

import threading
from collections.abc import Collection
from typing import Any

import pytest

from core.errors import BudgetExhausted
from core.events import ReviewEvent
from core.ports.reasoning import Question, Quote, Support, Unsupported
from core.trace import Budget, Trace
from reasoning.citations.quotes import select_quote
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer
from reasoning.shared.self_reflection import ReflectionSettings, answer_with_reflection
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, Reply

QUESTION = "Which novel did Viking Press publish in 1967?"


def answered(text: str, support: str = "stated", *citations: int) -> dict[str, object]:
    return {"answer": text, "support": support, "unstated": "", "citations": list(citations or [1])}


NOTHING = {"answer": "", "support": "none", "unstated": "the other side", "citations": []}


class Critic:
    """Retrieval is needed; `answers` and `judged` are by the passages that are shown, and those that are not named do
    not hold the answer. `inferred` are the passages whose answers are inferred. An answer cites the passages `cites`.
    """

    def __init__(
        self,
        answers: dict[str, str],
        judged: dict[str, tuple[bool, str, int]],
        retrieve: bool = True,
        inferred: Collection[str] = (),
        cites: Collection[int] = (1,),
    ) -> None:
        self._answers = answers
        self._judged = judged
        self._retrieve = retrieve
        self._inferred = inferred
        self._cites = cites

    def __call__(self, call: Call) -> Reply:
        key = call.labels.get("passages", "")
        if call.role == "need_retrieval":
            return Reply.json({"retrieve": self._retrieve})
        if call.role == "answer":
            found = self._answers.get(key)
            support = "inferred" if key in self._inferred else "stated"
            return Reply.json(answered(found, support, *self._cites) if found else NOTHING)
        assert call.role == "critique"
        relevant, support, usefulness = self._judged[key]
        return Reply.json({"relevant": relevant, "support": support, "usefulness": usefulness})


async def test_the_best_of_the_candidates_is_kept(desk: ReasoningDesk) -> None:
    answers = {"rumble": "Rumble Fish", "outsiders": "The Outsiders", "viking": "New York"}
    judged = {"rumble": (True, "none", 5), "outsiders": (True, "full", 4), "viking": (False, "partial", 1)}
    desk.server.respond = Critic(answers, judged)
    answer, trace = await desk.ask("self_rag", QUESTION)
    assert answer.text == "The Outsiders [1]"
    assert answer.citations[0].quote == "The Outsiders was published by Viking Press in 1967."
    ((name, query),) = desk.searched
    assert (name, query.text, query.k, query.private) == ("bridged", QUESTION, 5, False)
    drafts = [call for call in desk.server.calls if call.role == "answer"]
    assert all(call.text.count("<passage ") == 1 for call in drafts)
    assert {call.labels["passages"] for call in drafts} == {"rumble", "outsiders", "viking", "hinton"}
    critiques = [call for call in desk.server.calls if call.role == "critique"]
    assert len(critiques) == 3, "a passage that does not hold the answer has no candidate"
    assert any("<answer>\nThe Outsiders\n</answer>" in call.text for call in critiques)
    verdicts = {event.text: event.verdict for event in trace.events if isinstance(event, ReviewEvent)}
    assert verdicts["Rumble Fish"] == "relevant, support none, use 5"
    (step,) = answer.steps
    assert step.tokens == trace.usage.tokens
    assert (step.id, step.answer, len(step.hits)) == ("1", "The Outsiders", 4)


@pytest.mark.parametrize(
    ("weights", "kept"),
    [
        ("", "The Outsiders"),  # 1 + 1 + .5·(.5) before 1 + 0 + .5·1
        (",support_weight=0", "Rumble Fish"),  # 1 + .25 after 1 + .5
        (",support_weight=0,usefulness_weight=0", "The Outsiders"),  # equal: the passage that ranks first
    ],
)
async def test_the_weights_choose(desk: ReasoningDesk, weights: str, kept: str) -> None:
    answers = {"rumble": "Rumble Fish", "outsiders": "The Outsiders"}
    desk.server.respond = Critic(answers, {"rumble": (True, "none", 5), "outsiders": (True, "full", 4)})
    answer, _ = await desk.ask(f"self_rag:retrieve=always,together=false{weights}", QUESTION)
    assert answer.plain == kept
    assert "need_retrieval" not in {call.role for call in desk.server.calls}


async def test_candidates_are_written_side_by_side_and_bounded(desk: ReasoningDesk) -> None:
    critic = Critic(
        {"outsiders": "The Outsiders", "viking": "Viking Press"},
        {"outsiders": (True, "full", 5), "viking": (True, "full", 5)},
    )
    together = threading.Barrier(2, timeout=60)

    def respond(call: Call) -> Reply:
        if call.role == "answer":
            together.wait()
        return critic(call)

    desk.server.respond = respond
    answer, _ = await desk.ask("self_rag:retrieve=always,candidates=2,k=3", QUESTION)
    assert answer.plain == "The Outsiders"
    assert sorted(call.role for call in desk.server.calls) == ["answer"] * 2 + ["critique"] * 2
    assert len(answer.steps[0].hits) == 3


@pytest.mark.parametrize("options", ["", ":retrieve=never"])
async def test_what_need_not_be_looked_up_comes_from_memory(desk: ReasoningDesk, options: str) -> None:
    desk.server.scripts["conclude"].append(Reply.json({"answer": "Four"}))
    desk.server.respond = Critic({}, {}, retrieve=False)
    answer, trace = await desk.ask(f"self_rag{options}", "What is two and two?")
    assert (answer.text, answer.support, answer.citations, desk.searched) == ("Four", Support.MEMORY, (), [])
    assert "self_rag (step 1): answered from the model's memory; nothing is cited" in trace.notes
    assert ("need_retrieval" in {call.role for call in desk.server.calls}) == (options == "")


async def test_a_strict_request_is_not_answered_from_memory(desk: ReasoningDesk) -> None:
    desk.server.respond = Critic({}, {}, retrieve=False)
    answer, _ = await desk.ask("self_rag", "Hinton?", unsupported=Unsupported.ABSTAIN)
    assert answer.abstained
    assert {call.role for call in desk.server.calls} == {"answer"}, "nobody is asked whether to retrieve"


@pytest.mark.parametrize(("question", "calls"), [("xyzzy", 0), (QUESTION, 5)])
async def test_without_a_candidate_it_abstains(desk: ReasoningDesk, question: str, calls: int) -> None:
    """Four passages are read alone, then all together."""
    desk.server.respond = Critic({}, {})
    answer, _ = await desk.ask("self_rag", question)
    assert answer.abstained
    assert answer.steps[0].support is Support.NONE
    assert len([call for call in desk.server.calls if call.role == "answer"]) == calls
    if calls:
        assert answer.note == "Not stated: the other side."


async def test_a_comparison_is_answered_from_all_passages_together(desk: ReasoningDesk) -> None:
    desk.server.respond = Critic(
        {"rumble": "no", "outsiders rumble hinton viking": "yes"}, {}, inferred={"rumble"}, cites=(1, 2, 3, 4)
    )
    asked = "Were Rumble Fish by Hinton and The Outsiders of Viking Press published together?"
    answer, _ = await desk.ask("self_rag", asked)
    together = desk.server.calls[-1]
    assert (together.role, together.text.count("<passage ")) == ("answer", 4)
    assert together.labels["passages"] == "outsiders rumble hinton viking"
    assert "critique" not in {call.role for call in desk.server.calls}, "what no passage states is not criticised"
    assert (answer.plain, answer.support) == ("yes", Support.STATED)


@pytest.mark.parametrize(
    ("judged", "together", "kept", "support"),
    [
        ((True, "partial", 5), "The Outsiders", "The Outsiders", Support.STATED),
        ((True, "partial", 5), "", "Rumble Fish", Support.INFERRED),
        ((False, "none", 1), "", "Rumble Fish", Support.INFERRED),
        ((True, "full", 5), "The Outsiders", "Rumble Fish", Support.STATED),
    ],
)
async def test_a_candidate_that_its_critique_doubts_is_inferred(
    desk: ReasoningDesk, judged: tuple[bool, str, int], together: str, kept: str, support: Support
) -> None:
    both = {"rumble": "Rumble Fish", "outsiders rumble": together}
    desk.server.respond = Critic(both, {"rumble": judged})
    answer, _ = await desk.ask("self_rag:k=2", "Rumble Fish and The Outsiders were published in 1967 by Viking Press?")
    assert (answer.plain, answer.support) == (kept, support)


async def test_a_supported_candidate_wins_over_a_more_useful_one(desk: ReasoningDesk) -> None:
    both = {"rumble": "Rumble Fish", "outsiders": "The Outsiders"}
    judged = {"rumble": (False, "full", 3), "outsiders": (True, "partial", 5)}
    desk.server.respond = Critic(both, judged)
    answer, _ = await desk.ask("self_rag", QUESTION)
    assert (answer.plain, answer.support) == ("Rumble Fish", Support.STATED)
    answer, _ = await desk.ask("self_rag:together=false", QUESTION)
    assert (answer.plain, answer.support) == ("The Outsiders", Support.INFERRED)


async def test_a_single_passage_is_not_read_again(desk: ReasoningDesk) -> None:
    desk.server.respond = Critic({"outsiders": "The Outsiders"}, {}, inferred={"outsiders"})
    answer, _ = await desk.ask("self_rag:retrieve=always,k=1", QUESTION)
    assert [call.role for call in desk.server.calls] == ["answer"]
    assert (answer.plain, answer.support) == ("The Outsiders", Support.INFERRED)


async def test_without_reading_together_what_is_inferred_is_criticised_too(desk: ReasoningDesk) -> None:
    """A stated answer counts more than an inferred one with the same critique."""
    both = {"rumble": "Rumble Fish", "outsiders": "The Outsiders"}
    judged = {"rumble": (True, "full", 5), "outsiders": (True, "full", 5)}
    desk.server.respond = Critic(both, judged, inferred={"outsiders"})
    answer, _ = await desk.ask("self_rag:together=false", QUESTION)
    assert [call.role for call in desk.server.calls].count("critique") == 2
    assert (answer.plain, answer.support) == ("Rumble Fish", Support.STATED)
    desk.server.respond = Critic({"outsiders": "The Outsiders"}, judged, inferred={"outsiders"})
    answer, _ = await desk.ask("self_rag:together=false", QUESTION)
    assert (answer.plain, answer.support) == ("The Outsiders", Support.INFERRED)


async def test_it_solves_a_node_of_others(desk: ReasoningDesk) -> None:
    desk.server.respond = Critic({"outsiders": "1967"}, {"outsiders": (True, "full", 5)})
    passage = desk.hits["rumble"]
    quote: Quote = select_quote(passage, "S. E. Hinton")
    known = [KnownAnswer(question="Who wrote Rumble Fish?", answer="S. E. Hinton", quotes=(quote,))]
    session = _session(desk)
    said = await answer_with_reflection(
        session, "When was The Outsiders published?", ReflectionSettings(k=2), step="Q2.1", known=known
    )
    assert (said.text, said.support, said.cited) == ("1967", Support.STATED, said.shown)
    assert session.found("Q2.1")[0].document.key == "outsiders"
    assert desk.searched[0][1].private
    asked = [call for call in desk.server.calls if call.role in {"need_retrieval", "answer"}]
    assert all("Answer: S. E. Hinton" in call.text for call in asked)
    given = await answer_with_reflection(
        session, "When?", ReflectionSettings(retrieve="always"), passages=[desk.hits["rumble"], desk.hits["outsiders"]]
    )
    assert (given.text, len(desk.searched)) == ("1967", 1)
    asked_before = len(desk.server.calls)
    desk.server.respond = lambda _: Reply.json(answered("Hinton", "stated") | {"retrieve": False, "citations": []})
    known_already = await answer_with_reflection(session, "When?", ReflectionSettings(), known=known, purpose=QUESTION)
    assert (known_already.text, known_already.support, known_already.shown) == ("Hinton", Support.STATED, ())
    assert [call.role for call in desk.server.calls[asked_before:]] == ["need_retrieval", "answer"]
    assert f"<question>\n{QUESTION}\n</question>" in desk.server.calls[-1].text
    await desk.models.close()


async def test_a_budget_that_ends_inside_comes_out_as_itself(desk: ReasoningDesk) -> None:
    desk.server.respond = Critic({}, {})
    session = _session(desk, Trace(budget=Budget(calls=1)))
    with pytest.raises(BudgetExhausted):
        await answer_with_reflection(session, QUESTION, ReflectionSettings(retrieve="always"))
    await desk.models.close()


def _session(desk: ReasoningDesk, trace: Any = None) -> Session:
    question = Question(corpus=desk.corpus, text=QUESTION)
    return Session("self_rag", question, desk.models, desk.backends.named_searcher(""), trace or Trace())
