"""Surveys: `python -m tests.benchmarks.surveys --datasets DIR [--made N] [--scale N] [--wrong] [--undecided]`.

The questions of `questions.jsonl` and `held_out.jsonl` are about the legal documents. Their answers were read from the
documents before anything was run; the held-out questions were written when the reasoner was done. `gold` has a part of
the key of each document that counts. Questions on made documents have the answers that follow from how the documents
are made. The questions of `undecided.jsonl` are about contracts and reports, and leave documents undecided by words;
`--undecided` asks them alone, by words, and with the language model of the settings, twice.

F1 is of the list; for a question without an answer an empty list has 1.
"""

import argparse
import asyncio
import json
import resource
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.services import corpora
from core.corpora import NO_EMBEDDING, Corpus
from core.ports.reasoning import Answer
from core.ports.surveying import Wording
from core.text.terms import split_words
from reasoning.strategies.survey.plan import read_plan
from tests.benchmarks.surveys.asking import ask_survey, find_coverage, read_count, read_coverage
from tests.benchmarks.surveys.made import QUESTIONS, Made, make_documents, write_documents
from tests.benchmarks.workshop import Workshop, workshop

_CONTRACTS = ("questions", "held_out")
_REASONER = "survey:rows=400"
_MEGABYTE = 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument("--made", type=int, default=1_000, help="made documents that are asked about")
    parser.add_argument("--scale", type=int, default=0, help="made documents over which the time is measured")
    parser.add_argument("--undecided", action="store_true", help="asks only what words leave undecided")
    parser.add_argument("--keep", type=Path, help="a folder that keeps the corpora for the next measurement")
    parser.add_argument("--wrong", action="store_true", help="prints the questions whose list is wrong")
    asyncio.run(_measure(parser.parse_args()))


async def _measure(given: argparse.Namespace) -> None:
    async with workshop(given.keep) as shop:
        if given.undecided:
            await _measure_undecided(shop, given.datasets)
            return
        folder = given.datasets / "legal" / "documents"
        corpus = await _ingest(shop, folder, "legal")
        keys = [path.relative_to(folder).as_posix() for path in folder.rglob("*.txt")]
        for name in _CONTRACTS:
            scores = []
            for line in Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8").splitlines():
                question = json.loads(line)
                gold = {key for key in keys if any(part in key for part in question["gold"])}
                scores.append(await _score(shop, corpus, question["question"], gold, {}))
            _tell(f"contracts, {name}", scores, wrong=given.wrong)
        await _measure_made(shop, given.made, wrong=given.wrong)
        if given.scale:
            await _measure_scale(shop, given.scale)


async def _measure_undecided(shop: Workshop, datasets: Path) -> None:
    """Prints the scores by words alone and with the model, what the model costs, and what asking again costs."""
    questions = [
        json.loads(line) for line in Path(__file__).with_name("undecided.jsonl").read_text("utf-8").splitlines()
    ]
    folders = {name: datasets / name / "documents" for name in {question["corpus"] for question in questions}}
    known = {corpus.name: corpus for corpus in await shop.container.record.corpora.list()}
    corpora_of = {name: known.get(name) or await _ingest(shop, folder, name) for name, folder in folders.items()}
    reasoners = ["survey:rows=400,calls=0", *([_REASONER, _REASONER] if shop.container.models else [])]
    for name, reasoner in zip(("by words", "with the model", "again"), reasoners, strict=False):
        scores, calls, read = [], 0, 0
        for question in questions:
            folder = folders[question["corpus"]]
            keys = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
            gold = {key for key in keys if any(part in key for part in question["gold"])}
            answer, trace = await ask_survey(
                shop.container, corpora_of[question["corpus"]], question["question"], reasoner
            )
            scores.append(_compare(answer, question["question"], gold, {}))
            calls, read = calls + trace.usage.calls, read + scores[-1].covered[1]
            usage, score = trace.usage, scores[-1]
            print(
                f"  {score.question} | F1 {score.f1:.2f} | {usage.calls} calls, {usage.cached} cached, "
                f"{usage.tokens:,} tokens | missed {sorted(score.missed)} | wrong {sorted(score.wrong)}",
                flush=True,
            )
        _tell(f"undecided, {name} ({calls} calls for {read} documents)", scores, wrong=False)


async def _measure_made(shop: Workshop, number: int, *, wrong: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        documents = write_documents(Path(name), make_documents(number))
        corpus = await _ingest(shop, Path(name), "made")
    copies = {made.key: made.copy_of for made in documents if made.copy_of}
    scores = []
    covered = 0
    for question, holds in QUESTIONS:
        gold = {copies.get(made.key, made.key) for made in documents if holds(made)}
        scores.append(await _score(shop, corpus, question, gold, copies))
        covered += scores[-1].covered == (_count_candidates(question, documents),) * 2
    _tell("made", scores, wrong=wrong)
    print(f"made: the sentence on what was read is right for {covered} of {len(scores)}")


def _count_candidates(question: str, documents: Sequence[Made]) -> int:
    """Returns how many documents have all words of the question and are in the folder of its kind, by their texts."""
    plan = read_plan(question)
    asked = [*plan.asked.together, *plan.asked.anywhere]
    return sum(
        all(_has(f"{made.key}\n{made.text}", wording) for wording in asked)
        and (not plan.kind or _has(made.key, plan.kind_wording))
        for made in documents
    )


def _has(text: str, wording: Wording) -> bool:
    stems = {word.stem for word in split_words(text)}
    return any(wanted <= stems for wanted in wording)


async def _measure_scale(shop: Workshop, number: int) -> None:
    """Prints the seconds to the first row and to the answer, and what the survey adds to the memory."""
    with tempfile.TemporaryDirectory() as name:
        write_documents(Path(name), make_documents(number))
        corpus = await _ingest(shop, Path(name), "scale")
    for question, _ in QUESTIONS:
        for again in ("first", "again"):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            answer, trace = await ask_survey(shop.container, corpus, question, _REASONER)
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            counted = answer.text.partition("\n")[0]
            print(
                f"{number:,} {again}: {question} | first row {trace.first_rows:.2f} s, "
                f"answer {trace.timing['total']:.2f} s, +{(after - before) / _MEGABYTE:.0f} MB "
                f"| {counted} | {find_coverage(answer)}"
            )


@dataclass(frozen=True, kw_only=True)
class _Score:
    question: str
    f1: float
    count: int
    right: int
    covered: tuple[int, int]
    missed: frozenset[str]
    wrong: frozenset[str]


async def _score(shop: Workshop, corpus: Corpus, question: str, gold: set[str], copies: Mapping[str, str]) -> _Score:
    answer, _ = await ask_survey(shop.container, corpus, question, _REASONER)
    return _compare(answer, question, gold, copies)


def _compare(answer: Answer, question: str, gold: set[str], copies: Mapping[str, str]) -> _Score:
    listed = answer.text.partition("\n\nNot counted")[0].partition("\n\nUndecided")[0]
    found = {
        copies.get(one.document.key, one.document.key) for one in answer.citations if one.answer_span.end <= len(listed)
    }
    count = read_count(answer)
    both = len(found & gold)
    return _Score(
        question=question,
        f1=2 * both / (len(found) + len(gold)) if found or gold else 1.0,
        count=count,
        right=len(gold),
        covered=read_coverage(answer),
        missed=frozenset(gold - found),
        wrong=frozenset(found - gold),
    )


def _tell(name: str, scores: Sequence[_Score], *, wrong: bool) -> None:
    exact = sum(score.count == score.right for score in scores)
    f1 = sum(score.f1 for score in scores) / len(scores)
    print(f"{name}: list F1 {f1:.3f}, count exact {exact} of {len(scores)}")
    for score in scores if wrong else ():
        if score.f1 < 1 or score.count != score.right:
            print(
                f"  {score.question} | F1 {score.f1:.2f}, counted {score.count} of {score.right} "
                f"| missed {sorted(score.missed)[:3]} | wrong {sorted(score.wrong)[:3]}"
            )


async def _ingest(shop: Workshop, folder: Path, name: str) -> Corpus:
    await corpora.ensure(shop.container, name, embedding=NO_EMBEDDING)
    return await shop.ingest_files(folder, name)


if __name__ == "__main__":
    main()
