"""`read_stored`: an answer that was stored as its response, as it is verified later."""

from collections.abc import Iterator

from api.schemas.ask import AnswerOut
from core.documents import DocumentRef
from core.ids import document_id
from core.usage import ActionUsage, Usage
from core.verification import Located
from reasoning.verification.given import GivenAnswer, Use, collect_documents, count_usage

__all__ = ["read_stored"]


def read_stored(answer: AnswerOut) -> GivenAnswer:
    """Returns what `app.services.questions.verify` has to know of the answer."""
    usage = Usage({(row.action, row.model): ActionUsage(**row.model_dump()) for row in answer.usage.actions})
    hits = [hit for step in answer.steps for hit in step.hits if hit.url is None]
    calls, tokens = count_usage(usage, sum(len(hit.chunk.text) for hit in hits))
    chunks = {hit.chunk.id for hit in hits} | {one.chunk_id for one in answer.citations if one.chunk_id is not None}
    return GivenAnswer(
        text=_strip(answer),
        support=answer.support,
        documents=collect_documents(_list_uses(answer)),
        chunks=frozenset(chunks),
        links=tuple(sorted({one.marker for one in answer.citations if one.url is not None})),
        calls=calls,
        tokens=tokens,
    )


def _strip(answer: AnswerOut) -> str:
    """Returns the text without the markers of its citations."""
    text = answer.answer
    for marker in {one.marker for one in answer.citations}:
        text = text.replace(f" [{marker}]", "").replace(f"[{marker}]", "")
    return text.strip()


def _list_uses(answer: AnswerOut) -> Iterator[Use]:
    for citation in answer.citations:
        if citation.url is None:
            document, span = citation.document, citation.answer_span
            ref = DocumentRef(id=document.id, key=document.key, title=document.title, metadata=document.metadata)
            yield Use(
                located=Located(ref, citation.corpus),
                marker=citation.marker,
                quote=citation.quote,
                place=answer.answer[span.start : span.end],
            )
    for step in answer.steps:
        for quote in step.quotes if step.answer else ():
            if quote.url is None:
                key = quote.document.key
                ref = DocumentRef(id=document_id(key), key=key, title=quote.document.title, metadata={})
                yield Use(located=Located(ref, quote.corpus), quote=quote.quote, place=step.answer)
