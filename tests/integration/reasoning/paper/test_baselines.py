"""`preset=paper` of `ircot`, `react`, `self_rag` and `decompose`: calls, queries and contexts as in their papers.

Each `_check_…` is a paper's algorithm. The options of the preset are turned back one by one, which must be noticed.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.ports.reasoning import Support
from core.trace import Trace
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

QUESTION = "When was the novel by the author of Rumble Fish published by Viking Press?"
BOOKS = [
    Passage(key="rumble", title="Rumble Fish", text="Rumble Fish is a novel. Its author is S. E. Hinton."),
    Passage(key="outsiders", title="The Outsiders", text="The Outsiders is a novel by S. E. Hinton, set in Tulsa."),
    Passage(key="viking", title="Viking Press", text="Viking Press published The Outsiders in 1967."),
    *[
        Passage(key=f"dell{n}", title=f"Dell {n}", text=f"Dell published novel number {n} for young readers.")
        for n in range(20)
    ],
]


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[World]:
    async with open_library(tmp_path, BOOKS) as world:
        yield world


async def _all_noticed(
    library: World, server: ChatServer, name: str, options: Sequence[str], check: Callable[[Watched], None]
) -> None:
    """Each of the options, beside the preset, makes the comparison fail."""
    for option in options:
        watched = await ask(library, server, f"{name}:preset=paper,{option}", QUESTION)
        assert not agrees(check, watched), option


def _concluded(text: str) -> Reply:
    return Reply.json({"thoughts": "", "answer": text, "support": "stated", "unstated": ""})


# IRCoT (arXiv 2212.10509, section 3): retrieve with the question; then, in turn, write one sentence from the question,
# the passages and the sentences so far, and retrieve with that sentence. It ends with a sentence that has "answer is",
# or after eight. At most fifteen paragraphs are collected. A reader answers from all of them, and not from the chain.

_K, _MOST_COLLECTED, _MOST_SENTENCES = 4, 15, 8
WRITTEN = [
    "Rumble Fish is a novel by S. E. Hinton. What else did Hinton write?",
    "Which novel of Hinton did Viking Press publish?",
    "Which novel of Hinton did Viking Press publish?",
    "Which one is it?",
    "The Outsiders was published in 1967.",
    "So the answer is: 1967.",
]
"""Replies: one with two sentences, and then sentences that ask, repeat and find nothing new, which are kept alike."""
SENTENCES = ["Rumble Fish is a novel by S. E. Hinton.", *WRITTEN[1:]]


def _thinks(sentences: Sequence[str]) -> Callable[[Call], Reply]:
    left = list(sentences)

    def respond(call: Call) -> Reply:
        if call.role == "next_sentence":
            text = left.pop(0) if left else "The answer is unknown."
            return Reply.json({"sentence": text, "kind": "need" if text.endswith("?") else "fact", "support": "none"})
        return _concluded("1967 [1]")

    return respond


def _check_ircot(watched: Watched, sentences: Sequence[str] = SENTENCES) -> None:
    collected: list[str] = []
    order: list[str | tuple[str, str]] = []
    searches = list(watched.searches)
    thoughts = watched.of_role("next_sentence")
    assert len(thoughts) == len(sentences)
    for number, query in enumerate([QUESTION, *sentences[:-1]]):
        if len(collected) < _MOST_COLLECTED:  # nothing that a later search finds could be kept
            order.append(("sparse", query))
            assert searches
            found = searches.pop(0)
            assert found.query == query
            assert len(found.hits) <= _K if number else len(found.hits) == _K
            collected += [title for title in titles(found.hits) if title not in collected]
            collected = collected[:_MOST_COLLECTED]
        order.append("next_sentence")
        assert passages_of(thoughts[number]) == collected
        assert fenced_in(thoughts[number], "question") == [QUESTION]
        assert fenced_in(thoughts[number], "known") == ([" ".join(sentences[:number])] if number else [])
        assert prompt_of(thoughts[number]).endswith("</known>" if number else "</question>")
    assert watched.order == [*order, "conclude"]
    reader = watched.calls[-1]
    assert passages_of(reader) == collected
    assert fenced_in(reader, "question") == [QUESTION]
    assert not fenced_in(reader, "known")
    assert "step by step" in reader.text


async def test_ircot_alternates_sentences_and_retrievals(library: World, server: ChatServer) -> None:
    server.respond = _thinks(WRITTEN)
    watched = await ask(library, server, "ircot:preset=paper", QUESTION)
    _check_ircot(watched)
    assert [step.support for step in watched.answer.steps[:2]] == [Support.STATED, Support.INFERRED]
    for option in ("needs=true", "k=3", "max_passages=5", "max_sentences=4", "reader=direct", "searcher=dense"):
        server.respond = _thinks(WRITTEN)
        await _all_noticed(library, server, "ircot", [option], _check_ircot)


async def test_ircot_collects_fifteen_paragraphs_and_ends_after_eight_sentences(
    library: World, server: ChatServer
) -> None:
    sentences = [f"Dell published novel number {n}." for n in (1, 7, 13, 19, 4, 5, 6, 8, 9, 10)]
    server.respond = _thinks(sentences)
    watched = await ask(library, server, "ircot:preset=paper", QUESTION)
    _check_ircot(watched, sentences[:_MOST_SENTENCES])
    assert watched.roles == ["next_sentence"] * _MOST_SENTENCES + ["conclude"]
    server.respond = _thinks(sentences)
    many = await ask(library, server, "ircot:preset=paper,k=8", QUESTION)
    assert [len(passages_of(call)) for call in many.calls[-3:]] == [_MOST_COLLECTED] * 3
    assert len(many.searches) < _MOST_SENTENCES, "nothing is searched for that could not be kept"


async def test_ircot_takes_a_sentence_in_prose_and_ends_with_none(library: World, server: ChatServer) -> None:
    server.scripts["next_sentence"].extend([Reply(text="Rumble Fish is a novel [1]. It is good.")] * 2)
    server.respond = _thinks([""])
    watched = await ask(library, server, "ircot:preset=paper", QUESTION)
    assert [query for _, query in watched.queries] == [QUESTION, "Rumble Fish is a novel."]
    assert watched.roles == ["next_sentence"] * 3 + ["conclude"], "the first reply is asked for twice"


# ReAct (arXiv 2210.03629, section 3): thought, action and observation in turn, at most seven times for HotpotQA, all in
# one context that grows. A search brings one passage. The action `finish` ends with the answer; without it there is
# none.

_MOVES = 7
QUERIES = ["Rumble Fish", "novel of S. E. Hinton", "Rumble Fish novel", "The Outsiders Viking Press"]


def _moves(*queries: str, finish: str = "") -> Callable[[Call], Reply]:
    def respond(call: Call) -> Reply:
        if call.role != "next_thought":
            return _concluded("1967 [1]")
        made = len(fenced_in(call, "known"))
        said: dict[str, Any] = {"thought": f"Thought number {made}.", "citations": []}
        if finish and made == len(queries):
            number = passages_of(call).index("Viking Press") + 1
            return Reply.json({**said, "action": "finish", "input": finish, "support": "stated", "citations": [number]})
        return Reply.json({**said, "action": "search", "input": queries[made % len(queries)], "support": "none"})

    return respond


def _check_react(watched: Watched, queries: Sequence[str], calls: int) -> None:
    assert watched.roles == ["next_thought"] * calls
    order = [one for query in queries for one in ("next_thought", ("bridged", query))]
    assert watched.order == [*order, *["next_thought"] * (calls - len(queries))]
    assert [len(search.hits) for search in watched.searches] == [1] * len(queries)
    context: list[str] = []
    for number, call in enumerate(watched.calls):
        assert passages_of(call) == context
        moves = fenced_in(call, "known")
        assert len(moves) == number
        for place, move in enumerate(moves):
            (title,) = titles(watched.searches[place].hits)
            assert move.splitlines()[:2] == [
                f"Thought {place + 1}: Thought number {place}.",
                f"Search {place + 1}: {queries[place]}",
            ]
            assert f"[{context.index(title) + 1}]" in move.splitlines()[2]
        assert fenced_in(call, "question") == [QUESTION]
        assert "left" not in prompt_of(call)
        assert "last move" not in prompt_of(call)
        if number < len(queries):
            context += [title for title in titles(watched.searches[number].hits) if title not in context]


async def test_react_searches_until_it_finishes(library: World, server: ChatServer) -> None:
    def check(watched: Watched) -> None:
        _check_react(watched, QUERIES, len(QUERIES) + 1)

    server.respond = _moves(*QUERIES, finish="1967")
    watched = await ask(library, server, "react:preset=paper", QUESTION)
    check(watched)
    assert titles(watched.searches[0].hits) == titles(watched.searches[2].hits), "a search that finds nothing new"
    assert watched.answer.plain == "1967"
    await _all_noticed(
        library, server, "react", ["further=true", "tell_left=true", "k=2", "rounds=3", "searcher=dense"], check
    )


async def test_react_has_no_answer_after_seven_moves(library: World, server: ChatServer) -> None:
    def check(watched: Watched) -> None:
        _check_react(watched, [QUERIES[number % len(QUERIES)] for number in range(_MOVES)], _MOVES)
        assert watched.answer.abstained

    server.respond = _moves(*QUERIES)
    check(await ask(library, server, "react:preset=paper", QUESTION))
    await _all_noticed(library, server, "react", ["conclude=true", "rounds=8", "rounds=5", "further=true"], check)


# Self-RAG (arXiv 2310.11511, section 3.3), an answer being one segment: decide whether to retrieve; if so, there is one
# candidate for each of five passages, each criticised; the candidate with the best 1.0·relevance + 1.0·support +
# 0.5·usefulness is the answer. Without retrieval the model answers by itself.

_CANDIDATES = 5
_WEIGHTS = (1.0, 1.0, 0.5)
_SUPPORT = {"full": 1.0, "partial": 0.5, "none": 0.0}
JUDGED: list[tuple[bool, str, int]] = [
    (True, "none", 5), (True, "full", 3), (False, "full", 5), (True, "full", 5), (True, "partial", 5)
]  # fmt: skip
"""What the critique says of the candidate of each passage. The fourth is the best; without one of the weights, or with
its own word that it is inferred, an earlier one would be as good.
"""


def _best() -> int:
    def score(judged: tuple[bool, str, int]) -> float:
        relevant, support, usefulness = judged
        parts = (float(relevant), _SUPPORT[support], (usefulness - 3) / 2)
        return sum(weight * part for weight, part in zip(_WEIGHTS, parts, strict=True))

    return max(range(_CANDIDATES), key=lambda number: score(JUDGED[number]))


def _reflects(ranked: Sequence[str], *, retrieve: bool) -> Callable[[Call], Reply]:
    """`ranked` are the titles of the passages for the question, best first. A candidate is its passage's title."""

    def respond(call: Call) -> Reply:
        shown = passages_of(call)
        match call.role:
            case "need_retrieval":
                return Reply.json({"retrieve": retrieve})
            case "answer":
                support = "inferred" if shown == [ranked[3]] else "stated"
                return Reply.json({"answer": shown[0], "support": support, "unstated": "", "citations": [1]})
            case "critique":
                judged = dict(zip(ranked, JUDGED, strict=False)).get(shown[0], (False, "none", 1))
                return Reply.json(dict(zip(("relevant", "support", "usefulness"), judged, strict=True)))
        return Reply.json({"answer": "1967"})

    return respond


def _check_self_rag(watched: Watched) -> None:
    assert watched.queries == [("dense", QUESTION)]
    found = titles(watched.searches[0].hits)
    assert len(found) == _CANDIDATES
    assert watched.order[:2] == ["need_retrieval", ("dense", QUESTION)]
    assert sorted(watched.roles[1:]) == ["answer"] * _CANDIDATES + ["critique"] * _CANDIDATES
    for role in ("answer", "critique"):
        calls = watched.of_role(role)
        assert sorted(map(passages_of, calls)) == sorted([title] for title in found), "a passage each"
        assert all(fenced_in(call, "question") == [QUESTION] for call in calls)
    for call in watched.of_role("critique"):
        assert fenced_in(call, "answer") == passages_of(call), "each candidate with its own passage"
    assert watched.answer.plain == found[_best()]


async def test_self_rag_keeps_the_best_of_five_candidates(library: World, server: ChatServer) -> None:
    found = await library.searcher("dense").search(library.query(QUESTION, k=8), Trace())
    server.respond = _reflects(titles(found.hits), retrieve=True)
    _check_self_rag(await ask(library, server, "self_rag:preset=paper", QUESTION))
    options = [
        *("together=true", "own_grade=true", "relevance_weight=0", "support_weight=0", "usefulness_weight=0"),
        *("k=8,candidates=8", "candidates=3", "retrieve=always", "searcher=sparse"),
    ]
    await _all_noticed(library, server, "self_rag", options, _check_self_rag)


async def test_self_rag_answers_by_itself_where_nothing_has_to_be_retrieved(library: World, server: ChatServer) -> None:
    server.respond = _reflects((), retrieve=False)
    watched = await ask(library, server, "self_rag:preset=paper", QUESTION)
    assert watched.order == ["need_retrieval", "conclude"]
    assert not passages_of(watched.calls[-1])
    assert (watched.answer.plain, watched.answer.support) == ("1967", Support.MEMORY)


# Query decomposition as the authors of Plan*RAG run it (arXiv 2410.20753): the question becomes sub-questions that do
# not depend on one another; five passages are retrieved once, with the question; the sub-questions are answered one
# after the other from them, each with the answers before it; a last call answers the question from all answers.

PARTS = [
    "Who is the author of Rumble Fish?",
    "Which novel did Viking Press publish?",
    "When was The Outsiders published?",
]
FOUND = ["S. E. Hinton", "The Outsiders", "1967"]


def _splits(parts: Sequence[str]) -> Callable[[Call], Reply]:
    def respond(call: Call) -> Reply:
        match call.role:
            case "split_question":
                return Reply.json({"questions": parts})
            case "answer":
                answer = FOUND[PARTS.index(call.question)] if call.question in PARTS else "1967"
                return Reply.json({"answer": answer, "support": "inferred", "unstated": "", "citations": [1]})
        return Reply.json({"answer": "1967 [1]", "support": "inferred", "unstated": ""})

    return respond


def _check_decompose(watched: Watched, parts: Sequence[str] = PARTS) -> None:
    answers = FOUND if list(parts) == PARTS else ["1967"]
    assert watched.order == ["split_question", ("dense", QUESTION), *["answer"] * len(parts), "conclude"]
    found = titles(watched.searches[0].hits)
    assert len(found) == 5
    for number, call in enumerate(watched.of_role("answer")):
        assert passages_of(call) == found
        assert fenced_in(call, "question") == [parts[number]]
        known = fenced_in(call, "known")
        assert len(known) == number
        for place, one in enumerate(known):
            assert one.startswith(f"Question: {parts[place]}\nAnswer: {answers[place]}")
    last = watched.calls[-1]
    assert fenced_in(last, "question") == [QUESTION]
    assert [one.splitlines()[0] for one in fenced_in(last, "known")] == [f"Question: {part}" for part in parts]


async def test_decompose_answers_in_sequence_on_the_passages_of_the_question(
    library: World, server: ChatServer
) -> None:
    server.respond = _splits(PARTS)
    _check_decompose(await ask(library, server, "decompose:preset=paper", QUESTION))
    options = ["retrieve=node", "k=3", "max_questions=2", "searcher=sparse"]
    await _all_noticed(library, server, "decompose", options, _check_decompose)


async def test_decompose_has_no_shortcut_for_a_question_that_is_not_split(library: World, server: ChatServer) -> None:
    def check(watched: Watched) -> None:
        _check_decompose(watched, [QUESTION])

    server.respond = _splits([QUESTION])
    check(await ask(library, server, "decompose:preset=paper", QUESTION))
    await _all_noticed(library, server, "decompose", ["shortcut=true"], check)
