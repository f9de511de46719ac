"""The questions that a ranker was trained on: their hashes in its file, and how many of them an evaluation asks again.

A ranker has learnt which passages support these questions, so figures on them say less about other questions.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import retrieval
from core.errors import InvalidInput
from core.ids import digest
from core.strategies import parse_config, parse_spec
from core.text.answers import normalise_answer
from evaluation.datasets.dataset import CORPUS_FILE, GIVEN_FILE, QUESTIONS_FILE, Dataset
from reasoning import REASONERS
from retrieval.bridged.ranker import format_ranker, load_ranker, read_ranker

_DIGITS = 10
"""Hexadecimal digits of a hash. The probability that any of a million questions has the hash of any of two hundred
others is two in ten thousand.
"""

_HASHES = "question_hashes"


@dataclass(frozen=True, kw_only=True)
class SeenQuestions:
    """The number of questions of an evaluation that a ranker was trained on, by the training set."""

    ranker: str
    dataset: str
    questions: int

    @property
    def warning(self) -> str:
        return (
            f"the ranker {self.ranker!r} was trained on {self.questions:,} of these questions ({self.dataset}), so its "
            "figures are too good for other questions"
        )


def list_rankers(searchers: Iterable[str], reasoners: Iterable[str], over: str) -> list[str]:
    """Returns the names (or files) of the rankers that these strategies use; `over` is the searcher of reasoners that
    have none of their own.
    """
    used = [*searchers]
    for reasoner in reasoners:
        options = parse_config(REASONERS, parse_spec(reasoner), "reasoner").model_dump()
        if "searchers" not in options:  # those are simple searchers, without a ranker
            used.append(options.get("searcher") or over)
    return list(dict.fromkeys(ranker for searcher in used for ranker in _list_rankers(searcher)))


def _list_rankers(searcher: str) -> Iterator[str]:
    options = parse_config(retrieval.SEARCHERS, parse_spec(searcher), "searcher").model_dump()
    if "ranker" in options:
        yield options["ranker"]
    if "over" in options:
        yield from _list_rankers(options["over"])


def count_seen(rankers: Iterable[str], questions: Sequence[str]) -> tuple[SeenQuestions, ...]:
    """Returns an entry for each training set that has some of these questions. A ranker whose file has no hashes, such
    as a ranker of an earlier release, has no entry.
    """
    asked = [_hash(question) for question in questions]
    found = []
    for ranker in rankers:
        for source in _list_sources(load_ranker(ranker).provenance):
            known = frozenset(str(source.get(_HASHES, "")).split())
            count = sum(hashed in known for hashed in asked)
            if count:
                found.append(SeenQuestions(ranker=ranker, dataset=str(source.get("dataset")), questions=count))
    return tuple(found)


def describe_training_set(dataset: Dataset) -> dict[str, Any]:
    """Returns what a ranker's file says of a set: its name, the hashes of its files, and the hashes of its questions.

    The hash of a question is computed from its text in lower case, without punctuation and articles, so that another id
    or form of the same question has the same hash.
    """
    files = [dataset.folder / name for name in (CORPUS_FILE, QUESTIONS_FILE, GIVEN_FILE)]
    return {
        "dataset": dataset.name,
        "questions": len(dataset.questions),
        "sha256": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.exists()},
        _HASHES: " ".join(sorted({_hash(question.text) for question in dataset.questions})),
    }


def add_question_hashes(text: str, datasets: Iterable[Dataset]) -> str:
    """Returns the text of a ranker's file with the hashes of the questions that it was trained on. The weights stay.

    Raises `InvalidInput` if a training set is missing, or its questions have changed since the training.
    """
    provenance = read_ranker(text).provenance
    given = {dataset.name: describe_training_set(dataset) for dataset in datasets}
    for source in _list_sources(provenance):
        name = str(source.get("dataset"))
        if name not in given:
            raise InvalidInput(f"the ranker was trained on {name!r}, too: name the folders of all its training sets")
        if source.get("sha256", {}).get(QUESTIONS_FILE) != given[name]["sha256"][QUESTIONS_FILE]:
            raise InvalidInput(
                f"{name}/{QUESTIONS_FILE} is not the file that the ranker was trained on; train it again"
            )
    content = json.loads(text)
    described = [{**source, _HASHES: given[source["dataset"]][_HASHES]} for source in _list_sources(provenance)]
    return format_ranker(content["weights"], content["trees"], {**provenance, "trained_on": described})


def _list_sources(provenance: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the training sets of a ranker; none if its file does not say."""
    sources = provenance.get("trained_on")
    return [source for source in sources if isinstance(source, Mapping)] if isinstance(sources, list) else []


def _hash(question: str) -> str:
    return digest("question", [normalise_answer(question)])[:_DIGITS]
