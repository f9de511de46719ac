"""What `extractive` quotes on every kind of material, and what it declines; `--fit` fits its weights.

`python -m tests.benchmarks.materials.quoting --datasets DIR [--kept DIR] [--fit | --held-out]`. A question is asked of
the corpus that answers it (`answerable`), and of the same without the passages that do (`masked`); a question without
an answer of the corpus that it is about (`near`); and questions of other kinds of material of each corpus (`far`).
"""

import argparse
import asyncio
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.ports.retrieval import Hit
from core.strategies import parse_spec
from core.text.answers import is_contained
from core.trace import Trace
from evaluation import read_dataset
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.strategies.extractive import PASSAGES, Config, read_hits
from reasoning.strategies.extractive.quoting.evidence import FEATURES
from reasoning.strategies.extractive.quoting.units import Unit
from reasoning.strategies.extractive.quoting.weights import WITH_COSINES, WITHOUT_COSINES, Weights
from tests.benchmarks.materials.folders import read_questions as read_folder_questions
from tests.benchmarks.materials.gold import DocumentNeed, FigureNeed, LineNeed, Need, Question, QuoteNeed
from tests.benchmarks.materials.kinds import KINDS, Kind, Sources
from tests.benchmarks.materials.logistic import AskedUnits, Sort, fit_weights, judge
from tests.benchmarks.workshop import Workshop, workshop

__all__ = ["gather", "measure", "table"]

_SEED = 29
_SAMPLE = 60
_FAR, _MASKED = 30, 30
_SEARCHED = 20
_FITTED = (
    "contracts",
    "10-Q reports",
    "long documents, English",
    "long documents, German",
    "long documents, French",
    "a new user's folder, a",
    "HotpotQA",
    "MuSiQue",
)
_HELD_OUT = ("a new user's folder, b", "HotpotQA, development set", "MuSiQue, development set")
_FOLDERS = {"a new user's folder, a": "a", "a new user's folder, b": "b"}
_DATASETS = {
    "HotpotQA": "hotpotqa-train-100",
    "MuSiQue": "musique-train-100",
    "HotpotQA, development set": "hotpotqa-dev-60",
    "MuSiQue, development set": "musique-dev-60",
}
_NOT_ALONE = {*_DATASETS, "10-Q reports"}
"""Kinds whose questions need several passages or figures. Nothing about quotes is fitted to them."""
_OTHERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, kw_only=True)
class AnswerNeed:
    """One of the short answers of a question, in a document that it needs."""

    answers: tuple[str, ...]
    keys: frozenset[str]

    def shown_by(self, hit: Hit) -> bool:
        return hit.document.key in self.keys and any(is_contained(answer, hit.chunk.text) for answer in self.answers)


async def gather(shop: Workshop, sources: Sources, kinds: Sequence[Kind]) -> list[AskedUnits]:
    """Returns the units of each question, with their evidence."""
    questions = {kind.name: _ask(kind, sources) for kind in kinds}
    found: list[AskedUnits] = []
    for kind in kinds:
        corpus = await kind.index(shop, sources)
        asked, near = questions[kind.name], _ask_near(kind)
        others = [one.text for other in kinds if other.group != kind.group for one in questions[other.name]]
        far = random.Random(_SEED).sample(others, min(_FAR, len(others)))
        asking = [
            *((Sort.ANSWERABLE, question) for question in asked),
            *((Sort.MASKED, question) for question in random.Random(_SEED).sample(asked, min(_MASKED, len(asked)))),
            *((Sort.NEAR, Question(id=text, text=text, needs=())) for text in near),
            *((Sort.FAR, Question(id=text, text=text, needs=())) for text in far),
        ]
        found += [await _read(shop, corpus, kind, sort, question) for sort, question in asking]
        sys.stderr.write(f"{kind.name}: {len(found)} questions so far\n")
    return found


def _ask(kind: Kind, sources: Sources) -> list[Question]:
    """Returns the questions of a kind that a quote can answer, at most `_SAMPLE` of contracts and reports."""
    if folder := _DATASETS.get(kind.name):
        return [
            Question(
                id=one.id,
                text=one.text,
                needs=(AnswerNeed(answers=one.answers, keys=frozenset(s.key for s in one.supporting)),),
            )
            for one in read_dataset(sources.datasets / folder).questions
            if one.answerable and one.answers[0].casefold() not in {"yes", "no"}
        ]
    questions = [one for one in kind.ask(sources, ()) if not any(isinstance(n, DocumentNeed) for n in one.needs)]
    if kind.name in {"contracts", "10-Q reports"} and len(questions) > _SAMPLE:
        return random.Random(_SEED).sample(questions, _SAMPLE)
    return questions


def _ask_near(kind: Kind) -> list[str]:
    folder = _FOLDERS.get(kind.name)
    return [one.question for one in read_folder_questions(folder) if not one.answerable] if folder else []


async def _read(shop: Workshop, corpus: Corpus, kind: Kind, sort: Sort, question: Question) -> AskedUnits:
    container = shop.container
    request = SearchRequest(query=question.text, searcher=parse_spec("bridged"), k=_SEARCHED)
    found = await search(container, corpus, request, Trace())
    hits = found.hits
    if sort is Sort.MASKED:
        hits = tuple(hit for hit in hits if not any(shows(need, hit) for need in question.needs))
    hits = hits[:PASSAGES]
    backends: ReasoningBackends = container.reasoning(corpora=[corpus])
    reading = await read_hits(backends, corpus, question.text, replace(found, hits=hits, facts=()))
    return AskedUnits(
        kind=kind.name,
        group=kind.group,
        sort=sort,
        question=question.text,
        features=reading.features,
        right=np.array([any(is_right(need, unit) for need in question.needs) for unit in reading.units], np.bool_),
        texts=tuple(unit.text for unit in reading.units),
        alone=kind.name not in _NOT_ALONE,
        held=any(need.shown_by(hit) for need in question.needs for hit in hits),
        lacks_number=reading.lacks_number,
    )


def shows(need: Need, hit: Hit) -> bool:
    """Returns whether a hit has to be masked so that the corpus does not answer."""
    return hit.document.key in need.keys if isinstance(need, AnswerNeed) else need.shown_by(hit)


def is_right(need: Need, unit: Unit) -> bool:
    """Returns whether a unit shows what a question needs: it overlaps the line, has the figure or the answer, or has
    half of the words of a quote.
    """
    match need:
        case LineNeed():
            keyed = [line for key, line in need.lines if key == unit.hit.document.key]
            return any(_overlaps(line, unit) for line in keyed)
        case QuoteNeed():
            there = need.words & set("".join(c if c in _OTHERS else " " for c in unit.text.lower()).split())
            return unit.hit.document.key.endswith(need.source) and 2 * len(there) >= len(need.words)
        case FigureNeed():
            return need.shown_by(unit.hit) and need.figure in unit.text
        case AnswerNeed():
            return unit.hit.document.key in need.keys and any(is_contained(one, unit.text) for one in need.answers)
    return False


def _overlaps(line: str, unit: Unit) -> bool:
    """Returns whether the unit and the first place of the line in its passage overlap, without white space."""
    text = unit.hit.chunk.text
    before, flat = "".join(text[: unit.span.start].split()), "".join(text.split())
    start, words = flat.find("".join(line.split())), "".join(line.split())
    end = len(before) + len("".join(unit.text.split()))
    return start >= 0 and start < end and len(before) < start + len(words)


def measure(asked: Sequence[AskedUnits]) -> dict[str, dict[str, float]]:
    """Returns the shares by kind; of all kinds, each kind weighs the same."""
    names = list(dict.fromkeys(one.kind for one in asked))
    by_kind = {name: judge([one for one in asked if one.kind == name], Config().min_probability) for name in names}
    keys = dict.fromkeys(key for row in by_kind.values() for key in row)
    by_kind["mean"] = {key: fmean(row[key] for row in by_kind.values() if key in row) for key in keys}
    return by_kind


def table(rows: dict[str, dict[str, float]]) -> str:
    """Returns the shares in percent, as markdown."""
    keys = list(rows["mean"])
    lines = [["kind", *keys], ["---", *("---:" for _ in keys)]]
    lines += [[kind, *(f"{100 * row[key]:.0f}" if key in row else "–" for key in keys)] for kind, row in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def left_out(asked: Sequence[AskedUnits], *, has_cosines: bool) -> list[AskedUnits]:
    """Returns the questions with the probabilities of weights that were fitted without their group of kinds."""
    found: list[AskedUnits] = []
    for group in dict.fromkeys(one.group for one in asked):
        weights = fit_weights([one for one in asked if one.group != group], has_cosines=has_cosines)
        found += [one.decide(weights, has_cosines=has_cosines) for one in asked if one.group == group]
    return found


def _format(name: str, weights: Weights) -> Iterable[str]:
    yield f"{name} = Weights("
    rows = {"rank": weights.rank, "answerable": weights.answerable, "right": weights.right}
    for field, row in rows.items():
        yield f"    {field}=("
        yield from (f"        {value:.2f},  # {feature}" for feature, value in zip(FEATURES, row, strict=True))
        yield "    ),"
    yield f"    answerable_bias={weights.answerable_bias:.2f},"
    yield f"    right_bias={weights.right_bias:.2f},\n)"


async def _run(arguments: argparse.Namespace) -> None:
    names = _HELD_OUT if arguments.held_out else _FITTED
    kinds = [kind for kind in KINDS if kind.name in (arguments.kind or names)]
    sources = Sources(datasets=arguments.datasets, cache=arguments.cache)
    async with workshop(arguments.kept) as shop:
        asked = await gather(shop, sources, kinds)
    if not arguments.fit:
        for name, weights in (("with", WITH_COSINES), ("without", WITHOUT_COSINES)):
            decided = [one.decide(weights, has_cosines=name == "with") for one in asked]
            print(f"{name} vectors\n{table(measure(decided))}\n")
        return
    for name, has_cosines in (("WITH_COSINES", True), ("WITHOUT_COSINES", False)):
        print("\n".join(_format(name, fit_weights(asked, has_cosines=has_cosines))))
        print(f"each group of kinds left out:\n{table(measure(left_out(asked, has_cosines=has_cosines)))}\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.materials.quoting")
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument("--kept", type=Path, help="a data folder that stays with its corpora")
    parser.add_argument("--cache", type=Path, default=Path(".bench/materials"), help="the folder of fetched documents")
    parser.add_argument("--kind", action="append", help="a kind of material; may be given several times")
    parser.add_argument("--fit", action="store_true", help="fit the weights, and judge them on kinds left out")
    parser.add_argument("--held-out", action="store_true", help="ask what nothing was fitted to")
    asyncio.run(_run(parser.parse_args()))


if __name__ == "__main__":
    main()
