"""The row of a judgement, as it is stored, and the scores of a reasoner from the judgements of all its answers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.errors import HopweaveError, InvalidInput
from core.ids import digest
from core.ports.chat import ChatModels, ChatRequest
from core.prompting.fences import fenced, format_hits, format_passages
from core.prompting.prompts import Prompt, load_prompt, use_prompts
from core.prompting.structured import complete_structured, strip_thinking
from core.strategies import parse_spec
from core.trace import Trace
from evaluation.answering import describe_judges, fingerprint_prompts
from evaluation.indexing import ReportProgress
from evaluation.rows.answer_rows import AnswerRow, Cost, ModelRow, StepRow, read_row
from evaluation.rows.rows_file import JUDGEMENT, RowsFile
from evaluation.scores import mean


@dataclass(frozen=True, kw_only=True)
class JudgementRow:
    """The judgement of one answer. `gain` is by depth, as text. With an `error` there is no judgement, and numbers are
    None.

    `reference` is the answer that a reference model wrote from `chunks`, the chunks of a search or the system's own
    (`reference_from`). `models` wrote the reference and judged; they are empty in rows of earlier releases.
    `fingerprint` identifies all that the judgement depends on, including the answer and the models. `cost` is the cost
    of judging, and no part of the answer's cost.
    """

    question_id: str
    reasoner: str
    reference: str = ""
    chunks: tuple[str, ...] = ()
    relevance: int | None = None
    faithfulness: int | None = None
    gain: Mapping[str, int] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    error: str | None = None
    fingerprint: str = ""
    gold: str = ""
    reference_from: str = "search"
    models: tuple[ModelRow, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> "JudgementRow":
        """Returns the row that `to_json` wrote; raises `ValueError` for anything else."""
        return read_row(_make_reader(), fields)


@cache
def _make_reader() -> TypeAdapter[JudgementRow]:
    return TypeAdapter(JudgementRow)


RELEVANCE = (-1, 0, 1, 2)
FAITHFULNESS = (-1, 0, 1)
_COSTS = ("calls", "cached", "prompt_tokens", "completion_tokens")


def aggregate_judgements(rows: Sequence[JudgementRow]) -> dict[str, Any]:
    """Returns 100 × the mean score, and each score's share, of the judged answers; `failed` counts the others.
    All rows have references of the same kind, and the same models.

    The gain of a depth is the mean over the plans that have this depth.
    """
    judged = [row for row in rows if row.error is None]
    depths = sorted({depth for row in judged for depth in row.gain}, key=int)
    return {
        "relevance": _summarise([row.relevance for row in judged], RELEVANCE),
        "faithfulness": _summarise([row.faithfulness for row in judged], FAITHFULNESS),
        "information_gain": {depth: mean([row.gain[depth] for row in judged if depth in row.gain]) for depth in depths},
        "reference_from": rows[0].reference_from if rows else "",
        "models": [asdict(model) for model in rows[0].models] if rows else [],
        "judged": len(judged),
        "failed": len(rows) - len(judged),
        **{f"{name}_per_query": mean([getattr(row.cost, name) for row in judged]) for name in _COSTS},
    }


def _summarise(scores: Sequence[int | None], possible: Sequence[int]) -> Mapping[str, Any]:
    """Returns the score and shares; the score is None if nothing was judged, since a mean of 0 would be wrong."""
    known = [score for score in scores if score is not None]
    return {
        "score": 100 * mean(known) if known else None,
        "shares": {str(point): mean([float(score == point) for score in known]) for point in possible},
    }


ReferenceFrom = Literal["search", "own"]

_PACKAGE = "evaluation.judging"
_REFERENCE_PASSAGES = 5


def require_judge_models(container: Container) -> ChatModels:
    """Returns the models that judge; raises `InvalidInput` if none is configured."""
    if container.models is None:
        raise InvalidInput(
            "--judge needs a language model, and none is configured: set HOPWEAVE_LLM__MODEL (and "
            "HOPWEAVE_LLM__BASE_URL or HOPWEAVE_LLM__API_KEY), or name one with --model NAME"
        )
    return container.models


@dataclass(frozen=True, kw_only=True)
class _Reference:
    text: str
    chunks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class JudgeCalls:
    """The calls about one question. Each method is one call (and another if its answer cannot be parsed)."""

    models: ChatModels
    trace: Trace
    question: str
    corpus_id: str
    chunks: frozenset[str] = frozenset()

    async def reference(self, passages: str) -> str:
        """Returns an answer from passages, given as a prompt shows them, by the reference model."""
        prompt = load_prompt(_PACKAGE, "judge_reference")
        request = self._request(
            _REFERENCE, prompt, {"question": fenced("question", self.question), "passages": passages}
        )
        completion = await self.models.of(_REFERENCE).complete(request, self.trace)
        return strip_thinking(completion.text)

    async def relevance(self, reference: str, prediction: str) -> int:
        """Returns the relevance of the prediction, from -1 to 2, compared with the reference answer."""
        variables = {
            "question": fenced("question", self.question),
            "reference": fenced("answer", reference),
            "prediction": fenced("answer", prediction),
        }
        request = self._request(_JUDGE, load_prompt(_PACKAGE, "judge_relevance"), variables)
        return (await complete_structured(self.models.of(_JUDGE), request, RelevanceScore, self.trace)).score

    async def faithfulness(self, passages: Sequence[str], prediction: str) -> int:
        """Returns the faithfulness of the prediction to these retrieved passages, from -1 to 1."""
        variables = {
            "question": fenced("question", self.question),
            "passages": _format_texts(passages),
            "prediction": fenced("answer", prediction),
        }
        request = self._request(_JUDGE, load_prompt(_PACKAGE, "judge_faithfulness"), variables)
        return (await complete_structured(self.models.of(_JUDGE), request, FaithfulnessScore, self.trace)).score

    async def gain(self, steps: Sequence[StepRow]) -> int:
        """Returns how much these steps contribute to the question, from 1 to 10."""
        known = "\n".join(f"- {step.question}\n  → {step.answer or '(no answer)'}" for step in steps)
        variables = {"question": fenced("question", self.question), "steps": fenced("known", known)}
        request = self._request(_GAIN, load_prompt(_PACKAGE, "judge_gain"), variables)
        return (await complete_structured(self.models.of(_GAIN), request, GainScore, self.trace)).score

    def _request(self, role: str, prompt: Prompt, variables: dict[str, str]) -> ChatRequest:
        return ChatRequest(
            role=role,
            messages=prompt.messages(variables),
            prompt_hash=prompt.hash,
            reply=prompt.reply,
            corpus_id=self.corpus_id,
            chunk_ids=self.chunks,
            question=self.question,
            labels={"prompt": prompt.name},
        )


@dataclass(kw_only=True)
class Judge:
    """Judges the answers to one dataset's questions.

    With `reference_from=search`, the reference answer of a question is written once, from the best passages of the
    searcher `over`, and is used for every reasoner. With `own` it is written from the passages that the judged system
    itself retrieved (Omni-RAG, section 3.5), once for all answers to the question with the same passages.
    """

    container: Container
    models: ChatModels
    corpus: Corpus
    over: str
    dataset: str
    concurrency: int = 1
    reference_from: ReferenceFrom = "search"
    _references: dict[tuple[str, ...], _Reference] = field(default_factory=dict)

    async def judge(
        self, answers: Sequence[AnswerRow], rows: RowsFile | None, progress: ReportProgress
    ) -> list[JudgementRow]:
        """Returns one judgement for each answer, in their order; stored judgements in `rows` that did not fail are used
        again.

        All answers are of one reasoner. The judgement of a failed answer fails too.
        """
        made: dict[int, JudgementRow] = {}
        for place, answer in enumerate(answers):
            row = (
                rows.restore(JUDGEMENT, self._fingerprint(answer), answer.gold, JudgementRow.from_json)
                if rows
                else None
            )
            if row is not None:
                made[place] = row
                self._references.setdefault(self._key(answer), _Reference(text=row.reference, chunks=row.chunks))
        waiting = [place for place in range(len(answers)) if place not in made]
        models = await describe_judges(self.container, _ROLES) if waiting else ()

        async def work() -> None:
            while waiting:
                place = waiting.pop(0)
                made[place] = row = replace(await self._judge_answer(answers[place]), models=models)
                if rows:
                    rows.keep(JUDGEMENT, self.dataset, row.to_json())
                progress(f"judging {row.reasoner}", len(made), len(answers))

        with use_prompts(self.container.prompts):
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(waiting))):
                    group.create_task(work())
        return [made[place] for place in range(len(answers))]

    async def _judge_answer(self, answer: AnswerRow) -> JudgementRow:
        row = JudgementRow(
            question_id=answer.question_id,
            reasoner=answer.reasoner,
            fingerprint=self._fingerprint(answer),
            gold=answer.gold,
            reference_from=self.reference_from,
        )
        if answer.error is not None:
            return replace(row, error=f"there is no answer to judge: {answer.error}")
        trace = Trace()
        try:
            reference = await self._reference(answer, trace)
            bench = self._calls_about(answer, trace, (*answer.chunks, *reference.chunks))
            relevance = await bench.relevance(reference.text, answer.answer)
            faithfulness = await bench.faithfulness(answer.passages, answer.answer)
            gain = {str(depth): await bench.gain(answer.steps_to(depth)) for depth in answer.depths}
        except HopweaveError as error:
            return replace(row, error=str(error), cost=Cost.of(trace))
        return replace(
            row,
            reference=reference.text,
            chunks=reference.chunks,
            relevance=relevance,
            faithfulness=faithfulness,
            gain=gain,
            cost=Cost.of(trace),
        )

    async def _reference(self, answer: AnswerRow, trace: Trace) -> _Reference:
        key = self._key(answer)
        if key not in self._references:
            passages, chunks = await self._find_passages(answer, trace)
            text = await self._calls_about(answer, trace, chunks).reference(passages)
            self._references[key] = _Reference(text=text, chunks=chunks)
        return self._references[key]

    async def _find_passages(self, answer: AnswerRow, trace: Trace) -> tuple[str, tuple[str, ...]]:
        """Returns the passages for a reference as its prompt shows them, and the ids of their chunks."""
        if self.reference_from == "own":
            return _format_texts(_best_passages(answer)), answer.chunks
        request = SearchRequest(query=answer.question, searcher=parse_spec(self.over), k=_REFERENCE_PASSAGES)
        hits = (await search(self.container, self.corpus, request, trace)).hits
        return format_hits(hits), tuple(hit.chunk.id for hit in hits if hit.url is None)

    def _key(self, answer: AnswerRow) -> tuple[str, ...]:
        """The question, with the passages if these are the system's own."""
        return (answer.gold, *(_best_passages(answer) if self.reference_from == "own" else ()))

    def _calls_about(self, answer: AnswerRow, trace: Trace, chunks: Sequence[str]) -> JudgeCalls:
        return JudgeCalls(
            models=self.models,
            trace=trace,
            question=answer.question,
            corpus_id=self.corpus.id,
            chunks=frozenset(chunks),
        )

    def _fingerprint(self, answer: AnswerRow) -> str:
        llm = self.container.settings.llm
        judges = [
            f"{llm.base_url} {llm.model}",
            *(llm.roles[role].model_dump_json() for role in _ROLES if role in llm.roles),
        ]
        prompts = fingerprint_prompts(self.container.prompts, _PACKAGE)
        own = ["own"] if self.reference_from == "own" else []  # judgements of earlier releases stay valid
        return digest("judgements", [answer.fingerprint, self.over, *judges, prompts, *own])


def _best_passages(answer: AnswerRow) -> tuple[str, ...]:
    """Returns the best of the passages that the steps of an answer retrieved: the passages that the last call read, in
    its order, then others in the order of the steps.
    """

    def rank(passage: str) -> int:
        title, _, text = passage.partition("\n")  # between them, a call may read what the passage is part of
        read = (place for place, shown in enumerate(answer.shown) if shown.startswith(title) and shown.endswith(text))
        return next(read, len(answer.shown))

    return tuple(sorted(answer.passages, key=rank)[:_REFERENCE_PASSAGES])


_REFERENCE, _JUDGE, _GAIN = "judge_reference", "judge", "judge_gain"
_ROLES = (_REFERENCE, _JUDGE, _GAIN)


class RelevanceScore(BaseModel):
    score: Literal[-1, 0, 1, 2]


class FaithfulnessScore(BaseModel):
    score: Literal[-1, 0, 1]


class GainScore(BaseModel):
    score: int = Field(ge=1, le=10)


def _format_texts(passages: Sequence[str]) -> str:
    """Returns the passages of a row, which begin with their titles, as a prompt shows them."""
    return format_passages([({"title": ""}, text) for text in passages])
