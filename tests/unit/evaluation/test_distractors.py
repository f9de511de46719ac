"""Passages of other articles: what they are made of, and that they are the same every time."""

import random
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from evaluation import read_dataset
from tests.benchmarks.distractors.approximating import ApproximateVectors
from tests.benchmarks.distractors.measuring import read_sets
from tests.benchmarks.distractors.names import NameProcess, fit_discount, shape_of
from tests.benchmarks.distractors.recombining import recombine
from tests.benchmarks.distractors.vectors import KeptVectors
from tests.twins.embedder import TwinEmbedder

EXAMPLE = Path(__file__).parents[3] / "examples" / "musique-small"
PASSAGES, QUESTIONS = read_sets([read_dataset(EXAMPLE)])


def test_the_same_passages_every_time_under_titles_of_their_own() -> None:
    made = list(islice(recombine(PASSAGES, collide=False), 300))
    assert made == list(islice(recombine(PASSAGES, collide=False), 300))
    assert len({one.passage.key for one in made}) == 300
    assert {one.passage.title for one in made}.isdisjoint(one.title for one in PASSAGES)
    assert all(one.passage.text for one in made)


def test_a_passage_says_the_same_of_other_names() -> None:
    one = next(one for one in recombine(PASSAGES, collide=False) if len(one.sources) == 1)
    real = PASSAGES[one.sources[0]]
    kept = _count_plain(one.passage.text)
    assert kept
    assert not kept - _count_plain(real.text)
    assert one.passage.text != real.text


def _count_plain(text: str) -> Counter[str]:
    """Counts the words in small letters that names do not have, as in "University of Porto"."""
    return Counter(
        word for word in text.split() if word.islower() and word.isalpha() and word not in {"of", "and", "the"}
    )


def test_ids_have_the_name_of_their_set() -> None:
    keys = {one.key for one in PASSAGES}
    assert all(support.key in keys for question in QUESTIONS for support in question.supporting)
    assert all(question.id.startswith("musique-small/") for question in QUESTIONS)


@pytest.mark.parametrize("collide", [False, True])
def test_rare_names_recur_only_if_they_are_to_collide(collide: bool) -> None:
    mentions = ["United States"] * 40 + ["Lake Wobegon", "Port Blossom"] * 2
    rare = frozenset() if collide else frozenset(["Lake Wobegon", "Port Blossom"])
    process = NameProcess(mentions, rare, 0.3, random.Random(2))
    drawn = Counter(process.draw() for _ in range(3000))
    assert drawn["United States"] > 1000
    assert (drawn["Lake Wobegon"] + drawn["Port Blossom"] > 20) == collide


def test_new_names_come_by_heaps_law() -> None:
    process = NameProcess([f"Name {n % 50}" for n in range(200)], frozenset(), 0.5, random.Random(1))
    early = len({process.draw() for _ in range(2000)})
    late = len({process.draw() for _ in range(2000)})
    assert 0 < late < 1.5 * early
    assert fit_discount([f"n{k}" for k in range(1000)], 1) == pytest.approx(0.9)
    assert fit_discount(["same"] * 1000, 1) == pytest.approx(0.2)
    assert [shape_of(name) for name in ("Ada", "Ada Lovelace", "The Lady of Shalott", "May 2010")] == [
        "1",
        "2",
        "3",
        "2d",
    ]


async def test_vectors_are_kept(tmp_path: Path) -> None:
    first = KeptVectors(TwinEmbedder(dimension=8), tmp_path)
    vectors = await first.embed_passages(["one", "two"])
    again = KeptVectors(TwinEmbedder(dimension=8), tmp_path)
    assert np.array_equal(
        await again.embed_passages(["two", "one", "three"]), (await first.embed_passages(["two", "one", "three"]))
    )
    assert again.embedded == 1
    assert np.array_equal(vectors[0], (await again.embed_passages(["one"]))[0])


async def test_approximate_vectors_are_unit_vectors_near_those_of_their_sentences() -> None:
    model = ApproximateVectors(TwinEmbedder(dimension=64), 200)
    await model.learn_real([one.embedded for one in PASSAGES])
    made = list(islice(recombine(PASSAGES, collide=False), 300))
    model.expect(made[:250])
    vectors = await model.embed_passages([one.passage.embedded for one in reversed(made[:250])])
    embedded = await TwinEmbedder(dimension=64).embed_passages([one.passage.embedded for one in made[:250]])
    assert np.array_equal(vectors[::-1][:200], embedded[:200])
    assert not np.array_equal(vectors[::-1][200:], embedded[200:])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    likeness = np.sum(vectors[::-1][200:] * embedded[200:], axis=1)
    others = np.sum(vectors[::-1][200:] * embedded[:50], axis=1)
    assert likeness.mean() > others.mean() + 0.2
