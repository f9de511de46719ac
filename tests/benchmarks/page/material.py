"""A corpus of 10,000 documents whose graph has one entity that hundreds of others are joined to."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.benchmarks.documents.endpoint import QuickEmbeddings
from tests.e2e.page.live import Live

__all__ = ["CORPUS", "DOCUMENTS", "add_material", "quick_settings"]

CORPUS = "large"
HUB = "Ada Lovelace"
DOCUMENTS = 10_000
_PERSONS = 600
_ACQUAINTANCES = 3
_BATCH = 1_000
_SEED = 7


@contextmanager
def quick_settings() -> Iterator[dict[str, str]]:
    """The settings of a server whose embeddings cost nothing."""
    with QuickEmbeddings(dimension=16) as embeddings:
        yield {
            "HOPWEAVE_EMBEDDING__KIND": "openai",
            "HOPWEAVE_EMBEDDING__MODEL": "quick",
            "HOPWEAVE_EMBEDDING__BASE_URL": f"{embeddings.url}/v1",
            "HOPWEAVE_EMBEDDING__API_KEY": "none",
            "HOPWEAVE_EMBEDDING__MAX_TOKENS": "256",
        }


def add_material(live: Live) -> str:
    """Returns the id of the entity with the large neighbourhood."""
    live.create(CORPUS)
    rng = random.Random(_SEED)
    documents = [_person(n, rng) if n < _PERSONS else _note(n) for n in range(DOCUMENTS)]
    for start in range(0, DOCUMENTS, _BATCH):
        live.add(CORPUS, documents[start : start + _BATCH])
    found = live.get(f"/v1/corpora/{CORPUS}/entities", query=HUB)
    hub: str = found["data"][0]["entity"]["id"]
    return hub


def _person(number: int, rng: random.Random) -> Mapping[str, Any]:
    name = _name(number)
    others = [_name(rng.randrange(_PERSONS)) for _ in range(_ACQUAINTANCES)]
    return {
        "key": f"people/{number:05}",
        "title": name,
        "text": f"{name} met {HUB} in the year {1800 + number % 60}, and knew {', '.join(others)}.",
        "metadata": {"kind": "person", "number": number},
        "triples": [[name, "met", HUB], *([name, "knew", other] for other in others)],
    }


def _note(number: int) -> Mapping[str, Any]:
    text = f"note {number:05}: the rain of day {number % 365} was measured with gauge {number % 7}."
    return {"key": f"notes/{number:05}", "title": f"Note {number:05}", "text": text, "metadata": {"kind": "note"}}


def _name(number: int) -> str:
    """Different names of two words, none of which is a part of another."""
    first, second = number % len(_SYLLABLES), number // len(_SYLLABLES)
    return f"{_SYLLABLES[first]}{_SYLLABLES[second]} {_SYLLABLES[-1 - first]}son".title()


_SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu".split()  # noqa: SIM905
