"""The lines of a verification: what it is expected to cost, and what each document is to the answer."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from cli.output.console import counted

__all__ = ["describe_cost", "describe_verdict", "list_verification"]

Json = Mapping[str, Any]

_WIDTH = len("contradicts")
_INDENT = " " * (_WIDTH + 2)
_LINE = 100


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
    return f"{verdict['role']:<{_WIDTH}}  {markers} {document['title'] or document['key']}"


def list_verification(verification: Json) -> Iterator[str]:
    """Yields the lines of a whole verification: each document with the reason, groups, notes, and what it has cost."""
    names = {}
    for verdict in verification["documents"]:
        yield describe_verdict(verdict)
        yield from textwrap.wrap(verdict["why"], _LINE, initial_indent=_INDENT, subsequent_indent=_INDENT)
        for one in (verdict["document"], *verdict["replaced_by"]):
            names[one["id"]] = one["title"] or one["key"]
    for group in verification["together"]:
        yield f"One of these is needed: {'; '.join(names.get(id, id) for id in group)}"
    for note in verification["notes"]:
        yield f"note: {note}"
    usage = verification["usage"]
    if usage["calls"] or usage["cached"]:
        cached = f" and {usage['cached']:,} from the cache" if usage["cached"] else ""
        tokens = usage["prompt_tokens"] + usage["completion_tokens"]
        yield f"verified with {counted(usage['calls'], 'call')}{cached}, {counted(tokens, 'token')}"
