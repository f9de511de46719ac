"""`plan_star:preset=paper` does what Plan*RAG's paper says (arXiv 2410.20753), call by call, over real stores.

The execution is written out here from the paper's section 3: nodes of one depth at a time; a node's question is
rewritten with its parents' answers; it retrieves five passages for itself; it reads its question, its parents'
question-answer pairs, its passages and the whole question; the last call reads the pairs of the sinks and their
parents. Plan*-Self-RAG answers a node by Self-RAG.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.ports.reasoning import Support
from testing.indexed_corpus import Passage
from tests.integration.reasoning.paper.watching_stores import Act, ask_and_watch, keys_of, retrieve, step_of
from tests.searching import World, open_world
from tests.twins.chat_server import Call, ChatServer, Reply

PRESET = "plan_star:preset=paper"
K = 5

QUESTION = "Did the author of Rumble Fish publish her first novel before the director of its film was born?"
BOOKS = [
    Passage(key="rumble", title="Rumble Fish", text="Rumble Fish is a novel. Its author is S. E. Hinton."),
    Passage(key="film", title="Rumble Fish (film)", text="The film Rumble Fish was directed by Francis Ford Coppola."),
    Passage(key="outsiders", title="The Outsiders", text="The Outsiders is the first novel of S. E. Hinton."),
    Passage(key="viking", title="Viking Press", text="In 1967 The Outsiders was published by Viking Press."),
    Passage(key="tex", title="Tex", text="Tex is a novel by S. E. Hinton about two brothers."),
    *(Passage(key=f"year{n}", title=f"Year {n}", text=f"The year {n} had a spring and a summer.") for n in range(9)),
]


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node of the plan, the question that it is rewritten to, and its answer; '' if none is found."""

    id: str
    planned: str
    question: str
    answer: str
    parents: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        return int(self.id[1])

    @property
    def pair(self) -> str:
        return f"Question: {self.question}\nAnswer: {self.answer or '(not found)'}"


def _node(id: str, planned: str, question: str, answer: str) -> Node:
    parents = tuple(f"Q{place}" for place in re.findall(r"<A(\d\.\d)>", planned))
    return Node(id=id, planned=planned, question=question, answer=answer, parents=parents)


AUTHOR = "Who is the author of Rumble Fish?"
DIRECTOR = "Who directed the film Rumble Fish?"
NODES = [
    _node("Q1.1", AUTHOR, AUTHOR, "S. E. Hinton"),
    _node("Q1.2", DIRECTOR, DIRECTOR, "Francis Ford Coppola"),
    _node("Q2.1", "What is the first novel of <A1.1>?", "What is the first novel of S. E. Hinton?", "The Outsiders"),
    _node("Q2.2", "In which town was <A1.2> born?", "In which town was Francis Ford Coppola born?", ""),
    _node("Q3.1", "When was <A2.1> published?", "When was The Outsiders published?", "1967"),
    _node("Q3.2", "Which river flows through <A2.2>?", "Which river flows through (not found)?", ""),
]
BY_ID = {node.id: node for node in NODES}
SINKS = [node for node in NODES if not any(node.id in other.parents for other in NODES)]
LAST = [node for node in NODES if node in SINKS or any(node.id in sink.parents for sink in SINKS)]
"""What the last call reads: Q2.1, Q2.2, Q3.1 and Q3.2."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as scripted:
        yield scripted


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        await opened.put(BOOKS)
        yield opened


def planned() -> Reply:
    return Reply.json({"nodes": [{"id": node.id, "question": node.planned} for node in NODES]})


def model(server: ChatServer) -> Callable[[Call], Reply]:
    """It answers by the step of a call. The first two nodes are only answered when both are asked."""

    def respond(call: Call) -> Reply:
        node = BY_ID.get(step_of(call))
        if call.role == "plan_dag":
            return planned()
        if node is None:
            return Reply.json({"answer": "No one knows. [3]", "support": "inferred", "unstated": "where he was born"})
        if call.role == "fill_tags":
            return Reply.json({"question": node.question})
        support = ("stated" if node.id != "Q2.1" else "inferred") if node.answer else "none"
        number = 1 + next((n for n, key in enumerate(keys_of(call)) if node.answer in _text_of(key)), 0)
        cited = {"answer": node.answer, "support": support, "unstated": "a part", "citations": [number]}
        return Reply.json(cited)

    def respond_side_by_side(call: Call) -> Reply:
        reply = respond(call)
        if call.role == "answer" and step_of(call) in {"Q1.1", "Q1.2"}:
            return Reply(text=reply.text, until=lambda: server.most_in_flight > 1)
        return reply

    return respond_side_by_side


def _text_of(key: str) -> str:
    return next(book.text for book in BOOKS if book.key == key)


async def test_nodes_are_carried_out_depth_by_depth(world: World, server: ChatServer) -> None:
    server.respond = model(server)
    watched = await ask_and_watch(world, server, PRESET, QUESTION)

    assert watched.calls[0].role == "plan_dag"
    assert keys_of(watched.calls[0]) == (), "the plan is made before the first search"
    depths = [BY_ID[step_of(call)].depth for call in watched.calls[1:-1]]
    assert depths == sorted(depths)
    assert server.most_in_flight > 1, "the nodes of one depth run side by side"
    assert watched.calls[-1].role == "conclude"
    assert len(watched.calls) == 1 + len(NODES) + 4 + 1, "plan, answers, rewritings of nodes with parents, last call"

    for node in NODES:
        expected = [("fill_tags", node.planned)] if node.parents else []
        calls = [call for call in watched.calls if step_of(call) == node.id]
        assert [(call.role, call.question) for call in calls] == [*expected, ("answer", node.question)], node.id
        keys = await retrieve(world, "dense", node.question, K)
        assert Act("dense", node.question, keys) in watched.acts, (
            "each retrieves for itself, with the rewritten question"
        )
        assert keys_of(calls[-1]) == keys
    assert len(watched.searches) == len(NODES)


async def test_a_node_reads_its_parents_pairs_and_no_more(world: World, server: ChatServer) -> None:
    """The Markov assumption of section 3."""
    server.respond = model(server)
    watched = await ask_and_watch(world, server, PRESET, QUESTION)
    for call in watched.of_role("answer"):
        node = BY_ID[step_of(call)]
        told = re.sub(r"<passage .*?</passage>", "", call.messages[-1]["content"], flags=re.DOTALL)
        assert QUESTION in told
        assert node.question in told
        read = re.findall(r"<known>\n(.*?)\n</known>", told, re.DOTALL)
        assert [re.sub(r" \(inferred.*\)$", "", pair) for pair in read] == [BY_ID[id].pair for id in node.parents]
    for call in watched.of_role("fill_tags"):
        node = BY_ID[step_of(call)]
        told = call.messages[-1]["content"]
        for other in NODES:
            if other.answer and other.answer not in QUESTION:
                assert (f"Answer: {other.answer}" in told) is (other.id in node.parents), (node.id, other.id)


async def test_the_last_call_reads_pairs_of_the_sinks_and_their_parents(world: World, server: ChatServer) -> None:
    """Without quotes, supports and passages. Nodes without an answer are among them."""
    server.respond = model(server)
    watched = await ask_and_watch(world, server, PRESET, QUESTION)
    told = watched.calls[-1].messages[-1]["content"]
    pairs = [f"<known>\nStep {number}\n{node.pair}\n</known>" for number, node in enumerate(LAST, start=1)]
    assert told == "\n".join([*pairs, "", "<question>", QUESTION, "</question>"])
    assert keys_of(watched.calls[-1]) == ()
    (citation,) = watched.answer.citations
    assert citation.document.key == "viking", "the answer of the third step stands on it"
    assert watched.answer.plain == "No one knows."


async def test_a_node_is_asked_although_its_parent_has_no_answer(world: World, server: ChatServer) -> None:
    """Also if the rewriting leaves the tag: then what was found is put in its place."""
    otherwise = model(server)

    def respond(call: Call) -> Reply:
        if (call.role, step_of(call)) == ("fill_tags", "Q3.2"):
            return Reply.json({"question": BY_ID["Q3.2"].planned})
        return otherwise(call)

    for respond_to in (otherwise, respond):
        server.respond = respond_to
        watched = await ask_and_watch(world, server, PRESET, QUESTION)
        asked = [call.question for call in watched.of_role("answer")]
        assert sorted(asked) == sorted(node.question for node in NODES)


async def test_an_answer_may_come_from_memory(world: World, server: ChatServer) -> None:
    otherwise = model(server)
    remembered = {"answer": "Detroit", "support": "memory", "unstated": "all of it", "citations": []}

    def respond(call: Call) -> Reply:
        known = (call.role, step_of(call)) == ("answer", "Q2.2")
        return Reply.json(remembered) if known else otherwise(call)

    server.respond = respond
    watched = await ask_and_watch(world, server, PRESET, QUESTION)
    assert f"Question: {BY_ID['Q2.2'].question}\nAnswer: Detroit\n" in watched.calls[-1].text


async def test_in_sequence_one_node_follows_the_other(world: World, server: ChatServer) -> None:
    """The schedule whose latency equation 2 gives: the sum over nodes. The calls are those of the parallel one."""
    server.respond = model(server)
    parallel = await ask_and_watch(world, server, PRESET, QUESTION)
    server.most_in_flight = 2  # no node waits for another one
    watched = await ask_and_watch(world, server, f"{PRESET},schedule=sequence", QUESTION)
    steps = [step_of(call) for call in watched.calls[1:-1]]
    assert steps == sorted(steps), "node after node, in the order of the plan"
    for earlier, later in zip(watched.calls, watched.calls[1:], strict=False):
        assert earlier.ended is not None
        assert earlier.ended <= later.received
    assert sorted(call.text for call in watched.calls) == sorted(call.text for call in parallel.calls)


SCORES = {
    "rumble": (True, "full", 3),
    "film": (False, "none", 1),
    "outsiders": (True, "full", 5),
    "viking": (True, "partial", 4),
    "tex": (True, "full", 4),
}
"""The critique of a candidate by its passage: relevance, support, usefulness."""
SUPPORTS = {"full": 1.0, "partial": 0.5, "none": 0.0}
USES = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0}


def score(key: str) -> float:
    """Self-RAG's score of a candidate: relevance and support with the weight 1, usefulness with the weight 0.5."""
    relevant, support, usefulness = SCORES.get(key, (False, "none", 2))
    return float(relevant) + SUPPORTS[support] + 0.5 * USES[usefulness]


def title_of(key: str) -> str:
    return next(book.title for book in BOOKS if book.key == key)


async def test_plan_star_self_rag_answers_each_node_by_self_rag(world: World, server: ChatServer) -> None:
    """Decides whether to retrieve; one candidate a passage; the critique of each; the best is kept. No other call."""
    otherwise = model(server)
    without = "Q3.2"
    """The node for which nothing is retrieved."""
    inferred = "Q1.2"
    """The node of which no candidate calls itself stated: they are criticised all the same, and not read together."""
    best = "outsiders"
    """The passage whose candidate always calls itself inferred. It is the best by the critique alone; if its own word
    counted, that of `tex` would be better.
    """

    def respond(call: Call) -> Reply:
        keys = keys_of(call)
        match call.role:
            case "need_retrieval":
                return Reply.json({"retrieve": step_of(call) != without})
            case "critique":
                relevant, support, usefulness = SCORES.get(keys[0], (False, "none", 2))
                return Reply.json({"relevant": relevant, "support": support, "usefulness": usefulness})
            case "answer" if keys:
                support = "inferred" if step_of(call) == inferred or keys == (best,) else "stated"
                return Reply.json({"answer": title_of(keys[0]), "support": support, "unstated": "", "citations": [1]})
        return otherwise(call)

    server.respond = respond
    watched = await ask_and_watch(world, server, f"{PRESET},solver=self_rag", QUESTION)
    told_apart = 0
    for node in NODES:
        calls = [call for call in watched.calls if step_of(call) == node.id and call.role != "fill_tags"]
        assert calls[0].role == "need_retrieval"
        if node.id == without:
            assert [(call.role, keys_of(call)) for call in calls[1:]] == [("answer", ())]
            continue
        keys = await retrieve(world, "dense", node.question, K)
        made = sorted((call.role, keys_of(call)) for call in calls[1:])
        assert made == sorted((role, (key,)) for role in ("answer", "critique") for key in keys), node.id
        step = next(step for step in watched.answer.steps if step.id == node.id)
        assert step.answer == title_of(max(keys, key=score)), node.id
        assert step.support is not Support.NONE
        told_apart += node.id != inferred and {best, "tex"} <= set(keys)
    assert told_apart, "in some node, the candidate's own word would have chosen another one"
