"""Hits and answers, for people and as JSON in the shapes of the HTTP API."""

import textwrap
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cli.console import show
from core.ports.reasoning import Answer
from core.ports.retrieval import Hit, PathStep, SearchResult, Signals
from core.trace import Trace

__all__ = ["answer_object", "search_object", "show_answer", "show_search"]

_SNIPPET = 320
_WIDTH = 100
_ROWS = 10


def search_object(result: SearchResult, trace: Trace) -> dict[str, Any]:
    return {
        "hits": [_hit_object(hit) for hit in result.hits],
        "generation": result.generation,
        "notes": trace.notes,
        "timing": trace.timing,
        "usage": {},
    }


def answer_object(answer: Answer, trace: Trace) -> dict[str, Any]:
    return {
        "answer": answer.text,
        "citations": [asdict(citation) for citation in answer.citations],
        "steps": [
            {"question": step.question, "hits": [_hit_object(hit) for hit in step.hits], "answer": step.answer}
            for step in answer.steps
        ],
        "usage": {},
        "reasoner": answer.reasoner,
        "abstained": answer.abstained,
        "notes": trace.notes,
        "timing": trace.timing,
    }


def show_search(result: SearchResult, trace: Trace) -> None:
    for rank, hit in enumerate(result.hits, start=1):
        _show_hit(rank, hit)
    if not result.hits:
        show("nothing was found")
    for note in trace.notes:
        show(f"note: {note}")


def show_answer(answer: Answer, trace: Trace) -> None:
    show(textwrap.fill(answer.text, _WIDTH, break_long_words=False, break_on_hyphens=False))
    if answer.citations:
        show()
    for citation in answer.citations:
        page = "" if citation.page is None else f", page {citation.page}"
        show(f"[{citation.marker}] {citation.document.title or citation.document.key} ({citation.document.key}{page})")
        show(textwrap.indent(_snippet(f"“{citation.quote}”"), "    "))
    if trace.notes:
        show()
    for note in trace.notes:
        show(f"note: {note}")


def _hit_object(hit: Hit) -> dict[str, Any]:
    chunk, document = hit.chunk, hit.document
    return {
        "chunk": {
            "id": chunk.id,
            "text": chunk.text,
            "page": chunk.page,
            "span": None if chunk.span is None else asdict(chunk.span),
            "heading": chunk.heading,
        },
        "document": {
            "id": document.id,
            "key": document.key,
            "title": document.title,
            "metadata": dict(document.metadata),
        },
        "score": hit.score,
        "signals": asdict(hit.signals),
        "path": [asdict(step) for step in hit.path],
        "reasons": list(hit.reasons),
        "contributions": dict(hit.contributions),
    }


def _show_hit(rank: int, hit: Hit) -> None:
    heading = f" › {hit.chunk.heading}" if hit.chunk.heading else ""
    show(f"{rank}. {hit.document.title or hit.document.key}{heading}  ({hit.document.key})")
    show(f"   score {hit.score:.4f}{_signals(hit.signals)}")
    show(textwrap.indent(_snippet(hit.chunk.text), "   "))
    for reason in hit.reasons:
        show(f"   why: {reason}")
    if hit.path:
        show(textwrap.indent(_way(hit.path), "   "))
    for name, value in _largest(hit.contributions):
        show(f"   {value:+8.3f}  {name}")
    show()


def _largest(contributions: Mapping[str, float]) -> list[tuple[str, float]]:
    """The contributions that matter most, greatest first whatever their sign, and the rest in one row."""
    rows = sorted(contributions.items(), key=lambda row: (-abs(row[1]), row[0]))
    shown, rest = rows[:_ROWS], rows[_ROWS:]
    return [*shown, (f"({len(rest)} others)", sum(value for _, value in rest))] if rest else shown


def _signals(signals: Signals) -> str:
    shown = (("cosine", signals.dense), ("BM25", signals.sparse), ("PageRank", signals.graph))
    return "".join(f" · {name} {value:.4g}" for name, value in shown if value is not None)


def _snippet(text: str) -> str:
    shown = textwrap.shorten(text, _SNIPPET, placeholder=" …")
    return textwrap.fill(shown, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)


def _way(path: tuple[PathStep, ...]) -> str:
    """The steps as one line; where a step begins elsewhere than the last one ended, a new line."""
    text, at = "", ""
    for step in path:
        if step.source != at:
            text += f"{chr(10) if text else ''}way: {step.source}"
        text += f" —{step.relation}→ {step.target}"
        at = step.target
    return text
