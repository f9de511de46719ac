"""RAPTOR beside its paper (arXiv 2401.18059, section 3): which passages each call reads, and what a question reads.

1. The leaves are embedded and put into groups, in which a passage may stand more than once; a model summarizes each.
2. The summaries are embedded, and grouped and summarized in turn, until a layer can be grouped no further.
3. Collapsed tree: the nodes of all layers are ranked by cosine at once, and the best are read, up to 2,000 tokens.
4. One call answers the question from them.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from app.container import Container
from app.services.documents import list_documents
from app.services.questions import AskRequest, ask
from app.services.summary_tree import CHILDREN, LEVEL
from core.corpora import Corpus
from core.ports.views import VectorKind
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import index_dataset, read_dataset
from evaluation.indexing import index_tree
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import WorkerHere, workbench
from tests.twins.chat_server import Call, ChatServer, Reply

QUESTION = "On which river is the town where Barina Mouth was born?"
MOST_READ = 2_000
MOST_SUMMARIZED = 3_500
TOO_FEW = 11
"""So many nodes, one more than the dimensions to which vectors are reduced, make no further layer."""

_PASSAGE = re.compile(r"<passage[^>]*>\n?(.*?)\n?</passage>", re.DOTALL)


def passages_of(call: Call) -> list[str]:
    return [" ".join(text.split()) for text in _PASSAGE.findall(call.messages[-1]["content"])]


def respond(call: Call) -> Reply:
    if call.role == "summarize_cluster":
        return Reply.json({"summary": _summarize(call)})
    return Reply.json({"answer": "Barelmouth [1]", "support": "inferred", "unstated": "", "thoughts": ""})


@dataclass(frozen=True, kw_only=True)
class Node:
    """A passage of the tree; `children` are keys of nodes of the layer below."""

    view_id: str
    text: str
    children: tuple[str, ...]


Layer = Mapping[str, Node]


async def read_layers(container: Container, tree: Corpus) -> list[Layer]:
    """Returns the nodes of each layer by their keys, from the leaves on."""
    layers: dict[int, dict[str, Node]] = {}
    async for document in list_documents(container, tree):
        (chunk,) = await container.record.contents.get_chunks_of(tree.id, document.id)
        level = document.metadata.get(LEVEL, 0)
        assert isinstance(level, int)
        children = document.metadata.get(CHILDREN, [])
        assert isinstance(children, list)
        layers.setdefault(level, {})[document.key] = Node(
            view_id=chunk.view_id, text=" ".join(chunk.text.split()), children=tuple(map(str, children))
        )
    return [layers[level] for level in sorted(layers)]


async def rank_collapsed(container: Container, tree: Corpus, layers: Sequence[Layer]) -> tuple[list[str], int]:
    """Returns the texts of all nodes by their cosine with the question, and how many of them have 2,000 tokens."""
    nodes = [node for layer in layers for node in layer.values()]
    vectors = await container.vectors.fetch(tree.id, VectorKind.CHUNK, [node.view_id for node in nodes])
    question = await container.embedder.embed_query(QUESTION)
    ranked = [node.text for node in sorted(nodes, key=lambda node: -float(vectors[node.view_id] @ question))]
    counts = container.embedder.tokens.count(ranked)
    return ranked, next(n for n in range(len(ranked), 0, -1) if sum(counts[:n]) <= MOST_READ)


@pytest.mark.slow  # umap-learn compiles what it runs
async def test_the_calls_and_contexts_are_those_of_the_paper(tmp_path: Path) -> None:
    write_townsfolk(tmp_path / "towns", people=26)
    with ChatServer(respond=respond) as server:
        llm = {"base_url": server.url, "model": "scripted", "send_metadata": True, "cache": False}
        async with workbench(tmp_path / "data", llm=llm) as container:
            dataset, worker = read_dataset(tmp_path / "towns"), WorkerHere()
            source, _ = await index_dataset(
                container, worker, dataset, chunker="passage", extractor="pattern", progress=lambda *_: None
            )
            tree = await index_tree(container, worker, source, lambda *_: None)
            made = list(server.calls)
            layers = await read_layers(container, tree)
            _check_tree(layers, made, container)
            assert len(layers[0]) == dataset.passages

            reasoner = parse_spec("vanilla:searcher=raptor,k=1000")
            await ask(container, tree, AskRequest(question=QUESTION, reasoner=reasoner), Trace())
            (answering,) = server.calls[len(made) :]
            ranked, fitting = await rank_collapsed(container, tree, layers)
            assert answering.role == "conclude"
            assert Counter(passages_of(answering)) == Counter(ranked[:fitting])
            assert 0 < fitting < len(ranked), "the tokens decide"
            summaries = {node.text for layer in layers[1:] for node in layer.values()}
            assert summaries & set(ranked[:fitting]), "summaries are among them"
            assert set(ranked[:fitting]) - summaries, "and leaves"


def _check_tree(layers: Sequence[Layer], calls: Sequence[Call], container: Container) -> None:
    """Compares the layers and the calls that made them with the paper."""
    assert len(layers) > 2, "summaries of summaries"
    assert all(call.role == "summarize_cluster" for call in calls)
    assert len(calls) == sum(map(len, layers[1:])), "one call for each summary"
    reads = [(call, Counter(passages_of(call))) for call in calls]
    for below, layer in pairwise(layers):
        assert len(below) > TOO_FEW, "the layer below could be grouped"
        assert {key for node in layer.values() for key in node.children} == below.keys(), "every node is in a group"
        for node in layer.values():
            children = [below[key].text for key in node.children]
            matching = [pair for pair in reads if pair[1] == Counter(children) and _summarize(pair[0]) == node.text]
            reads.remove(matching[0])
            assert sum(container.embedder.tokens.count(children)) <= MOST_SUMMARIZED
    assert not reads, "no call read anything else"
    top = len(layers[-1])
    assert top <= TOO_FEW or top >= len(layers[-2]), "no further layer can be made"


def _summarize(call: Call) -> str:
    read = passages_of(call)
    return " ".join(f"Of {len(read)} texts: {' '.join(read)[:600]}".split())
