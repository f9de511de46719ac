"""Prints hits and answers, in the form in which the HTTP API returns them, for people.

First come parts that other views use, too: snippets, with their words in bold where stdout is a terminal; the words
that say what an answer stands on; and the lines of a verification: what it is expected to cost, and what each document
is to the answer.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from cli.output.console import counted, print_marked, print_result, print_styled
from core.passage_context import name_page
from core.text.shortening import shorten

_WIDTH = 100


def print_snippet(text: str, marks: Sequence[tuple[int, int]], *, indent: int) -> None:
    print_marked(*_flatten(text, marks), width=_WIDTH, indent=indent)


def _flatten(text: str, marks: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Returns the text on one line, with single spaces, and the places of its marks there."""
    flat, places = "", []
    for character in text:
        places.append(len(flat))
        if not character.isspace():
            flat += character
        elif not flat.endswith(" "):
            flat += " "
    return flat, [(places[start], places[end - 1] + 1) for start, end in marks]


_SUPPORT_WORDS = {
    "stated": "stated",
    "quoted": "quoted",
    "inferred": "inferred",
    "memory": "from memory",
    "none": "no answer",
}
"""By the value of `core.ports.reasoning.Support`."""
SUPPORT_STYLES = {"stated": "green", "quoted": "cyan", "inferred": "yellow", "memory": "magenta", "none": "red"}
"""The colours of these words on a terminal."""


def format_support(step: Mapping[str, Any]) -> str:
    """Returns what the answer of a step stands on, and what is not stated; '' for a step without an answer."""
    if step["support"] == "none":
        return ""
    word = _SUPPORT_WORDS[step["support"]]
    return f"{word}, not stated: {step['unstated']}" if step["unstated"] else word


def name_node(label: str, kind: str) -> str:
    return label if kind == "entity" else f"passage of “{label}”"


Json = Mapping[str, Any]

_ROLE_WIDTH = len("contradicts")
_INDENT = " " * (_ROLE_WIDTH + 2)


def describe_cost(cost: Json) -> str:
    """Returns what a verification is about to do, and its cost."""
    documents = counted(cost["documents"], "document")
    if not cost["calls"]:
        return f"verifying: {documents} masked in turn, without calls of a model"
    calls, tokens = counted(cost["calls"], "call"), counted(cost["tokens"], "token")
    return f"verifying: {documents} masked in turn, about {calls} and {tokens}"


def describe_verdict(verdict: Json) -> str:
    """Returns the role of a document, its markers and its title."""
    markers = "".join(f"[{marker}]" for marker in verdict["markers"]) or "(a step)"
    document = verdict["document"]
    return f"{verdict['role']:<{_ROLE_WIDTH}}  {markers} {document['title'] or document['key']}"


def _list_verification(verification: Json) -> Iterator[str]:
    """Yields the lines of a whole verification: each document with the reason, groups, notes, and what it has cost."""
    names = {}
    for verdict in verification["documents"]:
        yield describe_verdict(verdict)
        yield from textwrap.wrap(verdict["why"], _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
        for document in (verdict["document"], *verdict["replaced_by"]):
            names[document["id"]] = document["title"] or document["key"]
    for group in verification["together"]:
        yield f"One of these is needed: {'; '.join(names.get(id, id) for id in group)}"
    for note in verification["notes"]:
        yield f"note: {note}"
    usage = verification["usage"]
    if usage["calls"] or usage["cached"]:
        cached = f" and {usage['cached']:,} from the cache" if usage["cached"] else ""
        tokens = usage["prompt_tokens"] + usage["completion_tokens"]
        yield f"verified with {counted(usage['calls'], 'call')}{cached}, {counted(tokens, 'token')}"


_OF_QUOTES = ("quoted", "none")
"""Answers that consist of quotes, which have the line ends of their passages."""
_SNIPPET = 320
_ROWS = 10
_PLACES = 8


def show_search(page: Json, *, full: bool = False, names_corpora: bool = False) -> None:
    """Prints the hits with their snippets, or, if `full`, with their passages and the passages beside them."""
    for rank, hit in enumerate(page["hits"], start=1):
        _show_hit(rank, hit, full=full, names_corpus=names_corpora)
    if not page["hits"]:
        print_result("nothing was found")
    _show_notes(page)


def show_answer(answer: Json, *, names_corpora: bool = False) -> None:
    """Prints the answer with what it stands on, and why; then its sources, its verification, notes and usage."""
    text = answer["answer"].rstrip()
    if answer["support"] in _OF_QUOTES:
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    *paragraphs, last = f"{text} ({_SUPPORT_WORDS[answer['support']]})".splitlines()
    for paragraph in paragraphs:
        print_styled((_wrap(paragraph), "bold"))
    text, opening, support = _wrap(last).rpartition("(")
    print_styled((text, "bold"), (f"{opening}{support}", SUPPORT_STYLES[answer["support"]]))
    if answer["note"]:
        print_result(_wrap(answer["note"]))
    if answer["citations"]:
        print_result()
    _show_sources(answer, names_corpora=names_corpora)
    if answer["verification"] is not None:
        print_result()
        print_result("What the answer hangs on:")
        for line in _list_verification(answer["verification"]):
            print_result(line)
    if answer["notes"] or answer["usage"]["actions"]:
        print_result()
    _show_notes(answer)


def _show_sources(answer: Json, *, names_corpora: bool) -> None:
    """Prints each source once, with its quotes. Leaves out quotes that the answer repeats as a whole, and quotes that
    have been printed, whole or within a longer quote.
    """
    by_marker: dict[int, list[Json]] = {}
    printed: set[str] = set()
    for citation in answer["citations"]:
        by_marker.setdefault(citation["marker"], []).append(citation)
    for marker, citations in by_marker.items():
        source = _format_source(citations[0], names_corpus=names_corpora)
        print_styled((f"[{marker}]", "bold cyan"), (f" {source}", ""))
        quotes = [
            " ".join(shorten(citation["quote"], _SNIPPET).split())
            for citation in citations
            if answer["support"] not in _OF_QUOTES or citation["quote"] not in answer["answer"]
        ]
        for quote in dict.fromkeys(quotes):
            if quote not in printed and not any(quote != other and quote in other for other in quotes):
                print_result(textwrap.indent(_wrap(f"“{quote}”", _WIDTH - 4), "    "))
        printed.update(quotes)
        for cell in dict.fromkeys(_format_cell(citation["cell"]) for citation in citations if citation.get("cell")):
            print_result(textwrap.indent(_wrap(cell, _WIDTH - 4), "    "))


def _wrap(text: str, width: int = _WIDTH) -> str:
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def _format_source(citation: Json, *, names_corpus: bool) -> str:
    document = citation["document"]
    title = document["title"] or document["key"]
    if citation["url"] is not None:
        return f"{title} <{citation['url']}>"
    # An answer that an older release stored may lack the label and what it is part of.
    page = "" if citation["page"] is None else f", page {name_page(citation['page'], citation.get('page_label', ''))}"
    corpus = f"{citation['corpus']}: " if names_corpus else ""
    part_of = f" · {citation['part_of']}" if citation.get("part_of") else ""
    return f"{title}{part_of} ({corpus}{document['key']}{page})"


def _format_cell(cell: Json) -> str:
    names = " × ".join(name for name in (cell["row"], cell["column"]) if name)
    return f"cell: {shorten(names, _SNIPPET)} = {shorten(cell['value'], _SNIPPET)}"


def _show_notes(found: Json) -> None:
    """Prints the notes of a search or an answer, and what its actions have cost."""
    for note in found["notes"]:
        print_styled((f"note: {note}", "dim"))
    usage = found["usage"]
    if usage["actions"]:
        cached = f" and {usage['cached']} from the cache" if usage["cached"] else ""
        calls = f"{usage['calls']:,} call{'' if usage['calls'] == 1 else 's'}{cached}"
        tokens = usage["prompt_tokens"] + usage["completion_tokens"]
        print_styled((f"{calls}, {tokens:,} tokens, {found['timing'].get('total', 0.0):.1f} s", "dim"))


def _show_hit(rank: int, hit: Json, *, full: bool, names_corpus: bool) -> None:
    chunk, document = hit["chunk"], hit["document"]
    part_of = f"{' › ' if chunk['heading'] else ' · '}{hit['part_of']}" if hit["part_of"] else ""
    page = "" if chunk["page"] is None else f", page {name_page(chunk['page'], hit.get('page_label', ''))}"
    title = document["title"] or document["key"]
    corpus = f"{hit['corpus']}: " if names_corpus and hit["corpus"] else ""
    print_styled((f"{rank}. {title}{part_of}", "bold"), (f"  ({corpus}{hit['url'] or document['key']}{page})", ""))
    print_styled((f"   score {hit['score']:.4f}{_format_signals(hit['signals'])}", "dim"))
    if full:
        _show_passages(hit)
    else:
        print_snippet(hit["snippet"]["text"], _read_marks(hit["snippet"]), indent=3)
    if others := hit["other_passages"]:
        places = ", ".join(_format_place(other) for other in others[:_PLACES])
        rest = len(others) - _PLACES
        print_result(f"   also in this document: {places}{f' and {rest:,} more' if rest > 0 else ''}")
    if versions := [version["key"] for version in hit["versions"]]:
        rest = len(versions) - _PLACES
        print_result(f"   other versions: {', '.join(versions[:_PLACES])}{f' and {rest:,} more' if rest > 0 else ''}")
    for reason in hit["reasons"]:
        print_styled(("   why: ", "cyan"), (reason, ""))
    for way in _format_path(hit["path"]).splitlines():
        print_styled(("   way: ", "cyan"), (way, ""))
    for name, value in _select_contributions(hit["contributions"]):
        print_result(f"   {value:+8.3f}  {name}")
    print_result()


def _read_marks(snippet: Json) -> list[tuple[int, int]]:
    return [(mark["start"], mark["end"]) for mark in snippet["marks"]]


def _show_passages(found: Json) -> None:
    """Prints the passage of a hit, in which the words of its best sentence are marked, among its neighbours.

    What a neighbour shares with the passage beside it is left out of the neighbour.
    """
    snippet, hit = found["snippet"], found["chunk"]
    first = snippet["span"]["start"]
    marks = [(first + start, first + end) for start, end in _read_marks(snippet)]
    for chunk, following in pairwise((*found["before"], hit)):
        if text := chunk["text"][: len(chunk["text"]) - _count_shared(chunk, following)].rstrip():
            _show_neighbour(f"before, {_format_place(chunk)}:", text)
            print_result()
    print_marked(hit["text"], marks, width=_WIDTH, indent=3)
    for previous, chunk in pairwise((hit, *found["after"])):
        if text := chunk["text"][_count_shared(previous, chunk) :].lstrip():
            print_result()
            _show_neighbour(f"after, {_format_place(chunk)}:", text)


def _show_neighbour(place: str, text: str) -> None:
    print_marked(place, (), width=_WIDTH, indent=6, style="dim")
    print_marked(text, (), width=_WIDTH, indent=6, style="dim")


def _count_shared(first: Json, second: Json) -> int:
    """Returns how many characters at the end of a passage are the beginning of the next passage."""
    if first["span"] is None or second["span"] is None or first["page"] != second["page"]:
        return 0
    shared: int = max(0, first["span"]["end"] - second["span"]["start"])
    return shared if first["text"][-shared:] == second["text"][:shared] else 0


def _format_place(chunk: Json) -> str:
    page = [] if chunk["page"] is None else [f"page {chunk['page']}"]
    heading = [chunk["heading"]] if chunk["heading"] else []
    return " › ".join([*page, *heading]) or f"passage {chunk['position'] + 1}"


def _select_contributions(contributions: Mapping[str, float]) -> list[tuple[str, float]]:
    """Returns the contributions of the greatest absolute value, and the sum of the rest as one row."""
    rows = sorted(contributions.items(), key=lambda row: (-abs(row[1]), row[0]))
    shown, rest = rows[:_ROWS], rows[_ROWS:]
    return [*shown, (f"({len(rest)} others)", sum(value for _, value in rest))] if rest else shown


def _format_signals(signals: Json) -> str:
    """Returns the signals with their names. A candidate without a BM25 score was found by another signal."""
    shown = (("cosine", signals["dense"]), ("BM25", signals["sparse"]), ("PageRank", signals["graph"]))
    return "".join(
        f" · {name} {'–' if name == 'BM25' and not value else f'{value:.4g}'}"
        for name, value in shown
        if value is not None
    )


def _format_path(path: Iterable[Json]) -> str:
    """Returns the steps as one line. A step that does not start where the last step ended starts a new line."""
    text, at = "", ""
    for step in path:
        source = name_node(step["source"], step["source_kind"])
        target = name_node(step["target"], step["target_kind"])
        if source != at:
            text += f"{chr(10) if text else ''}{source}"
        text += f" —{step['relation']}→ {target}"
        at = target
    return text
