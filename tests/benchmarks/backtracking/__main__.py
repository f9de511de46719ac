"""Backtracking: `python -m tests.benchmarks.backtracking [--reasoner auto --reasoner plan_star] [--planted N]`.

The questions of `made.py` are asked with and without going back. `replies.jsonl` has the reply that a reader gave to
each prompt, by its messages: equal prompts have equal replies, as at temperature 0. A prompt that is not there goes to
the language model of the settings, and its reply is kept in the file; without a model it is an error that says so.

Tokens are characters / 4. A first hop is wrong if its step has the plausible wrong answer, or no answer, without going
back; it is mended if the answer is right with going back.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.corpora import Corpus
from core.ids import digest
from core.ports.chat import ChatModels, ChatRequest, Completion, OnToken
from core.ports.reasoning import Answer, Question
from core.strategies import build, parse_spec
from core.text.answers import is_contained
from core.trace import Trace
from evaluation import read_dataset
from reasoning import REASONERS
from tests.benchmarks.backtracking.made import MadeQuestion, iterate_passages, make_questions
from tests.benchmarks.workshop import Workshop, workshop

_REPLIES = Path(__file__).with_name("replies.jsonl")
_TOKEN = 4
_FIRST_HOP = "Q1.1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reasoner", action="append", help="auto and plan_star, if none is given")
    parser.add_argument("--planted", type=int, default=4, help="planted questions of each kind that are asked")
    parser.add_argument("--controls", type=int, default=3, help="control questions of each kind that are asked")
    asyncio.run(_measure(parser.parse_args()))


async def _measure(given: argparse.Namespace) -> None:
    made = make_questions()
    asked = [question for question in made if question.number < (given.planted if question.wrong else given.controls)]
    async with workshop() as shop:
        corpus = await _ingest(shop, made)
        for reasoner in given.reasoner or ["auto", "plan_star"]:
            without, with_it = [
                await asyncio.gather(
                    *(_ask(shop, corpus, question, _with_option(reasoner, option)) for question in asked)
                )
                for option in ("false", "true")
            ]
            _tell(reasoner, without, with_it)


def _with_option(reasoner: str, option: str) -> str:
    return f"{reasoner}{',' if ':' in reasoner else ':'}backtrack={option}"


async def _ingest(shop: Workshop, made: Sequence[MadeQuestion]) -> Corpus:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "backtracking"
        folder.mkdir()
        passages = [{"id": key, "title": title, "text": text} for key, title, text in iterate_passages(made)]
        questions = [
            {"id": q.id, "question": q.text, "answers": [q.answer or "unknown"], "supporting": [f"{q.id}-0"]}
            for q in made
        ]
        for file, rows in (("corpus", passages), ("questions", questions)):
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / f"{file}.jsonl").write_text(lines, encoding="utf-8")
        return (await shop.ingest(read_dataset(folder)))[0]


@dataclass
class _Reader:
    """Implements `ChatModels` by the kept replies, and by the model of the settings for other prompts."""

    asked: ChatModels | None
    kept: dict[str, str]
    model: str = "reader"
    calls: int = 0
    tokens: int = 0
    roles: list[str] = field(default_factory=list)

    def of(self, role: str) -> "_Reader":
        return self

    def is_small(self, role: str) -> bool:
        return False

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        key = digest("reply", [message.content for message in request.messages])[:24]
        if key not in self.kept:
            if self.asked is None:
                raise RuntimeError(f"no reply to a prompt {request.role!r} is kept; set HOPWEAVE_LLM__MODEL to ask it")
            completion = await self.asked.of(request.role).complete(request, trace)
            self.kept[key] = completion.text
            with _REPLIES.open("a", encoding="utf-8") as file:
                row = {"key": key, "role": request.role, "text": completion.text}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        text = self.kept[key]
        prompt = sum(len(message.content) for message in request.messages) // _TOKEN
        self.calls, self.tokens = self.calls + 1, self.tokens + prompt + len(text) // _TOKEN
        self.roles.append(request.role)
        return Completion(text=text, model=self.model, prompt_tokens=prompt, completion_tokens=len(text) // _TOKEN)

    async def delete_corpus(self, corpus_id: str) -> None: ...

    async def close(self) -> None: ...


_KEPT: dict[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    question: MadeQuestion
    answer: Answer
    notes: tuple[str, ...]
    calls: int
    tokens: int
    roles: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """An abstention is right if no passage has the answer."""
        if not self.question.answer:
            return self.answer.abstained
        return not self.answer.abstained and is_contained(self.question.answer, self.answer.plain)

    @property
    def is_first_wrong(self) -> bool:
        """Whether the first hop of a planted question was not answered with the answer that leads on."""
        first = [step.answer for step in self.answer.steps if step.id == _FIRST_HOP]
        return bool(self.question.wrong) and bool(first) and not is_contained(self.question.first, first[0])


async def _ask(shop: Workshop, corpus: Corpus, question: MadeQuestion, reasoner: str) -> _Outcome:
    if not _KEPT and _REPLIES.exists():
        rows = map(json.loads, _REPLIES.read_text(encoding="utf-8").splitlines())
        _KEPT.update((row["key"], row["text"]) for row in rows)
    reader, trace = _Reader(shop.container.models, _KEPT), Trace()
    backends = replace(shop.container.reasoning(parse_spec("bridged")), models=reader)
    strategy = build(REASONERS, parse_spec(reasoner), "reasoner", backends)
    answer = await strategy.answer(Question(corpus=corpus, text=question.text), trace)
    return _Outcome(
        question=question,
        answer=answer,
        notes=tuple(trace.notes),
        calls=reader.calls,
        tokens=reader.tokens,
        roles=tuple(reader.roles),
    )


def _tell(reasoner: str, without: Sequence[_Outcome], with_it: Sequence[_Outcome]) -> None:
    pairs = list(zip(without, with_it, strict=True))
    for before, after in pairs:
        went = "; ".join(note for note in after.notes if "went back" in note)
        print(
            f"  {before.question.id:<12} wanted {before.question.answer!r}: {before.answer.plain[:60]!r} -> "
            f"{after.answer.plain[:60]!r} ({after.answer.support}) | {before.calls} -> {after.calls} calls | {went}"
        )
    for name, part in (
        ("planted", [pair for pair in pairs if pair[0].question.wrong]),
        (
            "planted, second wording",
            [pair for pair in pairs if pair[0].question.wrong and pair[0].question.second_wording],
        ),
        ("control", [pair for pair in pairs if not pair[0].question.wrong]),
        ("all", pairs),
    ):
        wrong = [pair for pair in part if pair[0].is_first_wrong]
        mended = [pair for pair in wrong if not pair[0].is_right and pair[1].is_right]
        lost = [pair for pair in part if pair[0].is_right and not pair[1].is_right]
        calls, tokens = ([sum(getattr(pair[at], of) for pair in part) for at in (0, 1)] for of in ("calls", "tokens"))
        print(
            f"{reasoner}, {name}: {len(part)} questions; right {sum(pair[0].is_right for pair in part)} -> "
            f"{sum(pair[1].is_right for pair in part)}; first hop wrong {len(wrong)}, of these mended {len(mended)}; "
            f"lost {len(lost)}; calls {calls[0]} -> {calls[1]}; tokens {tokens[0]:,} -> {tokens[1]:,} "
            f"({tokens[1] / max(1, tokens[0]):.2f})"
        )


if __name__ == "__main__":
    main()
