"""`Reply`: an answer as the text of a chat message, with its sources, and `find_rest`: what of it a stream has still to
send.

Sources are shown as a Markdown block below the answer, and as annotations beside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

from core.passage_context import name_page
from core.ports.chat import Completion
from hopweave.wire.answers import Answer, Citation
from hopweave.wire.base import Span

_HEADING = "**Sources**"
_MARKDOWN = re.compile(r"([\\`*_\[\]<>])")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>])")
_BLOCK = f"\n\n{_HEADING}\n\n"


@dataclass(frozen=True, kw_only=True)
class Source:
    """The source of one marker: `span` is where the marker stands in the answer.

    `title` is the document's title (else its key), and tells what the quote is part of, such as the sender of a mail.

    `link` is the passage in the web page, where the server has a public address. `url` is where readers are led: to
    the page of the web, else to `link`, else to the original document.
    """

    marker: int
    title: str
    url: str
    link: str | None
    page: int | None
    page_label: str
    quote: str
    span: Span


def list_sources(answer: Answer, address: str, corpus: str) -> tuple[Source, ...]:
    """Returns a source for each citation, in the order of the answer. `address` is this server's, for links to
    documents.
    """
    return tuple(
        Source(
            marker=citation.marker,
            title=" · ".join(filter(None, (citation.document.title or citation.document.key, citation.part_of))),
            url=citation.url or citation.link or _document_url(citation, address, corpus),
            link=citation.link,
            page=citation.page,
            page_label=citation.page_label,
            quote=citation.quote,
            span=_find_marker(answer.answer, citation),
        )
        for citation in answer.citations
    )


def format_block(sources: Sequence[Source]) -> str:
    """Returns the sources as a numbered Markdown list with a heading, one line for each marker; '' without sources."""
    if not sources:
        return ""
    lines: dict[int, str] = {}
    for source in sources:
        page = "" if source.page is None else f", page {name_page(source.page, source.page_label)}"
        title = _MARKDOWN.sub(r"\\\1", " ".join(source.title.split()))
        lines.setdefault(source.marker, f"{source.marker}. [{title}]({source.url}){page}")
    return _BLOCK + "\n".join(lines[marker] for marker in sorted(lines))


def shorten_sources(text: str) -> str:
    """Returns an answer in whose block of sources, as `format_block` makes it, titles stand alone, on one line.

    They tell a later question about `[2]` what it is about. Addresses, and lines that are no source, are left out.
    """
    answer, block, lines = text.rpartition(_BLOCK)
    if not block:
        return text
    titles = [title for line in lines.splitlines() if (title := _read_title(line))]
    return f"{answer}\n\nSources: {'; '.join(titles)}" if titles else answer


def _read_title(line: str) -> str:
    """Returns `[2] Title` for a line `2. [Title](address)` of a block of sources; '' for another line."""
    marker, is_source, rest = line.partition(". [")
    title, has_address, _ = rest.rpartition("](")
    if not (is_source and has_address and marker.isdecimal()):
        return ""
    title = _ESCAPED.sub(r"\1", title)
    return f"[{marker}] {title}"


def _document_url(citation: Citation, address: str, corpus: str) -> str:
    page = "" if citation.page is None else f"#page={citation.page}"
    return f"{address}/v1/corpora/{quote(corpus)}/documents/{quote(citation.document.id)}/content{page}"


def _find_marker(text: str, citation: Citation) -> Span:
    """Returns the place of the citation's marker, or the words that it supports if the marker is not behind them."""
    marker = f"[{citation.marker}]"
    at = text.find(marker, citation.answer_span.end)
    return citation.answer_span if at < 0 else Span(start=at, end=at + len(marker))


Finish = Literal["stop", "length"]

_REPLACED = "\n\n---\n\n"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The text of a message with its sources. `details` say how the answer came about, beside the message."""

    text: str
    sources: tuple[Source, ...] = ()
    finish: Finish = "stop"
    details: dict[str, Any] = field(default_factory=dict)


def reply_from_answer(answer: Answer, *, address: str, corpus: str, shown: str, stops: Sequence[str] = ()) -> Reply:
    """Returns the answer, its note, and its sources as `shown` (`both`, `inline` or `annotations`) says.

    The text ends before the first of `stops`.
    """
    sources = list_sources(answer, address, corpus)
    note = f"\n\n_{answer.note}_" if answer.note else ""
    block = "" if shown == "annotations" else format_block(sources)
    text = _cut(answer.answer + note + block, stops)
    kept = tuple(source for source in sources if source.span.end <= len(text))
    details = {
        "reasoner": answer.reasoner,
        "support": answer.support,
        "abstained": answer.abstained,
        "notes": list(answer.notes),
    }
    return Reply(text=text, sources=() if shown == "inline" else kept, details=details)


def reply_from_completion(completion: Completion, stops: Sequence[str]) -> Reply:
    """Returns what a language model wrote, up to the first of `stops`: not every endpoint knows them."""
    return Reply(text=_cut(completion.text, stops), finish="length" if completion.cut else "stop")


def find_rest(sent: str, text: str) -> tuple[str, int]:
    """Returns what a stream that has sent `sent` has still to send, and where `text` begins in all that it sends.

    What a model writes is provisional. If the final text is another one, it follows the first below a line.
    """
    if text.startswith(sent):
        return text[len(sent) :], 0
    return _REPLACED + text, len(sent) + len(_REPLACED)


def _cut(text: str, stops: Sequence[str]) -> str:
    found = [at for stop in stops if (at := text.find(stop)) >= 0]
    return text[: min(found)] if found else text
