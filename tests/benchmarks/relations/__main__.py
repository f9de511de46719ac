"""Questions of one relation ("Who founded X?"): `python -m tests.benchmarks.relations --datasets DIR [--extractor E]`.

The questions of `questions.jsonl` were written by hand from passages, whose `title` they name; `gold` is a part of the
sentence that answers. A question is right if the first quote, of a passage with this title, has it. Each is asked with
and without the facts of the corpus; `--wrong` prints the others.
"""

import argparse
import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.services.questions import AskRequest, ask
from core.corpora import Corpus
from core.ports.reasoning import Answer
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import Dataset
from tests.benchmarks.workshop import Workshop, workshop

_ROOT = Path(__file__).resolve().parents[3]
_QUESTIONS = Path(__file__).with_name("questions.jsonl")
_DEMO = "demo"
_OTHERS = 100
"""Passages of a corpus beside those that the questions are about."""
_WITH, _WITHOUT = "extractive:min_probability=0", "extractive:min_probability=0,facts=false"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument("--extractor", default="syntax")
    parser.add_argument("--kept", type=Path, help="keeps the corpora there for the next measurement")
    parser.add_argument("--wrong", action="store_true", help="prints the questions whose first quote is wrong")
    given = parser.parse_args()
    rights = asyncio.run(_measure(given.datasets, given.extractor, given.kept, tell=given.wrong))
    for name, (of_facts, of_words, answered) in rights.items():
        print(f"{name}: right first {of_facts:.2f} with facts, {of_words:.2f} without; changed by facts {answered:.2f}")


async def _measure(
    datasets: Path, extractor: str, kept: Path | None, *, tell: bool
) -> Mapping[str, tuple[float, float, float]]:
    """Returns for each corpus, and for all, the shares of right first quotes with and without facts, and the share of
    questions whose first quote facts have changed.
    """
    asked: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for line in _QUESTIONS.read_text("utf-8").splitlines():
        question = json.loads(line)
        asked[question["corpus"]].append(question)
    counts: dict[str, tuple[float, float, float]] = {}
    total = [0, 0, 0]
    async with workshop(kept) as shop:
        for name, questions in asked.items():
            folder = _ROOT / "examples" / "musique-small" if name == _DEMO else datasets / name
            corpus = await _ingest(shop, folder, {question["title"] for question in questions}, extractor)
            found = [0, 0, 0]
            for question in questions:
                answers = [await _ask(shop, corpus, question["question"], reasoner) for reasoner in (_WITH, _WITHOUT)]
                right = [_is_right(answer, question) for answer in answers]
                texts = [answer.citations[0].quote if answer.citations else "" for answer in answers]
                found = [n + add for n, add in zip(found, (*right, texts[0] != texts[1]), strict=True)]
                if tell and not all(right):
                    print(f"{right} {question['question']} | {' | '.join(texts)}")
            counts[name] = _divide(found, len(questions))
            total = [n + add for n, add in zip(total, found, strict=True)]
    counts["all"] = _divide(total, sum(map(len, asked.values())))
    return counts


def _divide(counts: Sequence[int], by: int) -> tuple[float, float, float]:
    first, second, third = (count / by for count in counts)
    return first, second, third


async def _ingest(shop: Workshop, folder: Path, titles: set[str], extractor: str) -> Corpus:
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    wanted = [passage["id"] for passage in passages if passage["title"] in titles]
    others = [passage["id"] for passage in passages if passage["title"] not in titles]
    drawn = random.Random(35).sample(others, min(_OTHERS, len(others)))
    dataset = Dataset(
        name=folder.name,
        folder=folder,
        questions=(),
        passages=len(passages),
        fingerprint=folder.name,
        kept=frozenset([*wanted, *drawn]),
    )
    corpus, _ = await shop.ingest(dataset, extractor)
    return corpus


async def _ask(shop: Workshop, corpus: Corpus, question: str, reasoner: str) -> Answer:
    return await ask(shop.container, corpus, AskRequest(question=question, reasoner=parse_spec(reasoner)), Trace())


def _is_right(answer: Answer, question: Mapping[str, str]) -> bool:
    first = answer.citations[0] if answer.citations else None
    return first is not None and first.document.title == question["title"] and question["gold"] in first.quote


if __name__ == "__main__":
    main()
