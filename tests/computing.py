"""A small corpus that is worth looking at, with the trail of an answer over it, in a real Neo4j."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.corpora import Corpus
from core.documents import Span
from core.events import SearchEvent
from core.ports.reasoning import Answer, Citation, Step, Support
from core.ports.retrieval import Hit
from core.trace import Trace
from stores.files import FolderFileStore
from stores.neo4j import Neo4jRecord
from stores.sqlite import SqliteVectorStore
from stores.tantivy import TantivyTextIndex
from tests.desk import Desk
from tests.integration.stores.neo4j_databases import connection_to
from tests.servers.addresses import Neo4jAddress
from tests.stores import Stores

__all__ = ["ANSWER", "DOCUMENTS", "QUESTION", "answered", "desk_on"]

QUESTION = "Where was the teacher of the author of the first computer program born?"
ANSWER = "In Madurai, India [1], as Augustus De Morgan, who taught Ada Lovelace [2]."

DOCUMENTS: Sequence[Mapping[str, Any]] = [
    {
        "id": "lovelace.md",
        "title": "Ada Lovelace",
        "chunks": [
            {
                "text": "Ada Lovelace was an English mathematician. She wrote the first computer program, for the "
                "Analytical Engine of Charles Babbage.",
                "triples": [
                    ["Ada Lovelace", "wrote a program for", "Analytical Engine"],
                    ["Ada Lovelace", "worked with", "Charles Babbage"],
                ],
            },
            {
                "text": "Her notes of 1843 tell how the Analytical Engine would compute Bernoulli numbers.",
                "triples": [["Analytical Engine", "would compute", "Bernoulli numbers"]],
            },
        ],
    },
    {
        "id": "education.md",
        "title": "The education of Ada Lovelace",
        "text": "Augustus De Morgan taught Ada Lovelace mathematics by letter. Mary Somerville, her mentor, introduced "
        "Ada Lovelace to Charles Babbage in 1833.",
        "triples": [
            ["Augustus De Morgan", "taught", "Ada Lovelace"],
            ["Mary Somerville", "was the mentor of", "Ada Lovelace"],
        ],
    },
    {
        "id": "morgan.md",
        "title": "Augustus De Morgan",
        "text": "Augustus De Morgan, a British logician, was born in Madurai, India, in 1806. He was professor at "
        "University College London.",
        "triples": [
            ["Augustus De Morgan", "was born in", "Madurai"],
            ["Augustus De Morgan", "was professor at", "University College London"],
            ["Madurai", "lies in", "India"],
        ],
    },
    {
        "id": "babbage.md",
        "title": "Charles Babbage",
        "chunks": [
            {
                "text": "Charles Babbage designed the Difference Engine and the Analytical Engine.",
                "triples": [
                    ["Charles Babbage", "designed", "Analytical Engine"],
                    ["Charles Babbage", "designed", "Difference Engine"],
                ],
            },
            {
                "text": "He was born in London; Charles Babbage held the Lucasian chair at Cambridge.",
                "triples": [["Charles Babbage", "was born in", "London"]],
            },
        ],
    },
    {
        "id": "somerville.md",
        "title": "Mary Somerville",
        "text": "Mary Somerville, born in Jedburgh, Scotland, translated the works of Laplace. A college in Oxford, "
        "Somerville College, bears her name.",
        "triples": [
            ["Mary Somerville", "was born in", "Jedburgh"],
            ["Mary Somerville", "translated", "Laplace"],
            ["Somerville College", "is named after", "Mary Somerville"],
        ],
    },
]


def desk_on(neo4j: Neo4jAddress, folder: Path) -> Desk:
    """The record in Neo4j, and all that Browser does not show in a folder."""
    stores = Stores(
        record=Neo4jRecord(connection_to(neo4j)),
        vectors=SqliteVectorStore(folder / "vectors.db"),
        text=TantivyTextIndex(folder / "text"),
        files=FolderFileStore(folder / "files"),
    )
    return Desk(folder, stores)


async def answered(desk: Desk, corpus: Corpus) -> tuple[Answer, Trace]:
    """An answer in three hops over the corpus, as a reasoner gives it."""
    passages = {hit.document.key.removesuffix(".md"): hit for hit in await _hits(desk, corpus)}
    trace = Trace()
    steps = [
        Step(
            id="1",
            question="Who wrote the first computer program?",
            answer="Ada Lovelace",
            support=Support.STATED,
            hits=(passages["lovelace"], passages["babbage"]),
        ),
        Step(
            id="2",
            question="Who taught Ada Lovelace?",
            answer="Augustus De Morgan",
            support=Support.INFERRED,
            hits=(passages["education"], passages["lovelace"]),
            parents=("1",),
            depth=1,
        ),
        Step(
            id="3",
            question="Where was Augustus De Morgan born?",
            answer="Madurai, India",
            support=Support.STATED,
            hits=(passages["morgan"], passages["somerville"]),
            parents=("2",),
            depth=2,
        ),
    ]
    for step in steps:
        trace.emit(SearchEvent(query=step.question, searcher="bridged", hits=step.hits, step=step.id))
    citations = (
        _cited(1, passages["morgan"], "Augustus De Morgan, a British logician, was born in Madurai, India, in 1806."),
        _cited(2, passages["education"], "Augustus De Morgan taught Ada Lovelace mathematics by letter."),
    )
    answer = Answer(
        text=ANSWER,
        reasoner="auto",
        citations=citations,
        steps=tuple(steps),
        support=Support.INFERRED,
        note="Not stated: who her teacher was.",
    )
    return answer, trace


def _cited(marker: int, hit: Hit, quote: str) -> Citation:
    start, place = hit.chunk.text.index(quote), ANSWER.index(f"[{marker}]")
    return Citation(
        marker=marker,
        chunk_id=hit.chunk.id,
        document=hit.document,
        page=None,
        quote=quote,
        answer_span=Span(start=place, end=place + 3),
        source_span=Span(start=start, end=start + len(quote)),
    )


async def _hits(desk: Desk, corpus: Corpus) -> list[Hit]:
    """The first passage of every document."""
    documents = (await desk.record.documents.list(corpus.id, limit=100)).data
    refs = await desk.record.documents.get_refs(corpus.id, [one.id for one in documents])
    firsts = {id: (await desk.record.contents.get_chunks_of(corpus.id, id))[0] for id in refs}
    return [Hit(chunk=firsts[id], document=ref, score=1.0) for id, ref in refs.items()]
