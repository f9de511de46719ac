"""Names as a growing corpus has them: few that are everywhere, and ever new ones."""

import math
import random
from array import array
from collections.abc import Iterable, Sequence

__all__ = ["NameProcess", "fit_discount", "shape_of"]

_LEAST, _MOST = 0.2, 0.9
_TRIES = 20


def fit_discount(mentions: Sequence[str], seed: int) -> float:
    """Returns the exponent by which the number of different names grows with that of mentions (Heaps' law).

    It is taken from a random half of the mentions and from all of them.
    """
    half = random.Random(seed).sample(range(len(mentions)), len(mentions) // 2)
    fewer, all_of_them = len({mentions[place] for place in half}), len(set(mentions))
    return min(_MOST, max(_LEAST, math.log2(all_of_them / fewer))) if fewer else _LEAST


def shape_of(name: str) -> str:
    """Returns a class of names that can stand for each other: by the number of words, and whether there are digits."""
    words = len(name.split())
    return f"{min(words, 3)}{'d' if any(map(str.isdecimal, name)) else ''}"


class NameProcess:
    """Draws names of one shape by the Pitman-Yor process with concentration 0.

    Of n mentions of V names, the next one is of a new name with the probability d V / n, and else of a name with k
    mentions with (k - d) / n. A name that is `rare` in the given mentions is never drawn: another name stands for it,
    as often as it would have been drawn.
    """

    def __init__(self, mentions: Iterable[str], rare: frozenset[str], discount: float, rng: random.Random) -> None:
        self._discount = discount
        self._rng = rng
        self._names: list[str] = []
        self._counts: list[int] = []
        self._mentions = array("i")
        self._places: dict[str, int] = {}
        for name in mentions:
            self._add(name)
        self._given = len(self._names)
        for place in range(self._given):
            if self._names[place] in rare:
                self._names[place] = self._make_name()

    def draw(self) -> str:
        """Returns the name of the next mention."""
        if self._rng.random() * len(self._mentions) < self._discount * len(self._names):
            return self.draw_new()
        while True:
            place = self._mentions[self._rng.randrange(len(self._mentions))]
            if self._rng.random() >= self._discount / self._counts[place]:
                return self._add_mention(place)

    def draw_new(self) -> str:
        """Returns a name that nothing was called before."""
        name = self._make_name()
        self._add(name)
        return name

    def draw_made(self) -> str:
        """Returns a name that was made here, by its mentions; a new one if there is none."""
        for _ in range(_TRIES):
            place = self._mentions[self._rng.randrange(len(self._mentions))]
            if place >= self._given:
                return self._add_mention(place)
        return self.draw_new()

    def _add(self, name: str) -> None:
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = len(self._names)
            self._names.append(name)
            self._counts.append(0)
        self._add_mention(place)

    def _add_mention(self, place: int) -> str:
        self._counts[place] += 1
        self._mentions.append(place)
        return self._names[place]

    def _make_name(self) -> str:
        """Returns the beginning of a name with the end of another; a third one joins if such a name exists."""
        name = ""
        for _ in range(_TRIES):
            one, other = (self._names[self._rng.randrange(len(self._names))] for _ in range(2))
            name = _join(one, other)
            if name not in self._places:
                return name
        return f"{name} {self._names[self._rng.randrange(len(self._names))]}"


def _join(one: str, other: str) -> str:
    first, second = one.split(), other.split()
    if len(first) > 1 and len(second) > 1:
        return " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])
    return one[: (len(one) + 1) // 2] + other[len(other) // 2 :].lower()
