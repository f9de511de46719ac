"""A corpus and questions drawn by chance, in several scripts, with what a person wrote beside it."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["PASSAGES", "documents", "questions"]

_WORDS = {
    "latin": [
        *("engine", "river", "council", "archive", "bridge", "garden", "winter", "letter", "harbour", "museum"),
        *("naïve", "café", "über", "coöperate"),
    ],
    "cyrillic": ["река", "мост", "зима", "письмо", "музей", "архив", "сад", "гавань"],
    "greek": ["ποταμός", "γέφυρα", "χειμώνας", "μουσείο"],
    "arabic": ["نهر", "جسر", "شتاء", "متحف", "رسالة"],
    "devanagari": ["नदी", "पुल", "सर्दी", "संग्रहालय"],
    "han": list("河桥冬信博物馆花园港口"),
}
_NAMES = (
    *("Ada Lovelace", "Charles Babbage", "Mary Shelley", "Jane Austen", "John Keats", "Emily Brontë"),
    *("Лев Толстой", "Анна Ахматова"),
)
_PREDICATES = ("knew", "wrote to", "lived in", "is the parent of")
_EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "musique-small" / "corpus.jsonl"


def documents(number: int, seed: int) -> list[dict[str, Any]]:
    """As `tests.desk` takes them, with triples among names."""
    chance = random.Random(seed)
    return [_document(chance, f"doc/{position:03d}") for position in range(number)]


def questions(number: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [f"{_text(chance, 6)} {chance.choice(_NAMES)}" for _ in range(number)]


def _document(chance: random.Random, key: str) -> dict[str, Any]:
    names = chance.sample(_NAMES, 3)
    sentences = [
        f"{name} {_text(chance, chance.randint(3, 12))}." for name in names for _ in range(chance.randint(1, 3))
    ]
    triples = [[*chance.sample(names, 2), chance.choice(_PREDICATES)] for _ in range(chance.randint(0, 3))]
    return {
        "id": key,
        "title": _text(chance, 2).title(),
        "text": " ".join(sentences),
        "metadata": {"year": chance.randint(1800, 1900)},
        "triples": [[subject, predicate, object] for subject, object, predicate in triples],
    }


def _text(chance: random.Random, words: int) -> str:
    scripts = chance.choices(list(_WORDS), weights=(8, 2, 1, 1, 1, 2), k=words)
    return " ".join(chance.choice(_WORDS[script]) for script in scripts)


def _passages() -> Sequence[Mapping[str, Any]]:
    read = [json.loads(line) for line in _EXAMPLE.read_text(encoding="utf-8").splitlines()]
    return [{"id": str(one["id"]), "title": one["title"], "text": one["text"]} for one in read]


PASSAGES = _passages()
"""Ninety-nine real ones."""
