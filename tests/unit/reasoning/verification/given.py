"""Answers as tests verify them."""

from dataclasses import replace

from core.documents import DocumentRef, Span
from core.ports.reasoning import Answer, Citation, Quote, Step, Support
from core.verification import AnswerWithout, Located
from reasoning.verification.given import CitedDocument, GivenAnswer
from tests.reasoning_desk import hit

__all__ = ["answer_citing", "cited", "given", "located", "step", "without"]


def located(key: str, corpus: str = "people") -> Located:
    return Located(DocumentRef(id=key, key=key, title=key.title(), metadata={}), corpus)


def cited(key: str, *places: str, quotes: tuple[str, ...] = (), markers: tuple[int, ...] = (1,)) -> CitedDocument:
    return CitedDocument(located=located(key), markers=markers, quotes=quotes, places=frozenset(places))


def given(
    *documents: CitedDocument, text: str = "Ada", support: Support = Support.STATED, calls: int = 1
) -> GivenAnswer:
    return GivenAnswer(
        text=text, support=support, documents=documents, chunks=frozenset(), links=(), calls=calls, tokens=100 * calls
    )


def without(text: str, support: Support) -> AnswerWithout:
    return AnswerWithout(answer=text, support=support, abstained=support is Support.NONE)


def answer_citing(text: str, *keys: str, steps: tuple[Step, ...] = (), support: Support = Support.STATED) -> Answer:
    """An answer that ends with a marker for each document."""
    markers = "".join(f" [{number}]" for number in range(1, len(keys) + 1))
    citations = tuple(
        Citation(
            marker=number,
            chunk_id=f"{key}#0",
            document=located(key).document,
            page=None,
            quote=f"The words of {key}.",
            answer_span=Span(start=0, end=len(text)),
            source_span=Span(start=0, end=1),
            corpus="people",
        )
        for number, key in enumerate(keys, start=1)
    )
    return Answer(
        text=text + markers,
        reasoner="auto",
        citations=citations,
        steps=steps,
        support=support,
        abstained=support is Support.NONE,
    )


def step(id: str, answer: str, *keys: str) -> Step:
    hits = tuple(replace(hit(key, key.title(), f"The words of {key}."), corpus="people") for key in keys)
    quotes = tuple(Quote(hit=one, text=one.chunk.text, span=Span(start=0, end=1)) for one in hits)
    return Step(id=id, question="?", hits=hits, answer=answer, quotes=quotes, support=Support.STATED)
