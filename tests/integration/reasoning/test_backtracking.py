"""Going back in `auto` and `plan_star`: a step is asked for another answer if the next step's is not stated, once.

The question has two films of one title. The director of the first is found first, and no passage says where she was
born.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.ports.reasoning import Answer, Step, Support
from core.trace import Budget, NoteEvent, Trace
from tests.integration.reasoning.good_model import of_role, roles
from tests.integration.reasoning.plan_star_replies import answered, cites, concluded, planned
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, ChatServer, Reply

QUESTION = "In which town was the director of the film The Silver Gate born?"
DIRECTOR = "Who directed the film The Silver Gate?"
TOWN = "In which town was <A1.1> born?"
PLAN = [("Q1.1", DIRECTOR), ("Q2.1", TOWN)]
DOCUMENTS = {
    "first": ("The Silver Gate", "The Silver Gate is a film of 1951. It was directed by Ines Corvo."),
    "second": ("The Silver Gate (1987 film)", "The Silver Gate is a film of 1987, directed by Tomas Arel."),
    "corvo": ("Ines Corvo", "Ines Corvo was a director. She kept horses near the town of Halden."),
    "arel": ("Tomas Arel", "Tomas Arel was a director. He was born in the town of Lindau."),
}
BACK = (
    "step Q1.1 went back: 'Tomas Arel' instead of 'Ines Corvo', since no passage answers what step Q2.1 asks about "
    "'Ines Corvo'"
)
REASONERS = pytest.mark.parametrize("reasoner", ["auto", "plan_star"])


def stepped(*answers: str, title: str = "", call: Call | None = None, support: str = "stated") -> Reply:
    """The reply of a step of `auto`, and of the call for another answer."""
    citations = [{"passage": cites(call, title), "quote": ""}] if call is not None and title else []
    reply = {"answers": answers, "support": support if answers else "none", "unstated": "", "citations": citations}
    return Reply.json(reply | {"query": ""})


def respond(
    call: Call, *, other: tuple[str, ...] = ("Tomas Arel",), second: str = "Lindau", grade: str = "stated"
) -> Reply:
    """Answers as a model would that takes the first film, then the second."""
    told = {
        DIRECTOR: ("Ines Corvo", "The Silver Gate", "stated"),
        TOWN.replace("<A1.1>", "Ines Corvo"): ("", "", "none"),
        TOWN.replace("<A1.1>", "Tomas Arel"): (second, "Tomas Arel" if second else "", grade),
    }
    match call.role:
        case "settle_or_plan":
            steps = [{"id": id, "question": question, "answer": "", "citations": []} for id, question in PLAN]
            return Reply.json({"reasoning": "", "settled": False, "answer": "", "citations": [], "steps": steps})
        case "plan_dag":
            return planned(PLAN)
        case "fill_tags":
            return Reply.json({"question": TOWN.replace("<A1.1>", "Ines Corvo")})
        case "answer_otherwise":
            return stepped(*other, title=r"The Silver Gate \(1987 film\)" if other else "", call=call)
        case "answer_step":
            text, title, support = told[call.question]
            return stepped(*filter(None, [text]), title=title, call=call, support=support)
        case "answer":
            text, title, support = told[call.question]
            cited = [cites(call, title)] if title else []
            return Reply.json({"answer": text, "support": support, "unstated": "", "citations": cited})
    if "Answer: Lindau" not in call.text:
        return concluded("")
    is_open = "Tomas Arel (inferred; not stated: that Tomas Arel is meant, and not Ines Corvo)" in call.text
    reply = {"answer": "Lindau [1]", "support": "inferred" if is_open else "stated"}
    return Reply.json(reply | {"unstated": "that Tomas Arel is meant" if is_open else "", "thoughts": ""})


def step_of(answer: Answer, id: str) -> Step:
    return next(step for step in answer.steps if step.id == id)


async def ask(server: ChatServer, reasoner: str, budget: Budget | None = None) -> tuple[Answer, Trace]:
    return await ReasoningDesk(server, DOCUMENTS).ask(reasoner, QUESTION, budget=budget)


@pytest.fixture
def model(server: ChatServer) -> Callable[..., None]:
    """Lets the scripted model answer as `respond` does with these arguments."""

    def use(**told: object) -> None:
        server.respond = lambda call: respond(call, **told)  # type: ignore[arg-type]

    return use


@pytest.mark.parametrize(
    ("reasoner", "calls"),
    [
        ("auto", ["settle_or_plan", "answer_step", "answer_step", "conclude", "answer_otherwise", "answer_step"]),
        ("plan_star", ["plan_dag", "answer", "fill_tags", "answer", "answer_otherwise", "answer", "conclude"]),
    ],
)
async def test_a_step_that_finds_nothing_goes_back_to_its_parents_next_candidate(
    server: ChatServer, model: Callable[..., None], reasoner: str, calls: list[str]
) -> None:
    model()
    answer, trace = await ask(server, reasoner)
    assert roles(server) == calls
    assert (answer.plain, answer.support) == ("Lindau", Support.INFERRED)
    director, town = step_of(answer, "Q1.1"), step_of(answer, "Q2.1")
    assert (director.answer, director.verdict, director.support) == ("Tomas Arel", "went back", Support.INFERRED)
    assert director.unstated == "that Tomas Arel is meant, and not Ines Corvo"
    assert director.quotes[0].hit.document.key == "second"
    assert (town.question, town.answer) == ("In which town was Tomas Arel born?", "Lindau")
    assert BACK in trace.notes
    assert BACK in [event.text for event in trace.events if isinstance(event, NoteEvent)]
    told = of_role(server, "answer_otherwise")[0]
    assert told.question == DIRECTOR
    assert "Answer: Ines Corvo\nNext step: In which town was Ines Corvo born?\nAnswer: (not found)" in told.text
    assert "likeliest candidate" not in told.text, "the first answer may be right"


@REASONERS
async def test_both_answers_of_the_steps_are_in_the_trace(
    server: ChatServer, model: Callable[..., None], reasoner: str
) -> None:
    model()
    _, trace = await ask(server, reasoner)
    told = [(e.result.id, e.result.answer) for e in trace.events if e.kind == "step"]  # type: ignore[attr-defined]
    directors = [answer for id, answer in told if id == "Q1.1"]
    assert list(dict.fromkeys(directors)) == ["Ines Corvo", "Tomas Arel"]


@pytest.mark.parametrize("other", [(), ("Ines Corvo",), ("the Ines Corvo",)])
@REASONERS
async def test_without_another_answer_the_first_is_kept(
    server: ChatServer, model: Callable[..., None], reasoner: str, other: tuple[str, ...]
) -> None:
    model(other=other)
    answer, trace = await ask(server, reasoner)
    assert roles(server).count("answer_otherwise") == 1
    assert (step_of(answer, "Q1.1").answer, step_of(answer, "Q1.1").verdict) == ("Ines Corvo", "")
    assert answer.abstained
    assert any("and the passages give no other answer; 'Ines Corvo' was kept" in note for note in trace.notes)


@pytest.mark.parametrize(("second", "grade"), [("", "none"), ("Lindau", "inferred")])
@REASONERS
async def test_another_answer_that_leads_to_nothing_stated_is_not_kept(
    server: ChatServer, model: Callable[..., None], reasoner: str, second: str, grade: str
) -> None:
    """A step goes back once, and the steps are then as they were, with the tokens that were spent."""
    model(second=second, grade=grade)
    answer, trace = await ask(server, reasoner)
    assert roles(server).count("answer_otherwise") == 1
    director, town = step_of(answer, "Q1.1"), step_of(answer, "Q2.1")
    assert (director.answer, director.verdict) == ("Ines Corvo", "")
    assert (town.question, town.answer) == ("In which town was Ines Corvo born?", "")
    assert director.tokens > max(e.result.tokens for e in trace.events if e.kind == "step" and e.step == "Q1.1") / 2
    assert any("nor about 'Tomas Arel'; 'Ines Corvo' was kept" in note for note in trace.notes)


@pytest.mark.parametrize("strategy", ["auto:backtrack=false", "plan_star:backtrack=false", "plan_star:preset=paper"])
async def test_an_option_and_the_papers_preset_never_go_back(
    server: ChatServer, model: Callable[..., None], strategy: str
) -> None:
    model()
    answer, trace = await ask(server, strategy)
    assert "answer_otherwise" not in roles(server)
    assert step_of(answer, "Q1.1").answer == "Ines Corvo"
    assert not any("back" in note for note in trace.notes)


@REASONERS
async def test_nothing_that_fails_costs_nothing(server: ChatServer, reasoner: str) -> None:
    """The same calls with the same messages as without the option."""
    server.respond = lambda call: respond(call) if call.question != DIRECTOR else _right(call)
    server.scripts["fill_tags"].extend([Reply.json({"question": TOWN.replace("<A1.1>", "Tomas Arel")})] * 2)
    sent = []
    for option in ("true", "false"):
        server.calls.clear()
        answer, _ = await ask(server, f"{reasoner}:backtrack={option}")
        assert answer.plain == "Lindau"
        sent.append([(call.role, call.messages) for call in server.calls])
    assert sent[0] == sent[1]


def _right(call: Call) -> Reply:
    title = r"The Silver Gate \(1987 film\)"
    if call.role == "answer_step":
        return stepped("Tomas Arel", title=title, call=call)
    return answered("Tomas Arel", cites(call, title))


@pytest.mark.parametrize(("reasoner", "calls"), [("auto", 4), ("plan_star", 4)])
async def test_a_budget_without_room_is_kept_for_the_last_call(
    server: ChatServer, model: Callable[..., None], reasoner: str, calls: int
) -> None:
    """`calls` are made before the step would go back; then three must be left."""
    model()
    answer, trace = await ask(server, reasoner, Budget(calls=calls + 2))
    assert "answer_otherwise" not in roles(server)
    assert roles(server)[-1] == "conclude"
    assert answer.abstained
    assert "step Q1.1 was not asked for another answer: the budget has no room for it" in trace.notes

    server.calls.clear()
    answer, _ = await ask(server, reasoner, Budget(calls=calls + 3))
    assert answer.plain == "Lindau"


@REASONERS
async def test_tokens_are_a_budget_too(server: ChatServer, model: Callable[..., None], reasoner: str) -> None:
    model()
    _, free = await ask(server, reasoner)
    server.calls.clear()
    answer, trace = await ask(server, reasoner, Budget(tokens=free.usage.tokens - 1))
    assert "answer_otherwise" not in roles(server)
    assert trace.usage.tokens < free.usage.tokens
    assert answer.abstained


@REASONERS
async def test_a_budget_that_ends_meanwhile_leaves_the_steps_as_they_were(server: ChatServer, reasoner: str) -> None:
    """The call for another answer takes all tokens that are left."""

    def costly(call: Call) -> Reply:
        reply = respond(call)
        return replace(reply, counted=1_000_000) if call.role == "answer_otherwise" else reply

    server.respond = costly
    answer, trace = await ask(server, reasoner, Budget(tokens=100_000))
    assert roles(server)[-1] == "answer_otherwise"
    assert (step_of(answer, "Q1.1").answer, step_of(answer, "Q1.1").verdict) == ("Ines Corvo", "")
    assert step_of(answer, "Q2.1").question == "In which town was Ines Corvo born?"
    assert answer.abstained
    assert BACK not in trace.notes
    assert any("the budget was used up" in note for note in trace.notes)


async def test_a_parent_that_another_step_needs_is_not_asked_again(server: ChatServer) -> None:
    """The other step may have found what it asked about the first answer."""
    nodes = [*PLAN, ("Q2.2", "Which animals did <A1.1> keep?")]

    def respond_to(call: Call) -> Reply:
        if call.role == "plan_dag":
            return planned(nodes)
        if call.question == nodes[-1][1]:
            return Reply.json({"question": "Which animals did Ines Corvo keep?"})
        if call.question == "Which animals did Ines Corvo keep?":
            return answered("horses", cites(call, "Ines Corvo"))
        return respond(call)

    server.respond = respond_to
    await ask(server, "plan_star")
    assert "answer_otherwise" not in roles(server)


async def test_a_step_with_an_inferred_answer_does_not_go_back(server: ChatServer) -> None:
    """The town of the second director is given as the first one's, as a guess: on real questions most are right."""

    def guess(call: Call) -> Reply:
        if call.role != "answer" or call.question != TOWN.replace("<A1.1>", "Ines Corvo"):
            return respond(call)
        reply = {"answer": "Lindau", "support": "inferred", "unstated": "", "citations": [cites(call, "Tomas Arel")]}
        return Reply.json(reply)

    server.respond = guess
    answer, trace = await ask(server, "plan_star")
    assert "answer_otherwise" not in roles(server)
    assert BACK not in trace.notes
    assert (answer.plain, step_of(answer, "Q2.1").support) == ("Lindau", Support.INFERRED)


async def test_auto_goes_back_at_once_from_a_step_on_the_way(server: ChatServer) -> None:
    """The step after it needs its answer, so that no last call comes first."""
    river = "Which river flows past <A2.1>?"

    def answer_all(call: Call) -> Reply:
        if call.role == "settle_or_plan":
            written = [*PLAN, ("Q3.1", river)]
            steps = [{"id": id, "question": question, "answer": "", "citations": []} for id, question in written]
            return Reply.json({"reasoning": "", "settled": False, "answer": "", "citations": [], "steps": steps})
        if call.question == river.replace("<A2.1>", "Lindau"):
            return stepped("the Oder", title="Lindau", call=call)
        if call.role == "conclude":
            return Reply.json({"thoughts": "", "answer": "the Oder [1]", "support": "inferred", "unstated": ""})
        return respond(call)

    server.respond = answer_all
    desk = ReasoningDesk(server, DOCUMENTS | {"lindau": ("Lindau", "The river Oder flows past Lindau.")})
    answer, trace = await desk.ask("auto:more=0", "Which river flows past the town of the director?")
    steps = ["answer_step", "answer_step", "answer_otherwise", "answer_step", "answer_step"]
    assert roles(server) == ["settle_or_plan", *steps, "conclude"]
    assert BACK in trace.notes
    assert "Tomas Arel (inferred; not stated: that Tomas Arel is meant, and not Ines Corvo)" in server.calls[-1].text
    assert (answer.plain, answer.support) == ("the Oder", Support.INFERRED)
