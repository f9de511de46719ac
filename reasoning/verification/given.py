"""`GivenAnswer`: what a verification has to know of an answer, and the cost of verifying it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.ports.reasoning import Answer, Support
from core.text.answers import normalise_answer
from core.trace import Usage
from core.verification import Located, VerificationCost
from reasoning.citations.markers import strip_markers

MAX_DOCUMENTS = 20
"""Documents of one answer that are masked. Each costs an answer."""

_BESIDE = frozenset({"restate_question"})
"""Roles whose calls are made once for a question, and not again for each masked document."""
_CHARACTERS = 4
"""Characters of a token, about."""
_PROMPT_TOKENS = 400
"""Tokens of a prompt and its reply, about, without what is shown."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """A citation of the answer (`marker`), or a quote of one of its steps. `place` is the text that it supports."""

    located: Located
    quote: str
    place: str
    marker: int | None = None


@dataclass(frozen=True, kw_only=True)
class CitedDocument:
    """A document that the answer cites, or that a step of it quotes, with the quoted words.

    `places` are the normalised texts that the document is a source of: answers of steps, else the parts of the answer
    that cite it. Documents that share a place say the same, or one thing together.
    """

    located: Located
    markers: tuple[int, ...]
    quotes: tuple[str, ...]
    places: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class GivenAnswer:
    """An answer that is to be verified. `text` has no markers.

    `chunks` are the ids of the chunks whose words it may hold. `links` are the markers of citations of the web.
    `calls` and `tokens` are what answering the question again takes, without a cache.
    """

    text: str
    support: Support
    documents: tuple[CitedDocument, ...]
    chunks: frozenset[str]
    links: tuple[int, ...]
    calls: int
    tokens: int


def read_answer(answer: Answer, usage: Usage) -> GivenAnswer:
    """Returns an answer as it is verified. `usage` is the usage of the answer alone."""
    calls, tokens = count_usage(usage, sum(map(len, answer.shown or ())))
    links = {citation.marker for citation in answer.citations if citation.url is not None}
    return GivenAnswer(
        text=answer.plain,
        support=answer.support,
        documents=list_cited(answer),
        chunks=frozenset(_list_chunks(answer)),
        links=tuple(sorted(links)),
        calls=calls,
        tokens=tokens,
    )


def list_cited(answer: Answer) -> tuple[CitedDocument, ...]:
    """Returns the documents that the answer cites, in that order, then documents that only its steps quote.

    Passages of the web, the passages that are nearest to an abstention, and steps without an answer are left out.
    """
    return collect_documents(_list_uses(answer))


def collect_documents(uses: Iterable[Use]) -> tuple[CitedDocument, ...]:
    """Returns the documents of these uses, in the order of their first use."""
    found: dict[tuple[str, str], list[Use]] = {}
    for use in uses:
        found.setdefault(use.located.key, []).append(use)
    return tuple(_collect(of_one) for of_one in found.values())


def _collect(uses: Sequence[Use]) -> CitedDocument:
    """Returns the document of these uses. If steps quote it, its places are the answers of these steps, since the
    answer itself may follow from several steps.
    """
    steps = [use.place for use in uses if use.marker is None]
    return CitedDocument(
        located=uses[0].located,
        markers=tuple(dict.fromkeys(use.marker for use in uses if use.marker is not None)),
        quotes=tuple(dict.fromkeys(use.quote for use in uses)),
        places=frozenset(map(normalise_answer, steps or (strip_markers(use.place) for use in uses))),
    )


def _list_uses(answer: Answer) -> Iterator[Use]:
    for citation in answer.citations if not answer.abstained else ():
        if citation.url is None:
            span = citation.answer_span
            yield Use(
                located=Located(citation.document, citation.corpus),
                marker=citation.marker,
                quote=citation.quote,
                place=answer.text[span.start : span.end],
            )
    for step in answer.steps:
        for quote in step.quotes if step.answer else ():
            if quote.hit.url is None:
                yield Use(located=Located(quote.hit.document, quote.hit.corpus), quote=quote.text, place=step.answer)


def estimate_cost(given: GivenAnswer) -> VerificationCost | None:
    """Returns the cost of verifying an answer: an answer and a comparison for each document; None without documents.

    It is an estimate: an answer over fewer documents may take more steps, or fewer.
    """
    documents = min(len(given.documents), MAX_DOCUMENTS)
    if not documents:
        return None
    comparison = _PROMPT_TOKENS + 2 * len(given.text) // _CHARACTERS
    calls, tokens = (given.calls + 1, given.tokens + comparison) if given.calls else (0, 0)
    return VerificationCost(documents=documents, calls=documents * calls, tokens=documents * tokens)


def count_usage(usage: Usage, shown: int) -> tuple[int, int]:
    """Returns the calls of an answer, also cached calls, and their tokens. A cached call counts as many tokens as other
    calls on average; if all are cached, they are estimated from `shown`, the characters that the last call was shown.
    """
    rows = [row for row in usage.actions.values() if row.action not in _BESIDE]
    paid = sum(row.calls for row in rows)
    tokens = sum(row.prompt_tokens + row.completion_tokens for row in rows)
    calls = paid + sum(row.cached for row in rows)
    return calls, tokens * calls // paid if paid else calls * (_PROMPT_TOKENS + shown // _CHARACTERS)


def _list_chunks(answer: Answer) -> Iterable[str]:
    yield from (citation.chunk_id for citation in answer.citations if citation.url is None)
    yield from (hit.chunk.id for step in answer.steps for hit in step.hits if hit.url is None)
    yield from (quote.hit.chunk.id for step in answer.steps for quote in step.quotes if quote.hit.url is None)
