"""Actions that split a question into queries, or clean it, without a plan.

- `atomic_queries`: the queries that can be looked up before anything is known (LevelRAG, arXiv 2502.18139);
  `supplement`, `supplement_from_passages`: the queries that are still to be looked up after the first rounds.
- `split_question`: sub-questions that do not depend on one another.
- `denoise`, `split_intents`: a question with its spelling and grammar corrected, and one query for each of its aspects
  (Omni-RAG, arXiv 2506.21384).
"""

from collections.abc import Collection, Sequence

from pydantic import BaseModel, Field

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.contexts import Context, format_contexts
from reasoning.actions.replies import format_limit, take_distinct
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session


class _Broken(BaseModel):
    queries: list[str]


async def atomic_queries(session: Session, question: str, limit: int | None) -> tuple[str, ...]:
    """Returns at most `limit` queries, each once; the question itself if the model gave none.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "atomic_queries"),
        question=question,
        variables={"question": neutral(question), "limit": format_limit(limit)},
        conversation=True,
    )
    reply, _ = await session.complete_structured(call, _Broken)
    return take_distinct(session, reply.queries, limit, "atomic queries") or (question,)


_NOTHING = "no additional information is required"


class _Supplemented(BaseModel):
    queries: list[str]


async def supplement(
    session: Session,
    question: str,
    contexts: Sequence[Context],
    *,
    asked: Sequence[str],
    limit: int | None,
    chunks: Collection[str],
) -> tuple[str, ...]:
    """Returns new queries from contexts, or none if nothing more is needed. `asked` are the earlier queries.

    `chunks` are ids of the chunks that the contexts were written from.
    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "supplement"),
        question=question,
        variables={"contexts": format_contexts(contexts), **_variables(question, asked, limit)},
        chunks=frozenset(chunks),
    )
    return await _complete_queries(session, call, limit)


async def supplement_from_passages(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    asked: Sequence[str],
    limit: int | None,
    chunks: Collection[str],
) -> tuple[str, ...]:
    """Returns new queries as `supplement` does, from the passages themselves.

    `chunks` are ids of the chunks whose words earlier queries may hold.
    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "supplement_from_passages"),
        role="supplement",
        question=question,
        variables=_variables(question, asked, limit),
        passages=passages,
        chunks=frozenset(chunks),
    )
    return await _complete_queries(session, call, limit)


def _variables(question: str, asked: Sequence[str], limit: int | None) -> dict[str, str]:
    lines = (" ".join(query.split()) for query in asked)
    return {"question": neutral(question), "asked": fenced("known", "\n".join(lines)), "limit": format_limit(limit)}


async def _complete_queries(session: Session, call: ModelCall, limit: int | None) -> tuple[str, ...]:
    reply, _ = await session.complete_structured(call, _Supplemented)
    queries = [query for query in reply.queries if _NOTHING not in query.casefold()]
    return take_distinct(session, queries, limit, "supplements")


class _Split(BaseModel):
    questions: list[str]


async def split_question(session: Session, question: str, limit: int) -> tuple[str, ...]:
    """Returns at most `limit` sub-questions, each once; the question itself if the model gave none.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "split_question"),
        question=question,
        variables={"question": neutral(question), "limit": str(limit)},
        conversation=True,
    )
    reply, _ = await session.complete_structured(call, _Split)
    return take_distinct(session, reply.questions, limit, "sub-questions") or (question,)


class _Rewritten(BaseModel):
    question: str = Field(max_length=100_000)


async def denoise(session: Session, question: str) -> str:
    """Returns the rewritten question. If the model gave none, returns the question unchanged and notes it.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "denoise"),
        question=question,
        variables={"question": neutral(question)},
        conversation=True,
    )
    reply, _ = await session.complete_structured(call, _Rewritten)
    rewritten = reply.question.strip()
    if not rewritten:
        session.trace.note("denoise: the model rewrote the question to nothing; it is used as it was asked")
    return rewritten or question


_UNBOUNDED = "as many as there are aspects"
"""The word in the prompt in place of a number."""


class _Intents(BaseModel):
    queries: list[str]


async def split_intents(session: Session, question: str, limit: int) -> tuple[str, ...]:
    """Returns at most `limit` queries (0: any number), each once; the question itself if the model gave none.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "split_intents"),
        question=question,
        variables={"question": neutral(question), "limit": str(limit) if limit else _UNBOUNDED},
        conversation=True,
    )
    reply, _ = await session.complete_structured(call, _Intents)
    return take_distinct(session, reply.queries, limit or len(reply.queries), "queries") or (question,)
