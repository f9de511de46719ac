"""The action `conclude`: the final answer, streamed as it is written.

It is written from passages, from the answers of steps with numbered quotes (`quote_steps`), or from the model's memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from pydantic import BaseModel, Field

from core.documents import Span
from core.errors import MalformedReply
from core.ports.chat import ReplyForm
from core.ports.reasoning import Citation, Quote, Support, Unsupported
from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from core.text.sentences import split_sentences
from core.text.terms import split_words
from reasoning.actions.answers.answer import format_finding, format_known
from reasoning.actions.replies import Graded, SupportWord, format_answer_form, format_support_rule, grade, is_abstention
from reasoning.citations.markers import cite_passages, cite_quotes, parse_markers, strip_markers
from reasoning.citations.quotes import name_source, passage_text
from reasoning.engine.answers import Conclusion
from reasoning.engine.calls import AnswerStream, ModelCall, read_partial_answer
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of, list_evidence
from reasoning.reading import find_evidence

_ROLE = "conclude"
_MAX_ANSWER = 40_000
_MOST_TOKENS = 800
"""Tokens of sentences of a small model, which may repeat itself until its context is full: a quarter of an hour."""


class Concluded(BaseModel):  # without a docstring: it would be part of the schema that models are sent
    answer: str = Field(max_length=_MAX_ANSWER)
    support: SupportWord
    unstated: str = ""


class _ConcludedPlainly(BaseModel):
    answer: str = Field(max_length=_MAX_ANSWER)


class _ConcludedThinking(BaseModel):
    thoughts: str = ""
    answer: str = Field(max_length=_MAX_ANSWER)
    support: SupportWord
    unstated: str = ""


_Reply = Concluded | _ConcludedThinking | _ConcludedPlainly


async def conclude(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    facts: Sequence[Fact] = (),
    thinking: bool = False,
    step: str = "",
    sample: int = 0,
    temperature: float = 0.0,
) -> Conclusion:
    """Answers from numbered passages. `thinking` asks for a chain of thought before the answer; only then `facts` are
    shown.

    A `sample` above 0 is one of several drafts, and is not streamed. Raises `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_thinking" if thinking else "conclude"),
        role=_ROLE,
        question=question,
        variables={
            "question": neutral(question),
            "support": format_support_rule(session),
        },
        passages=passages,
        facts=facts,
        step=step,
        conversation=True,
        sample=sample,
        temperature=temperature,
    )
    return await _conclude_from_passages(session, call, (), thinking=thinking, stream=not sample)


async def conclude_plainly(session: Session, question: str, passages: Sequence[Hit], *, step: str = "") -> Conclusion:
    """Answers from numbered passages, by a small model: it gets few instructions, and is not asked what its answer
    stands on. Code computes that, and finds the passages of an answer that names none.

    Raises `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_plainly"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question)},
        passages=passages,
        step=step,
        conversation=True,
        max_tokens=_MOST_TOKENS,
    )
    return await _conclude_from_passages(session, call, (), thinking=False, stream=True, plainly=True)


async def conclude_findings(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    chain: Sequence[KnownAnswer],
    *,
    guided: bool = True,
    step: str = "",
) -> Conclusion:
    """Answers from whole passages and the findings of steps, which are shown with what they stand on.

    With `guided`, the model is told to think link by link, and to look for missing links in the passages. Raises
    `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_findings" if guided else "conclude_trajectory"),
        role=_ROLE,
        question=question,
        variables={
            "question": neutral(question),
            "support": format_support_rule(session),
            "findings": _format_findings(chain, passages),
            **({"form": format_answer_form(question, is_last=True)} if guided else {}),
        },
        passages=passages,
        chunks=chunk_ids_of(chain),
        step=step,
        conversation=True,
    )
    return await _conclude_from_passages(session, call, chain, thinking=guided, stream=True)


async def conclude_steps(
    session: Session, question: str, chain: Sequence[KnownAnswer], *, step: str = ""
) -> Conclusion:
    """Answers from sub-questions, their answers, and the quotes that support these, numbered through all steps.

    Quotes beyond a number of words are left out, and a note says so. Raises `ModelFailed` for an empty reply.
    """
    steps = quote_steps(chain)
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_steps"),
        role=_ROLE,
        question=question,
        variables={
            "question": neutral(question),
            "support": format_support_rule(session, "the answers of the steps or the quotes"),
            "steps": steps.text,
        },
        chunks=chunk_ids_of(chain),
        step=step,
        conversation=True,
    )
    if steps.left_out:
        session.trace.note(f"{_ROLE}: {steps.left_out} quotes of the steps were left out; they are too long together")
    reply, _ = await _complete(session, call, Concluded, sources=len(steps.quotes), stream=True)
    answer, citations = cite_quotes(reply.answer, steps.quotes, session.trace)
    evidence = list_evidence(chain) if citations else []
    return _graded(session, call, reply, answer, citations, shown=steps.shown, evidence=evidence)


def is_streamed(session: Session) -> bool:
    """Whether the final answer may be shown while it is written: not if its support decides whether it is given."""
    return session.question.unsupported is not Unsupported.ABSTAIN


def rescue_answer(session: Session, error: MalformedReply) -> Concluded:
    """Returns what can be read of a reply that lacks the requested form, as an inferred answer. A note says so.

    The answer is the text of prose, or the answer in an unfinished object. Of an answer that is cut off itself only
    whole sentences count: "17 Apr" may be the beginning of 17 April or of 17 April 2025. An answer that is too long is
    cut. Raises `error` if nothing is left.
    """
    is_object = "{" in error.text
    answer = read_partial_answer(error.text, closed=True) if is_object else "" if error.cut else error.text
    is_cut = not answer.strip()
    if is_cut:
        begun = read_partial_answer(error.text) if is_object else error.text
        *whole, _ = [(0, 0), *split_sentences(begun)]
        answer = begun[: whole[-1][1]] if whole else ""
    if not answer.strip():
        raise error
    session.trace.note(f"{_ROLE}: the answer is what could be read of a malformed reply: {error}")
    unstated = "the rest of the answer, which was cut off" if is_cut else ""
    return Concluded(answer=answer.rstrip()[:_MAX_ANSWER], support=Support.INFERRED, unstated=unstated)


async def _conclude_from_passages(
    session: Session,
    call: ModelCall,
    chain: Sequence[KnownAnswer],
    *,
    thinking: bool,
    stream: bool,
    plainly: bool = False,
) -> Conclusion:
    shape = _ConcludedPlainly if plainly else _ConcludedThinking if thinking else Concluded
    reply, shown = await _complete(session, call, shape, sources=len(call.passages), stream=stream)
    text = reply.answer
    named_by_code = plainly or call.prompt.reply is ReplyForm.TEXT
    if named_by_code and text.strip() and not any(1 <= number <= len(shown) for number in parse_markers(text)):
        text += "".join(
            f" [{shown.index(hit) + 1}]" for hit in find_evidence(strip_markers(text), call.question, shown)
        )
    answer, citations = cite_passages(text, shown, session.trace, call.question)
    cited = {citation.chunk_id for citation in citations}
    evidence = [passage_text(hit) for hit in shown if hit.chunk.id in cited]
    if citations:
        evidence += list_evidence(chain)
    shown_texts = tuple(map(passage_text, shown))
    conclusion = _graded(session, call, reply, answer, citations, shown=shown_texts, evidence=evidence)
    return replace(conclusion, thoughts=reply.thoughts) if isinstance(reply, _ConcludedThinking) else conclusion


async def _complete(
    session: Session, call: ModelCall, shape: type[_Reply], *, sources: int, stream: bool
) -> tuple[Concluded | _ConcludedThinking, tuple[Hit, ...]]:
    """Sends a call of this action. The readable part of a malformed reply counts as an inferred answer."""
    tokens = AnswerStream(session.trace, sources) if stream and is_streamed(session) else None
    try:
        reply, shown = await session.complete_structured(call, shape, tokens)
    except MalformedReply as error:
        return rescue_answer(session, error), tuple(call.passages)
    if tokens is not None:
        tokens.end()
    if isinstance(reply, _ConcludedPlainly):  # what it is worth is computed
        return Concluded(answer=reply.answer, support=Support.STATED), shown
    return reply, shown


def _graded(
    session: Session,
    call: ModelCall,
    reply: Graded,
    answer: str,
    citations: Sequence[Citation],
    *,
    shown: tuple[str, ...],
    evidence: Sequence[str],
) -> Conclusion:
    graded = grade(session, reply, answer, evidence, call.question, step=call.step)
    cites = graded.support in (Support.STATED, Support.INFERRED)
    return Conclusion(
        text=graded.text if cites else strip_markers(graded.text),
        support=graded.support,
        unstated=graded.unstated,
        citations=tuple(citations) if cites else (),
        shown=shown,
    )


def _format_findings(chain: Sequence[KnownAnswer], passages: Sequence[Hit]) -> str:
    """Returns the findings with the numbers of the passages that they stand on."""
    numbers = {hit.chunk.id: number for number, hit in enumerate(passages, start=1)}
    blocks = []
    for step in chain:
        cited = sorted({numbers[quote.hit.chunk.id] for quote in step.quotes if quote.hit.chunk.id in numbers})
        sources = "".join(f" [{number}]" for number in cited)
        blocks.append(fenced("known", f"Question: {step.question}\n{format_finding(step)}{sources}"))
    return "\n".join(blocks)


MAX_QUOTE_WORDS = 600
"""Words of all quotes together, without stop words. The first quote of each step is shown beyond it, too."""

_Place = tuple[str, Span]


@dataclass(frozen=True, kw_only=True)
class QuotedSteps:
    """`text` is the block of the prompt, `quotes` are the quotes in it, numbered from 1. `left_out` is the number of
    quotes that did not fit.
    """

    text: str
    quotes: tuple[Quote, ...]
    left_out: int

    @property
    def shown(self) -> tuple[str, ...]:
        """The evidence in the prompt: each quote under the name of its source.

        The questions and answers of the steps are no evidence: a question may hold the answer that is looked for.
        """
        return tuple(f"{name_source(quote)}\n{quote.text}" for quote in self.quotes)


def quote_steps(chain: Sequence[KnownAnswer]) -> QuotedSteps:
    """Returns the steps with their quotes, as many as `MAX_QUOTE_WORDS` allows: the first of each step, then the second
    of each, and so on. A quote of several steps is shown once, and later steps name its number.
    """
    chosen = _choose(chain)
    numbers: dict[_Place, int] = {}
    quotes, blocks = list[Quote](), list[str]()
    for step in chain:
        lines = [f"Question: {step.question}", format_finding(step)]
        for quote in step.quotes:
            place = _place(quote)
            if place in numbers:
                lines.append(f"[{numbers[place]}], as above")
            elif place in chosen:
                quotes.append(quote)
                numbers[place] = len(quotes)
                lines.append(f"[{len(quotes)}] {name_source(quote)}: {quote.text}")
        blocks.append(fenced("known", "\n".join(lines)))
    all_places = {_place(quote) for step in chain for quote in step.quotes}
    left_out = len(all_places - chosen)
    return QuotedSteps(text="\n".join(blocks), quotes=tuple(quotes), left_out=left_out)


def _choose(chain: Sequence[KnownAnswer]) -> set[_Place]:
    chosen: set[_Place] = set()
    words = 0
    for rank, quote in _by_rank(chain):
        place, count = _place(quote), len(split_words(quote.text))
        if place not in chosen and (rank == 0 or words + count <= MAX_QUOTE_WORDS):
            chosen.add(place)
            words += count
    return chosen


def _by_rank(chain: Sequence[KnownAnswer]) -> Iterator[tuple[int, Quote]]:
    """The first quote of each step, with 0, then the second of each, with 1, and so on."""
    for rank, quotes in enumerate(zip_longest(*(step.quotes for step in chain))):
        yield from ((rank, quote) for quote in quotes if quote is not None)


def _place(quote: Quote) -> _Place:
    return quote.hit.chunk.id, quote.span


class _Remembered(BaseModel):
    answer: str = Field(max_length=40_000)


async def conclude_memory(
    session: Session,
    question: str,
    *,
    step: str = "",
    known: Sequence[KnownAnswer] = (),
    stream: bool = True,
) -> str:
    """Returns the answer without any marker; '' if the model does not know it.

    Set `stream` to False if it is not the final answer. Raises `ModelFailed` if nothing of the reply can be
    read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_memory"),
        role="conclude",
        question=question,
        variables={"question": neutral(question), "known": format_known(known)},
        chunks=chunk_ids_of(known),
        step=step,
        conversation=True,
    )
    tokens = AnswerStream(session.trace, sources=0) if stream and is_streamed(session) else None
    try:
        reply, _ = await session.complete_structured(call, _Remembered, tokens)
    except MalformedReply as error:
        written = rescue_answer(session, error).answer
    else:
        written = reply.answer
        if tokens is not None:
            tokens.end()
    text = cite_passages(written, (), session.trace)[0].strip()
    return "" if is_abstention(text) else text
