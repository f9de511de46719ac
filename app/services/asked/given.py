"""`read_given`: a stored answer as it is verified."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.documents import DocumentRef
from core.ports.reasoning import Support
from core.verification import Located, VerificationCost
from reasoning.citations.markers import strip_markers
from reasoning.verification import GivenAnswer, Use, collect_documents, divide_cost

__all__ = ["read_given"]

Json = Mapping[str, Any]


def read_given(answer: Json) -> GivenAnswer:
    """Returns the answer of a stored question. `answer` is the JSON of an `AnswerOut` with the texts of its quotes.

    A quote whose passage is not among those of the steps and citations is left out: its document is not known.
    """
    text = strip_markers(answer["answer"]).strip()
    cost = answer["verification_cost"]
    calls, tokens = (0, 0) if cost is None else divide_cost(VerificationCost(**cost), text)
    return GivenAnswer(
        text=text,
        support=Support(answer["support"]),
        documents=collect_documents(_list_uses(answer)),
        chunks=frozenset(_locate_chunks(answer)),
        links=tuple(sorted({one["marker"] for one in answer["citations"] if one["url"] is not None})),
        calls=calls,
        tokens=tokens,
    )


def _list_uses(answer: Json) -> Iterator[Use]:
    points = list(answer["answer"])  # spans count code points, as Python does
    for citation in answer["citations"]:
        if citation["url"] is None:
            span = citation["answer_span"]
            yield Use(
                located=Located(_read_document(citation["document"]), citation["corpus"]),
                marker=citation["marker"],
                quote=citation["quote"],
                place="".join(points[span["start"] : span["end"]]),
            )
    located = _locate_chunks(answer)
    for step in answer["steps"]:
        for quote in step["quotes"] if step["answer"] else ():
            if quote["chunk_id"] in located:
                yield Use(located=located[quote["chunk_id"]], quote=quote["quote"], place=step["answer"])


def _locate_chunks(answer: Json) -> dict[str, Located]:
    """Returns the documents of the passages of an answer, by the ids of their chunks; without those of the web."""
    hits = [hit for step in answer["steps"] for hit in step["hits"] if hit["url"] is None]
    located = {hit["chunk"]["id"]: Located(_read_document(hit["document"]), hit["corpus"]) for hit in hits}
    for one in answer["citations"]:
        if one["url"] is None:
            located[one["chunk_id"]] = Located(_read_document(one["document"]), one["corpus"])
    return located


def _read_document(document: Json) -> DocumentRef:
    return DocumentRef(
        id=document["id"], key=document["key"], title=document["title"], metadata=document.get("metadata") or {}
    )
