"""Hits and answers, for people and as JSON in the shapes of the HTTP API."""

import textwrap
from collections.abc import Mapping
from typing import Any

from api.schemas.ask import AnswerOut
from api.schemas.search import SearchOut
from cli.output.console import show
from core.ports.reasoning import Answer, Citation
from core.ports.retrieval import Hit, PathStep, SearchResult, Signals
from core.trace import Trace

__all__ = ["answer_object", "search_object", "show_answer", "show_search"]

_SNIPPET = 320
_WIDTH = 100
_ROWS = 10


def search_object(result: SearchResult, trace: Trace) -> dict[str, Any]:
    return SearchOut.from_result(result, trace).model_dump(mode="json")


def answer_object(answer: Answer, trace: Trace) -> dict[str, Any]:
    return AnswerOut.from_answer(answer, trace).model_dump(mode="json")


def show_search(result: SearchResult, trace: Trace) -> None:
    for rank, hit in enumerate(result.hits, start=1):
        _show_hit(rank, hit)
    if not result.hits:
        show("nothing was found")
    _show_notes(trace)


def show_answer(answer: Answer, trace: Trace) -> None:
    """The answer in its paragraphs, then its sources, the notes, and what it cost."""
    for paragraph in answer.text.splitlines() or [""]:
        show(textwrap.fill(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False))
    if answer.citations:
        show()
    for citation in answer.citations:
        show(f"[{citation.marker}] {_source(citation)}")
        show(textwrap.indent(_snippet(f"“{citation.quote}”"), "    "))
    if trace.notes or trace.usage.actions:
        show()
    _show_notes(trace)


def _source(citation: Citation) -> str:
    title = citation.document.title or citation.document.key
    if citation.url is not None:
        return f"{title} <{citation.url}>"
    page = "" if citation.page is None else f", page {citation.page}"
    return f"{title} ({citation.document.key}{page})"


def _show_notes(trace: Trace) -> None:
    for note in trace.notes:
        show(f"note: {note}")
    usage = trace.usage
    if usage.actions:
        cached = f" and {usage.cached} from the cache" if usage.cached else ""
        calls = f"{usage.calls:,} call{'' if usage.calls == 1 else 's'}{cached}"
        show(f"{calls}, {usage.tokens:,} tokens, {trace.timing.get('total', 0.0):.1f} s")


def _show_hit(rank: int, hit: Hit) -> None:
    heading = f" › {hit.chunk.heading}" if hit.chunk.heading else ""
    show(f"{rank}. {hit.document.title or hit.document.key}{heading}  ({hit.url or hit.document.key})")
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
