"""Prints hits and answers for people, and converts them to the JSON of the HTTP API."""

import textwrap
from collections.abc import Mapping
from typing import Any

from api.schemas.ask import AnswerOut
from api.schemas.search import SearchOut
from cli.output.console import print_result
from cli.output.support import SUPPORT_WORDS
from core.ports.reasoning import Answer, Citation
from core.ports.retrieval import Hit, PathStep, SearchResult, Signals
from core.text.shortening import shorten
from core.trace import Trace

__all__ = ["answer_to_dict", "search_to_dict", "show_answer", "show_search"]

_SNIPPET = 320
_WIDTH = 100
_ROWS = 10


def search_to_dict(result: SearchResult, trace: Trace) -> dict[str, Any]:
    return SearchOut.from_result(result, trace).model_dump(mode="json")


def answer_to_dict(answer: Answer, trace: Trace) -> dict[str, Any]:
    return AnswerOut.from_answer(answer, trace).model_dump(mode="json")


def show_search(result: SearchResult, trace: Trace) -> None:
    for rank, hit in enumerate(result.hits, start=1):
        _show_hit(rank, hit)
    if not result.hits:
        print_result("nothing was found")
    _show_notes(trace)


def show_answer(answer: Answer, trace: Trace) -> None:
    """Prints the answer with what it stands on, and why; then its sources, notes and usage."""
    for paragraph in f"{answer.text.rstrip()} ({SUPPORT_WORDS[answer.support]})".splitlines():
        print_result(_wrap(paragraph))
    if answer.note:
        print_result(_wrap(answer.note))
    if answer.citations:
        print_result()
    for citation in answer.citations:
        print_result(f"[{citation.marker}] {_format_source(citation)}")
        print_result(textwrap.indent(_format_snippet(f"“{citation.quote}”"), "    "))
    if trace.notes or trace.usage.actions:
        print_result()
    _show_notes(trace)


def _wrap(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _format_source(citation: Citation) -> str:
    title = citation.document.title or citation.document.key
    if citation.url is not None:
        return f"{title} <{citation.url}>"
    page = "" if citation.page is None else f", page {citation.page}"
    return f"{title} ({citation.document.key}{page})"


def _show_notes(trace: Trace) -> None:
    for note in trace.notes:
        print_result(f"note: {note}")
    usage = trace.usage
    if usage.actions:
        cached = f" and {usage.cached} from the cache" if usage.cached else ""
        calls = f"{usage.calls:,} call{'' if usage.calls == 1 else 's'}{cached}"
        print_result(f"{calls}, {usage.tokens:,} tokens, {trace.timing.get('total', 0.0):.1f} s")


def _show_hit(rank: int, hit: Hit) -> None:
    heading = f" › {hit.chunk.heading}" if hit.chunk.heading else ""
    print_result(f"{rank}. {hit.document.title or hit.document.key}{heading}  ({hit.url or hit.document.key})")
    print_result(f"   score {hit.score:.4f}{_format_signals(hit.signals)}")
    print_result(textwrap.indent(_format_snippet(hit.chunk.text), "   "))
    for reason in hit.reasons:
        print_result(f"   why: {reason}")
    if hit.path:
        print_result(textwrap.indent(_format_path(hit.path), "   "))
    for name, value in _select_contributions(hit.contributions):
        print_result(f"   {value:+8.3f}  {name}")
    print_result()


def _select_contributions(contributions: Mapping[str, float]) -> list[tuple[str, float]]:
    """Returns the contributions of the greatest absolute value, and the sum of the rest as one row."""
    rows = sorted(contributions.items(), key=lambda row: (-abs(row[1]), row[0]))
    shown, rest = rows[:_ROWS], rows[_ROWS:]
    return [*shown, (f"({len(rest)} others)", sum(value for _, value in rest))] if rest else shown


def _format_signals(signals: Signals) -> str:
    shown = (("cosine", signals.dense), ("BM25", signals.sparse), ("PageRank", signals.graph))
    return "".join(f" · {name} {value:.4g}" for name, value in shown if value is not None)


def _format_snippet(text: str) -> str:
    return textwrap.fill(shorten(text, _SNIPPET), _WIDTH - 4, break_long_words=False, break_on_hyphens=False)


def _format_path(path: tuple[PathStep, ...]) -> str:
    """Returns the steps as one line. A step that does not start where the last one ended starts a new line."""
    text, at = "", ""
    for step in path:
        if step.source != at:
            text += f"{chr(10) if text else ''}way: {step.source}"
        text += f" —{step.relation}→ {step.target}"
        at = step.target
    return text
