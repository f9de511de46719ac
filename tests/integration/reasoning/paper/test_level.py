"""`level:preset=paper` does what LevelRAG's paper says (arXiv 2502.18139), call by call, over real stores.

The algorithms are written out here from the paper: algorithm 1 of the sparse searcher, the rewriting of the dense one,
and the loop of the high-level searcher. They retrieve by themselves, and are given the same words as the preset is by
the scripted model. Then both logs are compared: which calls were made in which order, with which queries, and what each
call was shown.
"""

import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

from core.trace import Budget
from retrieval.backends import WebAccess
from stores.searxng import SearxngWebSearch
from testing.indexed_corpus import Passage
from tests.integration.reasoning.paper.watching_stores import Act, Watched, ask_and_watch, keys_of, retrieve, step_of
from tests.searching import World, open_world
from tests.twins.chat_server import Call, ChatServer, Reply
from tests.twins.searxng_server import SearxngServer

PRESET = "level:preset=paper"
K = 10
DEPTH = 3
MOST_REFINED = 27
DENSE_REWRITES = 3
OPERATIONS = ("extend", "emphasize", "filter")
"""In the order of algorithm 1."""

QUESTION = "Where was the author of Rumble Fish born?"
BOOKS = [
    Passage(key="novel", title="Rumble Fish", text="The novel Rumble Fish was written by S. E. Hinton."),
    Passage(key="film", title="Rumble Fish", text="Rumble Fish is a film by Francis Ford Coppola."),
    Passage(key="hinton", title="S. E. Hinton", text="S. E. Hinton is an author. She was born in Tulsa, Oklahoma."),
    Passage(key="tulsa", title="Tulsa", text="Tulsa is a city in Oklahoma, on the Arkansas River."),
    Passage(key="kitchen", title="Fish", text="A rumble came from the kitchen, where the fish is cooked."),
    *(Passage(key=f"other{n}", title=f"Novel {n}", text=f"Novel number {n} has an author, too.") for n in range(12)),
]
FIRST_WORDS = ["Rumble Fish", "author", "Susan Eloise Hinton"]
"""No passage has the last one as a phrase."""

WORDS = {
    "extend": lambda asked: f"extension{asked}",
    "emphasize": lambda asked: ("Rumble Fish", "author", f"emphasis{asked}")[asked % 3],
    "filter": lambda asked: "author" if asked == 4 else ("Coppola", f"noise{asked}")[asked % 2],
}
"""The word for an operation, by how often the model was asked for one. Most words are in no passage, so that the same
passages are found again.
"""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as scripted:
        yield scripted


@pytest.fixture
def web() -> Iterator[SearxngServer]:
    results = ({"url": "https://one.example/hinton", "title": "Hinton", "content": "S. E. Hinton lives in Tulsa."},)
    with SearxngServer(results) as searxng:
        yield searxng


@pytest.fixture
async def world(tmp_path: Path, web: SearxngServer) -> AsyncIterator[World]:
    access = WebAccess(search=SearxngWebSearch(url=web.url), after_private=True)
    async with open_world(tmp_path, web=access) as opened:
        await opened.put(BOOKS)
        yield opened


@dataclass(frozen=True, kw_only=True)
class KeywordQuery:
    """Keywords with weights, the latest words at the end, and excluded words, as the paper writes them for Lucene."""

    weights: tuple[tuple[str, int], ...]
    excluded: tuple[str, ...] = ()

    def refine(self, operation: str, word: str) -> "KeywordQuery":
        """Extend appends a keyword. Emphasize raises its weight by one; a keyword that is missing comes first. Filter
        excludes a word, or drops a keyword of the query.
        """
        known = dict(self.weights)
        if operation == "extend":
            return replace(self, weights=(*self.weights, (word, 1)))
        if operation == "emphasize":
            raised = tuple((one, weight + (one == word)) for one, weight in self.weights)
            return replace(self, weights=raised if word in known else ((word, 1), *self.weights))
        if word in known:
            return replace(self, weights=tuple(pair for pair in self.weights if pair[0] != word))
        return replace(self, excluded=(*self.excluded, word))

    def __str__(self) -> str:
        keywords = [_quoted(word) + (f"^{weight}" if weight > 1 else "") for word, weight in self.weights]
        return " ".join([*keywords, *(f"-{_quoted(word)}" for word in self.excluded)])


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


@dataclass(kw_only=True)
class Algorithms:
    """The paper's low-level searchers. `verdicts` are those of the verifier, in order; then nothing is enough."""

    world: World
    verdicts: deque[bool] = field(default_factory=deque)
    acts: list[Act] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    current: list[str] = field(default_factory=list)
    """The query that each call to refine was shown."""

    async def sparse(self, question: str, words: list[str]) -> tuple[str, ...]:
        """Algorithm 1: breadth first, first in first out."""
        self.acts.append(Act("rewrite_keywords", question))
        first = KeywordQuery(weights=tuple((word, 1) for word in words))
        queue, known = deque([(first, 0)]), {str(first)}
        while True:
            query, depth = queue.popleft()
            keys = await self._retrieve("sparse", str(query), "sparse:syntax=lucene")
            if self._is_enough(question, keys):
                return keys
            if depth < DEPTH:
                for operation in OPERATIONS:
                    if len(known) > MOST_REFINED:  # the first query is none of them
                        break
                    self.acts.append(Act(f"{operation}_query", question, keys))
                    self.current.append(str(query))
                    refined = query.refine(operation, WORDS[operation](self.asked[operation]))
                    self.asked[operation] += 1
                    if str(refined) not in known:
                        known.add(str(refined))
                        queue.append((refined, depth + 1))
            if not queue:
                return keys

    async def dense(self, question: str) -> tuple[str, ...]:
        """Search, verify, rewrite: first from the question alone, then also from what was retrieved."""
        text = question
        for rewriting in range(DENSE_REWRITES + 1):
            keys = await self._retrieve("dense", text, "dense")
            if self._is_enough(question, keys) or rewriting == DENSE_REWRITES:
                return keys
            self.acts.append(Act("pseudo_document", question, keys if rewriting else ()))
            text = f"{question} {pseudo_document(rewriting)}"
        raise AssertionError("the last search returns")

    async def _retrieve(self, name: str, text: str, searcher: str) -> tuple[str, ...]:
        keys = await retrieve(self.world, searcher, text, K)
        self.acts.append(Act(name, text, keys))
        return keys

    def _is_enough(self, question: str, keys: tuple[str, ...]) -> bool:
        self.acts.append(Act("verify", question, keys))
        return self.verdicts.popleft() if self.verdicts else False


def pseudo_document(rewriting: int) -> str:
    return f"S. E. Hinton was born in a city of Oklahoma, as document {rewriting} says."


def low_level(*verdicts: bool) -> Callable[[Call], Reply]:
    """The scripted model of the low-level searchers, with the same words as the algorithms are given."""
    answers, asked, rewritten = deque(verdicts), Counter[str](), count()

    def respond(call: Call) -> Reply:
        operation = call.role.removesuffix("_query")
        if operation in OPERATIONS:
            asked[operation] += 1
            return Reply.json({"keyword": WORDS[operation](asked[operation] - 1)})
        match call.role:
            case "rewrite_keywords":
                return Reply.json({"keywords": FIRST_WORDS})
            case "verify":
                return Reply.json({"enough": answers.popleft() if answers else False})
            case "pseudo_document":
                return Reply.json({"passage": pseudo_document(next(rewritten))})
        return Reply.json({"answer": "Tulsa [1]", "support": "stated", "unstated": ""})

    return respond


async def ask_low_level(world: World, server: ChatServer, searcher: str, *verdicts: bool) -> Watched:
    """A low-level searcher alone, as in the paper's tables."""
    server.respond = low_level(*verdicts)
    return await ask_and_watch(world, server, f"{PRESET},high_level=false,searchers={searcher}", QUESTION)


@pytest.mark.parametrize("verdicts", [[], [False] * 5 + [True], [True]], ids=["exhausted", "the sixth", "the first"])
async def test_the_sparse_searcher_is_algorithm_1(world: World, server: ChatServer, verdicts: list[bool]) -> None:
    expected = Algorithms(world=world, verdicts=deque(verdicts))
    last = await expected.sparse(QUESTION, FIRST_WORDS)
    watched = await ask_low_level(world, server, "sparse", *verdicts)
    assert watched.acts == [*expected.acts, Act("conclude", QUESTION, last)]
    refining = watched.of_role(*(f"{operation}_query" for operation in OPERATIONS))
    assert [_current_query(call) for call in refining] == expected.current
    if not verdicts:
        assert len(watched.searches) == 1 + MOST_REFINED
        assert len(watched.of_role("verify")) == 1 + MOST_REFINED, "the last retrieval, too"
        found = [act.keys for act in watched.searches]
        assert len(set(found)) < len(found), "also those that find the same again"


def _current_query(call: Call) -> str:
    """The query between its tags, with what stands around it: no other query, as the default shows."""
    told = call.messages[-1]["content"]
    (known,) = re.findall(r"<known>\n(.*)\n</known>", told)
    assert "tried" not in told
    return str(known)


@pytest.mark.parametrize("verdicts", [[], [False, False, True], [True]], ids=["exhausted", "the third", "the first"])
async def test_the_dense_searcher_verifies_and_rewrites(world: World, server: ChatServer, verdicts: list[bool]) -> None:
    expected = Algorithms(world=world, verdicts=deque(verdicts))
    last = await expected.dense(QUESTION)
    watched = await ask_low_level(world, server, "dense", *verdicts)
    assert watched.acts == [*expected.acts, Act("conclude", QUESTION, last)]
    if not verdicts:
        assert len(watched.of_role("verify")) == 1 + DENSE_REWRITES, "the last retrieval, too"


ROUNDS = [[f"Who wrote novel number {n}?" for n in range(21)], *([f"Where is place {n}?"] for n in range(11))]
"""The atomic queries of each round; more, and more of them, than the default permits at most."""


def high_level(rounds: list[list[str]], *, found: bool = True) -> Callable[[Call], Reply]:
    """Low-level searchers that are content at once, and a verifier that is content after the last round."""

    def respond(call: Call) -> Reply:
        match call.role:
            case "atomic_queries":
                return Reply.json({"queries": rounds[0]})
            case "supplement":
                known = sum(len(queries) <= _contexts(call) for queries in _accumulated(rounds))
                return Reply.json({"queries": rounds[known] if known < len(rounds) else []})
            case "rewrite_keywords":
                return Reply.json({"keywords": FIRST_WORDS})
            case "verify":
                known = sum(map(len, rounds))
                return Reply.json({"enough": bool(step_of(call)) or (found and _contexts(call) == known)})
            case "summarize":
                text = f"It is said: {call.question}" if found else "It could not be found."
                support = "inferred" if found else "none"
                return Reply.json({"summary": text, "support": support, "unstated": "", "citations": [1]})
        return Reply.json({"answer": "Tulsa [1]" if found else "", "support": "inferred" if found else "none"})

    return respond


def _contexts(call: Call) -> int:
    return len(re.findall(r"^Context \d+", call.text, re.MULTILINE))


def _accumulated(rounds: list[list[str]]) -> list[list[str]]:
    return [[query for queries in rounds[: n + 1] for query in queries] for n in range(len(rounds))]


async def test_the_high_level_iterates_until_it_has_enough(
    world: World, server: ChatServer, web: SearxngServer
) -> None:
    """Decompose; for all queries search, and summarize; verify; supplement, until enough; generate."""
    server.respond = high_level(ROUNDS)
    watched = await ask_and_watch(world, server, PRESET, QUESTION, web=True)

    upper = [call for call in watched.calls if not step_of(call) or call.role == "conclude"]
    verified = [role for _ in ROUNDS[1:] for role in ("verify", "supplement")]
    assert [call.role for call in upper] == ["atomic_queries", *verified, "verify", "conclude"]
    summaries = [[f"It is said: {query}" for query in queries] for queries in _accumulated(ROUNDS)]
    for call, known in zip(upper[1:], [texts for texts in summaries for _ in range(2)], strict=True):
        contexts = re.findall(r"^Context \d+ \(inferred\): (.*)$", call.text, re.MULTILINE)
        assert contexts == known, call.role
        assert keys_of(call) == (), "summaries alone"

    asked = [query for queries in ROUNDS for query in queries]
    plan = [call.number for call in upper if call.role in {"atomic_queries", "supplement"}]
    for queries, planned, judged in zip(ROUNDS, plan, [call for call in upper if call.role == "verify"], strict=True):
        between = watched.calls[planned + 1 : judged.number]
        summarized = [call.question for call in between if call.role == "summarize"]
        assert sorted(summarized) == sorted(queries), "side by side, after what planned them and before the verdict"
    by_words = await retrieve(world, "sparse:syntax=lucene", " ".join(map(_quoted, FIRST_WORDS)), K)
    by_query = {query: [call for call in watched.calls if call.question == query] for query in asked}
    for query in asked:
        by_vectors = await retrieve(world, "dense", query, K)
        from_web = ("https://one.example/hinton",)
        (summarize,) = [call for call in by_query[query] if call.role == "summarize"]
        assert keys_of(summarize) == tuple(dict.fromkeys((*by_words, *by_vectors, *from_web)))
        shown = [keys_of(call) for call in by_query[query] if call.role == "verify"]
        assert sorted(shown) == sorted([by_words, by_vectors]), "each retrieval"
    assert sorted(web.questions) == sorted(asked), "every atomic query, those of supplements included"
    assert {len(act.keys) <= K for act in watched.searches} == {True}


async def test_the_last_call_is_made_although_nothing_was_found(world: World, server: ChatServer) -> None:
    server.respond = high_level([["Who is Zork?"]], found=False)
    watched = await ask_and_watch(world, server, PRESET, "Who is Zork?")
    upper = [call for call in watched.calls if not step_of(call) or call.role == "conclude"]
    assert [call.role for call in upper] == ["atomic_queries", "verify", "supplement", "conclude"]
    assert "Context 1: It could not be found." in upper[-1].text
    assert watched.answer.abstained


async def test_a_summary_may_come_from_memory(world: World, server: ChatServer) -> None:
    otherwise = high_level([[QUESTION]])
    remembered = {"summary": "It was Tulsa.", "support": "memory", "unstated": "all of it", "citations": []}
    server.respond = lambda call: Reply.json(remembered) if call.role == "summarize" else otherwise(call)
    watched = await ask_and_watch(world, server, PRESET, QUESTION)
    assert re.search(r"^Context 1 \(memory.*\): It was Tulsa\.$", watched.calls[-1].text, re.MULTILINE)


async def test_only_the_budget_ends_it(world: World, server: ChatServer) -> None:
    """A model that always wants to know more; the last call has its place."""
    rounds = high_level([[f"Who wrote novel number {n}?"] for n in range(500)])
    server.respond = rounds
    watched = await ask_and_watch(world, server, PRESET, QUESTION, budget=Budget(calls=90))
    assert 80 < len(watched.calls) <= 90
    assert watched.calls[-1].role == "conclude"
    assert len(watched.of_role("supplement")) > 10
    assert any("no more than 90 calls are made (max_calls, or the budget)" in note for note in watched.notes)


async def test_one_part_of_the_work_may_take_all_that_the_budget_leaves(world: World, server: ChatServer) -> None:
    """With the share of each query and searcher as by default, algorithm 1 would end early."""
    answered = low_level()

    def respond(call: Call) -> Reply:
        match call.role:
            case "atomic_queries":
                return Reply.json({"queries": [QUESTION, "Who is Zork?"]})
            case "supplement":
                return Reply.json({"queries": []})
            case "summarize":
                return Reply.json({"summary": "It could not be found.", "support": "none", "citations": []})
        return answered(call)

    server.respond = respond
    watched = await ask_and_watch(world, server, PRESET, QUESTION, budget=Budget(calls=150))
    assert Counter(act.what for act in watched.searches) == {"sparse": 2 * 28, "dense": 2 * 4}
