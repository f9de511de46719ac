"""Actions that write queries for searchers.

- `next_queries`: rewrites, decomposes or disambiguates a query, or ends (RQ-RAG, arXiv 2404.00610, section 3, whose
  model was trained to write a special token for each of these).
- `rewrite_keywords`: a query as keywords for a text index (LevelRAG, arXiv 2502.18139).
- `propose_keyword`: one word to add to a keyword query, to emphasize or to exclude (LevelRAG, algorithm 1);
  `refine_query` proposes all three in one call.
- `pseudo_document`: a passage as the collection might have it, to search for similar ones (LevelRAG's dense searcher).
- `query_entities`: the entities that a query names (HippoRAG, arXiv 2405.14831, section 2).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field, field_validator

from core.errors import MalformedReply
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

QueryKind = Literal["rewrite", "decompose", "disambiguate", "answer"]

_MEANINGS: dict[QueryKind, str] = {
    "rewrite": "the question in other words, which a passage that states its answer is likely to have",
    "decompose": "one part of the question, whose answer is needed and not known yet",
    "disambiguate": "one meaning of the question, if a name or a word in it may stand for several things",
    "answer": "nothing more is to be searched for; `query` is empty",
}


@dataclass(frozen=True, kw_only=True)
class QueryMove:
    """A way on. The `query` of a move that answers the question is not used."""

    kind: QueryKind
    query: str = ""


class _Move(BaseModel):
    kind: QueryKind
    query: str = Field(default="", max_length=8000)


class _Moves(BaseModel):
    moves: list[_Move]


async def next_queries(
    session: Session,
    question: str,
    searched: Sequence[str],
    passages: Sequence[Hit],
    *,
    kinds: Sequence[QueryKind],
    width: int,
    step: str = "",
    temperature: float = 0.0,
) -> tuple[QueryMove, ...]:
    """Returns at most `width` moves of these `kinds`. `searched` are the queries so far, which found `passages`.

    A move of another kind, or without the query that it needs, is dropped. Raises `ModelFailed` if the reply cannot be
    read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "next_queries"),
        question=question,
        variables={
            "question": neutral(question),
            "kinds": "\n".join(f'  - "{kind}": {_MEANINGS[kind]}' for kind in kinds),
            "example": kinds[0],
            "width": str(width),
            "searched": _format_searched(searched),
        }
        | ({} if searched else {"passages": ""}),
        passages=passages,
        step=step,
        conversation=True,
        temperature=temperature,
    )
    reply, _ = await session.complete_structured(call, _Moves)
    moves = (QueryMove(kind=move.kind, query=" ".join(move.query.split())) for move in reply.moves)
    return tuple(move for move in moves if move.kind in kinds and (move.query or move.kind == "answer"))[:width]


def _format_searched(queries: Sequence[str]) -> str:
    if not queries:
        return "Nothing was searched for yet."
    return "Searched for before, in this order:\n" + fenced("known", "\n".join(queries))


_MAX_KEYWORDS = 20


class _Rewritten(BaseModel):
    keywords: list[str]

    @field_validator("keywords")
    @classmethod
    def _check(cls, keywords: list[str]) -> list[str]:
        words = [keyword for keyword in keywords if any(map(str.isalnum, keyword))]
        if not words:
            raise ValueError("there is no keyword with a letter or a digit")
        return words


async def rewrite_keywords(
    session: Session, question: str, *, step: str = "", chunks: Collection[str] = ()
) -> tuple[str, ...]:
    """Returns words, and names of several words, each with a letter or a digit: at least one, at most `_MAX_KEYWORDS`.

    `chunks` are ids of the chunks whose words the question may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "rewrite_keywords"),
        question=question,
        variables={"question": neutral(question)},
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Rewritten)
    return tuple(reply.keywords[:_MAX_KEYWORDS])


Operation = Literal["extend", "emphasize", "filter"]

OPERATIONS: tuple[Operation, ...] = ("extend", "emphasize", "filter")
"""In the order in which algorithm 1 puts the refined queries into its queue."""

_MAX_KEYWORD = 200
"""In characters."""


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """A word, or a name of several words, for each of LevelRAG's three operations; '' if the model has none."""

    extend: str
    emphasize: str
    filter: str


class _Refined(BaseModel):
    extend: str = Field(max_length=_MAX_KEYWORD)
    emphasize: str = Field(max_length=_MAX_KEYWORD)
    filter: str = Field(max_length=_MAX_KEYWORD)


class _Proposed(BaseModel):
    keyword: str = Field(max_length=_MAX_KEYWORD)


async def refine_query(
    session: Session,
    question: str,
    query: str,
    passages: Sequence[Hit],
    *,
    tried: Sequence[str] = (),
    step: str = "",
    chunks: Collection[str] = (),
) -> Refinement:
    """Proposes all three words in one call, from the passages that the query found; the paper makes three calls.

    `tried` are other queries that did not find enough. `chunks` are ids of the chunks whose words the question or the
    query may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "refine_query"),
        question=question,
        variables={
            "question": neutral(question),
            "query": fenced("known", query),
            "tried": _format_tried(tried),
        },
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Refined)
    return Refinement(extend=reply.extend.strip(), emphasize=reply.emphasize.strip(), filter=reply.filter.strip())


async def propose_keyword(
    session: Session,
    operation: Operation,
    question: str,
    query: str,
    passages: Sequence[Hit],
    *,
    step: str = "",
    chunks: Collection[str] = (),
) -> str:
    """Proposes the word for one operation, as the paper does: the call sees the question, the current query and the
    passages that this query found, and nothing else. Returns '' if the model has no word.

    `chunks` has the meaning that it has in `refine_query`. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", f"{operation}_query"),
        question=question,
        variables={"question": neutral(question), "query": fenced("known", query)},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Proposed)
    return reply.keyword.strip()


def _format_tried(queries: Sequence[str]) -> str:
    return "Other queries that were tried:\n" + fenced("known", "\n".join(queries)) if queries else ""


_MAX_LENGTH = 2000
"""In characters; embedding models read little more."""


class _Written(BaseModel):
    passage: str


async def pseudo_document(
    session: Session,
    question: str,
    passages: Sequence[Hit] = (),
    *,
    step: str = "",
    chunks: Collection[str] = (),
) -> str:
    """Returns the passage on one line; with passages, it takes their content into account.

    It may be false, and is never shown to a user. A reply in prose is taken as the passage; any other reply that cannot
    be read gives ''. `chunks` are ids of the chunks whose words the question may hold. Raises `ModelFailed` for an
    empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "pseudo_document"),
        question=question,
        variables={"question": neutral(question)} | ({} if passages else {"passages": ""}),
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    try:
        reply, _ = await session.complete_structured(call, _Written)
        text = reply.passage
    except MalformedReply as error:
        if not error.text:  # nothing was written: no form was broken
            raise
        text = "" if "{" in error.text else error.text
        session.trace.note(f"a pseudo-document was not in the requested form: {error}")
    return " ".join(text.split())[:_MAX_LENGTH]


_MAX_ENTITIES = 20


class _Entities(BaseModel):
    entities: list[str]


async def query_entities(
    session: Session, text: str, *, step: str = "", chunks: Collection[str] = ()
) -> tuple[str, ...]:
    """Returns at most `_MAX_ENTITIES` names, each once; none, without a call, for a text without letters, as `48%`.

    `chunks` are ids of the chunks whose words the text may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    if not any(map(str.isalpha, text)):
        return ()
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "query_entities"),
        question=text,
        variables={"text": fenced("document", text)},
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Entities)
    names = dict.fromkeys(name.strip() for name in reply.entities)
    return tuple(name for name in names if name)[:_MAX_ENTITIES]
