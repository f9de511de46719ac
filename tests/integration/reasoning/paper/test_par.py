"""`par:preset=paper` is algorithm 1 of PAR RAG (arXiv 2504.16787, version 1): calls, queries and contexts.

`_check` is the algorithm, written from the paper:

1. plan: Q becomes steps (thought, question, action), whatever the actions are;
2. for each step: R = coarse retrieval of q; a = answer from R alone, s = the passages that it cites;
3. R* = E(a) + KG(a), merged without duplicates and sorted by score (section 3.3); KG asks a model for entities;
4. review of (q, a) with R* alone: PASS keeps a, REVISED replaces a and s, UNCONFIDENT is kept as it is (the paper does
   not say more);
5. the question of the next step is refined with the reviewed answer a*;
6. the last call answers Q from the chain of (q, a*, s).
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.ports.retrieval import Hit
from testing.indexed_corpus import Passage
from tests.integration.reasoning.good_model import prompt_of
from tests.integration.reasoning.paper.watching_par import (
    Watched,
    agrees,
    ask,
    fenced_in,
    open_library,
    passages_of,
    titles,
)
from tests.searching import World
from tests.twins.chat_server import Call, ChatServer, Reply

QUESTION = (
    "In which city was the publisher of the novel by the author of Rumble Fish founded, and which state is it in?"
)
PLANNED = [
    ("Who is the author of Rumble Fish?", "Retrieve"),
    ("Who published the coming-of-age novel of that author?", "Retrieve"),
    ("Where was that publisher founded?", "Retrieve"),
    ("Which state is that city in?", "Answer"),
]
ASKED = [
    PLANNED[0][0],
    "Who published the coming-of-age novel of S. E. Hinton?",
    "Where was Viking Press founded?",
    "Which state is New York in?",
]
BOOKS = [
    Passage(
        key="rumble",
        title="Rumble Fish",
        text="Rumble Fish is a novel for young adults. Its author is S. E. Hinton.",
        triples=(("Rumble Fish", "was written by", "S. E. Hinton"),),
    ),
    Passage(
        key="outsiders",
        title="The Outsiders",
        text="The Outsiders is a coming-of-age novel by S. E. Hinton, set in Tulsa, Oklahoma.",
        triples=(("S. E. Hinton", "wrote", "The Outsiders"),),
    ),
    Passage(
        key="viking",
        title="Viking Press",
        text="Viking Press published The Outsiders in 1967. It was founded in New York.",
        triples=(("Viking Press", "published", "The Outsiders"), ("Viking Press", "was founded in", "New York")),
    ),
    Passage(key="york", title="New York", text="New York is a city in the state of New York."),
    *[
        Passage(
            key=f"dell{number}",
            title=f"Dell {number}",
            text=f"Dell reprinted novel number {number}, a book for young readers, in its series Dell Laurel-Leaf.",
            triples=(("Dell", "reprinted", f"Novel {number}"),),
        )
        for number in range(12)
    ],
]
K = 10
STATED = [
    "S. E. Hinton is the author of Rumble Fish.",
    "Dell reprinted the novel in its series Dell Laurel-Leaf.",
    "",
    "The city of New York is in the state of New York.",
]
"""The statement of each preliminary answer a; the third has none, so that its short answer stands for it."""
ANSWERS = ["S. E. Hinton", "Dell", "New York", "New York"]
CITED = ["Rumble Fish", "The Outsiders", "Viking Press", "New York"]
"""The passage that each preliminary answer cites; that of the second does not hold it."""
VERDICTS = ["PASS", "REVISED", "UNCONFIDENT", "PASS"]
REVIEWED = ["S. E. Hinton", "Viking Press", "New York", "New York"]
SOURCES = ["Rumble Fish", "Dell 0", "Viking Press", "New York"]
"""The passages s of the chain: those of the REVISED answer number R*, and replace the first ones."""


def _number(call: Call, title: str) -> int:
    """The number of a passage; 1 where an option that is turned back does not show it."""
    shown = passages_of(call)
    return shown.index(title) + 1 if title in shown else 1


def _step(call: Call) -> int:
    return ASKED.index(call.question) if call.question in ASKED else 0


def _model(call: Call) -> Reply:
    match call.role:
        case "plan":
            steps = [{"thought": "next", "question": question, "action": action} for question, action in PLANNED]
            return Reply.json({"steps": steps})
        case "refine":
            planned = [question for question, _ in PLANNED]
            return Reply.json({"question": ASKED[planned.index(call.question)]})
        case "answer":
            step = _step(call)
            said = {"statement": STATED[step], "answer": ANSWERS[step], "support": "stated", "unstated": ""}
            return Reply.json({**said, "citations": [_number(call, CITED[step])]})
        case "query_entities":
            return Reply.json({"entities": [one for one in ("S. E. Hinton", "New York", "Dell") if one in call.text]})
        case "review":
            step = _step(call)
            if VERDICTS[step] == "REVISED":
                cited = _number(call, SOURCES[step])
                return Reply.json({"status": "REVISED", "answer": f"{REVIEWED[step]} [{cited}]"})
            question = "Which city is Viking Press of?" if VERDICTS[step] == "UNCONFIDENT" else ""
            return Reply.json({"status": VERDICTS[step], "answer": "", "question": question})
    assert call.role == "conclude"
    return Reply.json({"answer": "New York [3], New York [4]", "support": "stated", "unstated": ""})


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[World]:
    async with open_library(tmp_path, BOOKS) as world:
        yield world


def _by_score(near: tuple[Hit, ...], around: tuple[Hit, ...]) -> list[str]:
    """Section 3.3 by hand: each list from 0 to 1, the better score of what is in both, sorted, the best ten."""
    scores: dict[str, float] = {}
    for hits in (near, around):
        low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
        for hit in hits:
            scaled = (hit.score - low) / (high - low) if high > low else 1.0
            scores[hit.document.title] = max(scores.get(hit.document.title, 0.0), scaled)
    return sorted(scores, key=lambda title: -scores[title])[:K]


def _in_turn(near: tuple[Hit, ...], around: tuple[Hit, ...]) -> list[str]:
    turns = [hit.document.title for pair in zip(near, around, strict=False) for hit in pair]
    return list(dict.fromkeys(turns))[:K]


def _check(watched: Watched) -> None:
    """Compares what was watched with algorithm 1."""
    queries = [statement or answer for statement, answer in zip(STATED, ANSWERS, strict=True)]
    order: list[str | tuple[str, str]] = ["plan"]
    for step, question in enumerate(ASKED):
        order += ["refine"] if step else []
        order += [("dense", question), "answer"]
        order += ["query_entities", ("dense", queries[step]), ("fine", queries[step]), "review"]
    assert watched.order == [*order, "conclude"]

    plan, conclude = watched.calls[0], watched.calls[-1]
    assert fenced_in(plan, "question") == [QUESTION]
    assert not passages_of(plan)
    for step, question in enumerate(ASKED):
        coarse, near, around = watched.searches[3 * step : 3 * step + 3]
        assert len(coarse.hits) == len(near.hits) == K
        act, entities, review = (watched.of_role(role)[step] for role in ("answer", "query_entities", "review"))
        assert passages_of(act) == titles(coarse.hits)
        assert fenced_in(act, "question") == [question]
        assert not fenced_in(act, "known")
        assert fenced_in(entities, "document") == [queries[step]]
        assert passages_of(review) == _by_score(near.hits, around.hits)
        assert fenced_in(review, "question") == [question]
        assert not fenced_in(review, "known")
        assert ANSWERS[step] in fenced_in(review, "answer")[0]
        if step:
            refine = watched.of_role("refine")[step - 1]
            assert fenced_in(refine, "question") == [QUESTION, PLANNED[step][0]]
            told = fenced_in(refine, "known")
            assert len(told) == 1
            assert told[0].startswith(f"Question: {ASKED[step - 1]}\nAnswer: {REVIEWED[step - 1]}")

    assert fenced_in(conclude, "question") == [QUESTION]
    assert passages_of(conclude) == SOURCES
    chain = [f"Question: {question}\nAnswer: {answer}" for question, answer in zip(ASKED, REVIEWED, strict=True)]
    findings = fenced_in(conclude, "known")
    assert len(findings) == len(chain)
    for number, (finding, entry) in enumerate(zip(findings, chain, strict=True), start=1):
        assert finding.startswith(entry)
        assert finding.endswith(f"[{number}]")
    rules = conclude.messages[0]["content"]
    assert "link" not in rules
    assert "thoughts" not in rules


async def test_the_preset_is_algorithm_1(library: World, server: ChatServer) -> None:
    server.respond = _model
    watched = await ask(library, server, "par:preset=paper", QUESTION)
    _check(watched)
    assert [step.verdict for step in watched.answer.steps] == VERDICTS
    assert [step.answer for step in watched.answer.steps] == REVIEWED
    pairs = [watched.searches[3 * step + 1 : 3 * step + 3] for step in range(len(ASKED))]
    assert any(_by_score(a.hits, b.hits) != _in_turn(a.hits, b.hits) for a, b in pairs), "the orders can be told apart"
    assert "The Outsiders" not in passages_of(watched.of_role("review")[1]), "R* has not all that an answer cites"


OPTIONS = (
    *("review_query=both", "review_cited=true", "merge=rank", "refine_from=chain", "combine=true", "show_purpose=true"),
    *("guide=true", "review_rounds=1", "evidence=6", "skip_answer_retrieval=true", "skip_supported=true"),
    *("plan=false", "review=false", "searcher=sparse", "k=5", "max_steps=3"),
)


async def test_each_option_of_the_preset_is_watched(library: World, server: ChatServer) -> None:
    """Turned back, each makes the comparison with the algorithm fail."""
    server.respond = _model
    for option in OPTIONS:
        watched = await ask(library, server, f"par:preset=paper,{option}", QUESTION)
        assert not agrees(_check, watched), option


async def test_a_step_without_an_answer_brings_no_passages_to_the_last_call(library: World, server: ChatServer) -> None:
    """The chain has the passages that were cited, and no others."""

    def respond(call: Call) -> Reply:
        if call.role == "answer":
            nothing = {"statement": "", "answer": "", "support": "none", "unstated": "the author of Rumble Fish"}
            return Reply.json({**nothing, "citations": []})
        if call.role == "plan":
            return Reply.json({"steps": [{"thought": "", "question": PLANNED[0][0], "action": "Retrieve"}]})
        if call.role == "review":
            return Reply.json({"status": "UNCONFIDENT", "question": "Who wrote Rumble Fish?"})
        if call.role == "conclude":
            return Reply.json({"answer": "", "support": "none", "unstated": ""})
        return _model(call)

    server.respond = respond
    watched = await ask(library, server, "par:preset=paper", PLANNED[0][0])
    assert watched.roles == ["plan", "answer", "query_entities", "review", "conclude"]
    assert [query for _, query in watched.queries] == [PLANNED[0][0], *["the author of Rumble Fish"] * 2]
    assert not passages_of(watched.calls[-1])
    assert "(not found)" in prompt_of(watched.calls[-1])
    filled = await ask(library, server, "par:preset=paper,fill_gaps=true", PLANNED[0][0])
    assert passages_of(filled.calls[-1])
