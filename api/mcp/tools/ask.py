"""`ask`: the server's own answer to a question, with citations."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from api.mcp.tool import AsOf, CorpusName, Filter, Hints, Question, Reference, Tool, ToolCall, choose_corpus, link_to
from api.schemas.base import In, Out
from core.keys import Scope
from core.ports.reasoning import Support
from hopweave.wire.answers import SUPPORT
from hopweave.wire.search import LINK, PAGE_LABEL, PART_OF

_SHOWN = 200
_CELL = "The row and the column of the table's cell that the quote is about; empty if it is about none."


class AskArguments(In):
    question: Question = Field(
        description="A question that is understood without this conversation: name whom and what it is about."
    )
    corpus: CorpusName = ""
    filter: Filter = Field(default_factory=dict)
    as_of: AsOf = ""


class CitedOut(Out):
    marker: int = Field(description="The number of the citation in the answer, as [1].")
    id: str = Field(description="Give it to `fetch` to read the passage; empty for a page of the web.")
    title: str
    url: str
    link: str | None = Field(description=LINK)
    page: int | None
    page_label: str = Field(description=PAGE_LABEL)
    part_of: str = Field(description=PART_OF)
    cell: str = Field(description=_CELL)
    quote: str = Field(description="The words of the passage that the answer stands on.")


class AskResult(Out):
    answer: str
    abstained: bool = Field(
        description="Whether no answer is given; `answer` then says so, and cites the nearest passages."
    )
    support: Support = Field(description=SUPPORT)
    note: str = Field(description="Why the answer is not stated, or what contradicts it; tell the user.")
    citations: list[CitedOut]


async def _ask(call: ToolCall, arguments: AskArguments) -> AskResult:
    corpus = await choose_corpus(call, arguments.corpus)

    def report(kind: str, data: Mapping[str, Any]) -> None:
        if (text := describe_event(kind, data)) is not None:
            call.progress(text)

    body = {"question": arguments.question, "filter": arguments.filter or None, "as_of": arguments.as_of or None}
    answer = await call.questions.ask(corpus, body, report)
    return AskResult(
        answer=answer["answer"],
        abstained=answer["abstained"],
        support=answer["support"],
        note=answer["note"],
        citations=[_show(call, corpus, citation) for citation in answer["citations"]],
    )


def _show(call: ToolCall, corpus: str, citation: Mapping[str, Any]) -> CitedOut:
    document, chunk_id = citation["document"], citation["chunk_id"]
    return CitedOut(
        marker=citation["marker"],
        id=str(Reference(corpus=corpus, kind="chunks", id=chunk_id)) if chunk_id else "",
        title=document["title"] or document["key"],
        url=citation["url"] or link_to(call.address, corpus, document["id"], document["metadata"], citation["link"]),
        link=citation["link"],
        page=citation["page"],
        page_label=citation["page_label"],
        part_of=citation["part_of"],
        cell=_describe_cell(citation["cell"]),
        quote=citation["quote"],
    )


def _describe_cell(cell: Mapping[str, Any] | None) -> str:
    return f"{cell['row']} × {cell['column']}" if cell and cell["column"] else ""


def describe_event(kind: str, data: Mapping[str, Any]) -> str | None:
    """Returns a sentence on an event of an answer; None for an event that is not worth it."""
    match kind:
        case "plan":
            return f"planned {len(data['steps'])} steps"
        case "search":
            return f"searched for {_shorten(data['query'])!r}: {len(data['hits'])} passages"
        case "step":
            return f"{_shorten(data['question'])} {_shorten(data['answer'] or 'no answer')}"
        case "review":
            return f"checked an answer: {data['verdict']}"
        case "note":
            return _shorten(data["text"])
        case _:
            return None


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


ASK = Tool(
    name="ask",
    title="Ask the documents",
    description="Answers a question from the user's documents, in several searches if it needs them, and cites the "
    "passages with verbatim quotes. It may take from seconds to minutes. `support` and `note` say whether passages "
    "state the answer; pass on what `note` says. If it abstains, the documents do not answer the question; its "
    "citations are the nearest passages then.",
    arguments=AskArguments,
    result=AskResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_ask,
)
