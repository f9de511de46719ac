"""Actions that write one more step of a chain of thought.

- `next_sentence`: the next sentence of IRCoT (arXiv 2212.10509, section 3), which tells facts from needs;
  `next_plain_sentence` asks for nothing but the sentence, as the paper does.
- `next_thought`: ReAct's next move, a thought followed by a search or the end (arXiv 2210.03629).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from core.errors import MalformedReply
from core.ports.reasoning import Quote, Support
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from core.text.sentences import split_sentences
from reasoning.actions.answers.answer import select_cited
from reasoning.actions.replies import SupportWord, format_support_rule, grade
from reasoning.citations.markers import parse_markers, strip_markers
from reasoning.citations.quotes import passage_text, select_quote
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.reading import find_evidence

Kind = Literal["fact", "need", "answer"]
"""A fact that passages hold, a fact that has to be found, or the answer, which ends the chain of thought."""

_ANSWERS = re.compile(r"\banswer is\b", re.IGNORECASE)
"""The words that mark the last sentence of the paper's chains."""

_END = re.compile(r"\bso,? the answer is\b|\banswer is\s*:", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of the chain, and what it stands on. A need stands on nothing."""

    kind: Kind
    text: str
    support: Support = Support.NONE
    unstated: str = ""
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Search:
    """A search for a need, and how many passages it brought that were not known."""

    query: str
    new: int


class _Thought(BaseModel):
    kind: Kind
    sentence: str = Field(max_length=8000)
    support: SupportWord = Support.INFERRED
    unstated: str = ""
    citations: list[int] = []


class _PlainThought(BaseModel):
    sentence: str = Field(max_length=8000)


async def next_sentence(
    session: Session,
    question: str,
    facts: Sequence[Sentence],
    searches: Sequence[Search],
    passages: Sequence[Hit],
    *,
    brought: int | None,
    step: str = "",
) -> Sentence:
    """Returns the sentence that follows `facts`; its text is '' if the model has nothing to say. Further sentences are
    dropped, except from an answer, which may state the last fact first.

    `brought` is how many of the passages the last search brought; None: it was not made, and no search follows.
    A reply in prose, which is not the requested form, is taken as an inferred fact, or as the answer if it says so.
    Raises `ModelFailed` if the reply cannot be read otherwise.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "next_sentence"),
        question=question,
        variables={
            "question": neutral(question),
            "sentences": _format_facts(facts),
            "searches": _format_searches(searches),
            "brought": _format_brought(brought),
        },
        passages=passages,
        chunks=frozenset(hit.chunk.id for hit in passages if hit.url is None),
        step=step,
        conversation=True,
    )
    try:
        reply, shown = await session.complete_structured(call, _Thought)
    except MalformedReply as error:
        return _rescued(session, error)
    return _checked(session, reply, shown, question, step)


async def next_plain_sentence(
    session: Session, question: str, sentences: Sequence[Sentence], passages: Sequence[Hit], *, step: str = ""
) -> Sentence:
    """Returns the first sentence of the reply, which follows `sentences`; its text is '' for a reply without sentences.

    It is the answer if it says `answer is`, else a fact. Code finds the passages that it stands on; a question stands
    on no passage. A reply in prose is taken as the sentence. Raises `ModelFailed` for a reply that cannot be read
    otherwise.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "next_sentence_plain"),
        role="next_sentence",
        question=question,
        variables={"question": neutral(question), "sentences": _format_chain(sentences)},
        passages=passages,
        chunks=frozenset(hit.chunk.id for hit in passages if hit.url is None),
        step=step,
        conversation=True,
    )
    try:
        reply, shown = await session.complete_structured(call, _PlainThought)
    except MalformedReply as error:
        if not error.text or "{" in error.text:
            raise
        reply, shown = _PlainThought.model_construct(sentence=error.text), tuple(passages)
    text = _cut(strip_markers(reply.sentence), "fact")
    cited = () if not text or text.endswith(("?", "？")) else find_evidence(text, question, shown)
    return Sentence(
        kind="answer" if not text or _ANSWERS.search(text) else "fact",
        text=text,
        support=Support.STATED if cited else Support.INFERRED if text else Support.NONE,
        quotes=tuple(select_quote(hit, text, question) for hit in cited),
    )


def _checked(session: Session, reply: _Thought, shown: tuple[Hit, ...], question: str, step: str) -> Sentence:
    """Returns the sentence with its support. A fact without support is a need: it has to be found."""
    text = _cut(strip_markers(reply.sentence), reply.kind)
    need = Sentence(kind="need", text=text, unstated=text)
    if reply.kind == "need":
        return need
    cited = select_cited(session, reply.citations, shown, step)
    graded = grade(session, reply, text, [passage_text(hit) for hit in cited], question, step=step)
    if reply.kind == "fact" and graded.support is Support.NONE:
        return need
    cites = graded.support in (Support.STATED, Support.INFERRED)
    return Sentence(
        kind=reply.kind,
        text=graded.text,
        support=graded.support,
        unstated=graded.unstated,
        quotes=tuple(select_quote(hit, text, question) for hit in cited) if cites else (),
    )


def _rescued(session: Session, error: MalformedReply) -> Sentence:
    """Returns a reply in prose as a sentence; raises the error for any other."""
    if not error.text or "{" in error.text:
        raise error
    session.trace.note(f"a sentence of the chain of thought was not in the requested form: {error}")
    kind: Kind = "answer" if _END.search(error.text) else "fact"
    text = _cut(error.text, "fact")  # prose has no bound
    return Sentence(kind=kind, text=text, support=Support.INFERRED if text else Support.NONE)


def _cut(text: str, kind: Kind) -> str:
    """Returns the first sentence, or the whole text of an answer."""
    if kind == "answer":
        return " ".join(text.split())
    sentences = (text[start:end].strip() for start, end in split_sentences(text))
    return " ".join(next(filter(None, sentences), "").split())


def _format_facts(facts: Sequence[Sentence]) -> str:
    if not facts:
        return "There are no sentences yet: write the first."
    lines = (fact.text if fact.support is Support.STATED else f"{fact.text} ({fact.support})" for fact in facts)
    return "The sentences so far:\n" + fenced("known", "\n".join(lines))


def _format_chain(sentences: Sequence[Sentence]) -> str:
    """Returns the sentences as one text, unmarked; '' without sentences."""
    if not sentences:
        return ""
    return "The sentences so far:\n" + fenced("known", " ".join(sentence.text for sentence in sentences))


def _format_searches(searches: Sequence[Search]) -> str:
    if not searches:
        return ""
    lines = (f"{search.query} ({_format_new(search.new)})" for search in searches)
    return "Searched for already:\n" + fenced("known", "\n".join(lines))


def _format_brought(brought: int | None) -> str:
    if brought is None:
        return "No more passages can be collected, so nothing more is searched for."
    return f"The last search brought {_format_new(brought)}."


def _format_new(new: int) -> str:
    return f"{new} new passage{'s' if new > 1 else ''}" if new else "nothing new"


@dataclass(frozen=True, kw_only=True)
class Observation:
    """An earlier search: the thought before it, its query, and the numbers of the passages that it found.

    `known` are the passages that earlier searches had found already.
    """

    thought: str
    query: str
    passages: tuple[int, ...]
    known: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Move:
    """The model's next move: a search for `text`, or, if it `finishes`, the answer `text` ('' if it has none) and what
    it stands on.
    """

    thought: str
    finishes: bool
    text: str
    support: Support = Support.NONE
    unstated: str = ""
    cited: tuple[Hit, ...] = ()
    shown: tuple[Hit, ...] = ()


class _Moved(BaseModel):
    thought: str = Field(max_length=8000)
    action: Literal["search", "finish"]
    input: str = Field(max_length=8000)
    support: SupportWord = Support.INFERRED
    unstated: str = ""
    citations: list[int] = []

    @model_validator(mode="after")
    def _needs_query(self) -> Self:
        if self.action == "search" and not self.input.strip():
            raise ValueError("`input` is empty; a search needs a query")
        return self


async def next_thought(
    session: Session,
    question: str,
    moves: Sequence[Observation],
    passages: Sequence[Hit],
    *,
    left: int | None,
    step: str = "",
) -> Move:
    """Returns the move after `moves`. `passages` are all that these found; `left` is the number of moves left; None:
    the model is not told.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "next_thought"),
        question=question,
        variables={
            "question": neutral(question),
            "moves": _format_moves(moves),
            "left": _format_left(left),
            "support": format_support_rule(session),
        }
        | ({} if moves else {"passages": ""}),
        passages=passages,
        chunks=frozenset(hit.chunk.id for hit in passages if hit.url is None),
        step=step,
        conversation=True,
    )
    reply, shown = await session.complete_structured(call, _Moved)
    if reply.action == "search":
        return Move(thought=reply.thought.strip(), finishes=False, text=reply.input.strip(), shown=shown)
    cited = select_cited(session, [*reply.citations, *parse_markers(reply.input)], shown, step)
    evidence = [passage_text(hit) for hit in cited]
    graded = grade(session, reply, strip_markers(reply.input), evidence, question, step=step)
    return Move(
        thought=reply.thought.strip(),
        finishes=True,
        text=graded.text,
        support=graded.support,
        unstated=graded.unstated,
        cited=cited if graded.support in (Support.STATED, Support.INFERRED) else (),
        shown=shown,
    )


def _format_moves(moves: Sequence[Observation]) -> str:
    if not moves:
        return "You have not searched yet."
    lines = ["Your moves so far, with the numbers of the passages that each search brought:"]
    for number, move in enumerate(moves, start=1):
        text = f"Thought {number}: {move.thought}\nSearch {number}: {move.query}\nObservation {number}: {_found(move)}"
        lines.append(fenced("known", text))
    return "\n".join(lines)


def _found(move: Observation) -> str:
    new = ", ".join(f"[{passage}]" for passage in move.passages if passage not in move.known)
    again = ", ".join(f"[{passage}]" for passage in move.known)
    if not again:
        return new or "nothing"
    return f"{again} again, and further {new}" if new else f"nothing new ({again} again)"


def _format_left(left: int | None) -> str:
    if left is None:
        return ""
    return "This is your last move." if left == 1 else f"There are {left} moves left, this one included."
