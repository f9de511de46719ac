"""Times a peer that answers one question at a time. Open it to see what is within the times."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.materials.peers.embedder import BuiltInModel
from tests.benchmarks.materials.peers.exchange import Answers, Material, read_material, write_answers

__all__ = ["Ask", "answer"]

Ask = Callable[[str], Sequence[str]]
"""Returns the ids of chunks for the text of a question, best first."""


def answer(
    folder: Path, out: Path, k: int, *, peer: str, version: str, index: Callable[[Material, BuiltInModel, int], Ask]
) -> None:
    """Indexes the material in `folder`, asks its questions one after the other, and writes `Answers` to `out`.

    Reading the files and loading the model are not timed. The first question is asked twice, and its second time
    counts, so that no time includes what a library does at its first call.
    """
    material, model = read_material(folder), BuiltInModel()
    model.check_same(material)
    began = time.perf_counter()
    ask = index(material, model, k)
    index_seconds = time.perf_counter() - began
    for question in material.questions[:1]:
        ask(question.text)
    rankings, milliseconds = {}, []
    for question in material.questions:
        began = time.perf_counter()
        ids = ask(question.text)
        milliseconds.append((time.perf_counter() - began) * 1000)
        rankings[question.id] = list(ids)[:k]
    write_answers(
        out,
        Answers(peer=peer, version=version, index_seconds=index_seconds, rankings=rankings, milliseconds=milliseconds),
    )
