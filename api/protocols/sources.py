"""The sources of an answer as chat clients show them: a Markdown block below the answer, and annotations beside it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from app.services.links import Links
from core.documents import Span
from core.passage_context import find_page_label, name_page
from core.ports.reasoning import Answer, Citation

__all__ = ["Source", "format_block", "list_sources", "shorten_sources"]

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


def list_sources(answer: Answer, address: str, corpus: str, links: Links) -> tuple[Source, ...]:
    """Returns a source for each citation, in the order of the answer. `address` is this server's, for links to
    documents.
    """
    return tuple(
        Source(
            marker=citation.marker,
            title=" · ".join(filter(None, (citation.document.title or citation.document.key, citation.part_of))),
            url=citation.url or _link(citation, corpus, links) or _document_url(citation, address, corpus),
            link=_link(citation, corpus, links),
            page=citation.page,
            page_label=find_page_label(citation.document.metadata, citation.page),
            quote=citation.quote,
            span=_find_marker(answer.text, citation),
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


def _link(citation: Citation, corpus: str, links: Links) -> str | None:
    return None if citation.url else links.to(corpus, citation.document.id, citation.chunk_id)


def _document_url(citation: Citation, address: str, corpus: str) -> str:
    page = "" if citation.page is None else f"#page={citation.page}"
    return f"{address}/v1/corpora/{quote(corpus)}/documents/{quote(citation.document.id)}/content{page}"


def _find_marker(text: str, citation: Citation) -> Span:
    """Returns the place of the citation's marker, or the words that it supports if the marker is not behind them."""
    marker = f"[{citation.marker}]"
    at = text.find(marker, citation.answer_span.end)
    return citation.answer_span if at < 0 else Span(start=at, end=at + len(marker))
