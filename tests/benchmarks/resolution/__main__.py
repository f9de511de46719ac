"""Who is who: `python -m tests.benchmarks.resolution --datasets DIR [--fit] [--kept FOLDER]`.

The pairs of `judged.jsonl` were drawn from all candidates by probability and judged by hand, by one judge who saw
names, numbers of passages and shared passages. `--fit` fits the weights on the pairs of the training sets and on
homonyms made of them, and writes `retrieval/resolution/weights.json`. The figures are of the development sets: judged
pairs, homonyms, and other names that the sets know (aliases of answers, and what an article calls its title).
"""

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from app.container import Container
from core.documents import Submission
from core.text.names import normalise
from core.text.titles import bare_title
from retrieval.resolution.name_forms import make_form
from retrieval.resolution.proposals import ResolutionModel, read_model
from tests.benchmarks.resolution.fitting import (
    Judged,
    calibration_error,
    expected_error,
    fit_calibrated,
    format_weights,
    precision_and_recall,
)
from tests.benchmarks.resolution.graphs import NamedPair, ingest, list_names, list_pairs, open_container, read_documents
from tests.benchmarks.resolution.homonyms import Homonym, make_homonyms

_TRAINING = ("hotpotqa-train-100", "musique-train-100")
_DEVELOPMENT = ("hotpotqa-dev-60", "musique-dev-60")
_WEIGHTS = Path(__file__).resolve().parents[3] / "retrieval" / "resolution" / "weights.json"
_HOMONYMS = 200
_THRESHOLDS = (0.5, 0.8, 0.9, 0.92, 0.95, 0.98)
_LEAST = 0.05
_LEAD = re.compile(
    r"((?:[^\W\d_][\w.'’&-]{0,30} ){0,6}[^\W\d_][\w.'’&-]{0,30}),? (?:\(|(?:is|was|are|were) (?:an?|the) )"
)

_ABOUT = frozenset({"of", "by", "in", "at", "on", "list", "discography", "filmography", "season"})
_OF_OTHER_NAMES = 1.0
"""The weight of a pair of other names in the fit: the judged pairs are a sample of what is proposed, these are not."""

Pairs = Mapping[frozenset[str], NamedPair]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument("--fit", action="store_true", help="fits the weights first, and writes them")
    parser.add_argument("--kept", type=Path, help="keeps the corpora there for the next measurement")
    given = parser.parse_args()
    folder = nullcontext(given.kept) if given.kept else tempfile.TemporaryDirectory(prefix="hopweave-bench-")
    with folder as data:
        asyncio.run(_run(given.datasets, Path(data), fits=given.fit))


async def _run(datasets: Path, data: Path, *, fits: bool) -> None:
    async with open_container(data) as container:
        if fits:
            _WEIGHTS.write_text(await _fit(container, datasets), "utf-8")
        model = read_model(_WEIGHTS.read_text("utf-8"))
        by_corpus = {name: await _read_pairs(container, datasets, name) for name in _DEVELOPMENT}
        scored = [row for name in _DEVELOPMENT for row in _score(name, by_corpus[name], model)]
        print(f"{len(scored)} judged pairs of {sum(map(len, by_corpus.values())):,} candidates")
        for least in _THRESHOLDS:
            precision, recall, count = precision_and_recall(scored, least)
            print(f"  from {least}: precision {precision:.3f}, recall {recall:.3f} ({count} pairs)")
        proposed = [row for row in scored if row[0] >= _LEAST]
        print(f"  calibration error of the {len(proposed)} that are proposed: {calibration_error(proposed):.3f}")
        print(f"  of right probabilities it would be {expected_error(proposed):.3f} in such a sample")
        await _measure_homonyms(container, datasets, model)
        await _measure_other_names(container, datasets, model, by_corpus)


async def _fit(container: Container, datasets: Path) -> str:
    judged: list[Judged] = []
    others: list[Judged] = []
    for name in _TRAINING:
        pairs = await _read_pairs(container, datasets, name)
        judged += _judged(name, pairs)
        others += [
            Judged(pair.features, same=True, weight=_OF_OTHER_NAMES)
            for pair in await _read_other_names(container, datasets, name, pairs)
            if pair is not None
        ]
    homonyms, pairs = await _read_homonyms(container, datasets, _TRAINING)
    for one in homonyms:
        if pair := pairs.get(frozenset({one.name, one.homonym})):
            others.append(Judged(pair.features, same=False, weight=1.0))
    weights, means = fit_calibrated(judged, others)
    return format_weights(
        weights, means, f"{len(judged) + len(others)} pairs of {', '.join(_TRAINING)} and homonyms made of them"
    )


async def _read_pairs(container: Container, datasets: Path, name: str) -> Pairs:
    corpus = await ingest(container, name, read_documents(datasets / name / "corpus.jsonl"))
    return {pair.names: pair for pair in await list_pairs(container, corpus)}


def _judged(corpus: str, pairs: Pairs) -> list[Judged]:
    """Returns the judged pairs of a corpus that are candidates; others have no features."""
    found = ((row, pairs.get(frozenset({row["first"], row["second"]}))) for row in _rows_of(corpus))
    return [Judged(pair.features, same=row["same"], weight=row["weight"]) for row, pair in found if pair is not None]


def _score(corpus: str, pairs: Pairs, model: ResolutionModel) -> list[tuple[float, bool, float]]:
    """Returns the probabilities of the judged pairs of a corpus, with whether they are one, and their weights. One that
    is no candidate has the probability 0.
    """
    found = ((row, pairs.get(frozenset({row["first"], row["second"]}))) for row in _rows_of(corpus))
    return [(model.probability(pair.features) if pair else 0.0, row["same"], row["weight"]) for row, pair in found]


def _rows_of(corpus: str) -> list[dict[str, Any]]:
    rows = map(json.loads, Path(__file__).with_name("judged.jsonl").read_text("utf-8").splitlines())
    return [row for row in rows if row["corpus"] == corpus]


async def _read_homonyms(container: Container, datasets: Path, names: Sequence[str]) -> tuple[Sequence[Homonym], Pairs]:
    texts: dict[str, str] = {}
    for name in names:
        for document in read_documents(datasets / name / "corpus.jsonl"):
            texts.setdefault(bare_title(document.title or ""), _text_of(document))
    homonyms, documents = make_homonyms(texts, _HOMONYMS, seed=35)
    corpus = await ingest(container, f"homonyms-{names[0].split('-')[1]}", documents)
    return homonyms, {pair.names: pair for pair in await list_pairs(container, corpus)}


async def _measure_homonyms(container: Container, datasets: Path, model: ResolutionModel) -> None:
    homonyms, pairs = await _read_homonyms(container, datasets, _DEVELOPMENT)
    found = [pairs[names] for one in homonyms if (names := frozenset({one.name, one.homonym})) in pairs]
    probabilities = sorted((model.probability(pair.features) for pair in found), reverse=True)
    print(f"{len(homonyms)} homonyms, {len(found)} of them candidates; the most probable {probabilities[0]:.3f}")
    for least in _THRESHOLDS:
        print(f"  from {least}: {sum(probability >= least for probability in probabilities)} would be merged")


async def _measure_other_names(
    container: Container, datasets: Path, model: ResolutionModel, by_corpus: Mapping[str, Pairs]
) -> None:
    probabilities: list[float] = []
    for name in _DEVELOPMENT:
        pairs = await _read_other_names(container, datasets, name, by_corpus[name])
        probabilities += [model.probability(pair.features) if pair else 0.0 for pair in pairs]
    print(f"{len(probabilities)} pairs of names of one thing, as the sets have them")
    for least in _THRESHOLDS:
        share = sum(probability >= least for probability in probabilities) / len(probabilities)
        print(f"  from {least}: recall {share:.3f}")


async def _read_other_names(container: Container, datasets: Path, name: str, pairs: Pairs) -> list[NamedPair | None]:
    """Returns the pairs of other names that are both entities of the corpus; None for one that is no candidate."""
    corpus = await container.record.corpora.get(name)
    known = {normalise(one): one for one in await list_names(container, corpus)}
    return [
        pairs.get(frozenset({known[first], known[second]}))
        for first, second in sorted(_other_names(datasets / name))
        if first in known and second in known
    ]


def _other_names(folder: Path) -> set[tuple[str, str]]:
    """Returns pairs of normalised names: answers with their aliases, and titles with what their texts begin with.

    A text that begins with another subject than its title has no word or initials in common with it, and is left out,
    as is a title such as `Geography of Sweden`.
    """
    found: set[tuple[str, str]] = set()
    for line in (folder / "questions.jsonl").read_text("utf-8").splitlines():
        question = json.loads(line)
        found |= {_ordered(question["answer"], alias) for alias in question["aliases"]}
    for document in read_documents(folder / "corpus.jsonl"):
        title, lead = bare_title(document.title or ""), _LEAD.match(_text_of(document))
        if lead and _have_common(title, lead[1]) and not _ABOUT & {*title.casefold().split()}:
            found.add(_ordered(title, lead[1]))
    return {pair for pair in found if pair[0] != pair[1]}


def _text_of(document: Submission) -> str:
    text: str = json.loads(document.content)["text"]
    return text


def _ordered(first: str, second: str) -> tuple[str, str]:
    one, other = sorted((normalise(first), normalise(second)))
    return one, other


def _have_common(title: str, lead: str) -> bool:
    first, second = make_form(title), make_form(lead)
    return bool(
        {*first.words} & {*second.words} or first.initials & {second.acronym} or second.initials & {first.acronym}
    )


if __name__ == "__main__":
    main()
