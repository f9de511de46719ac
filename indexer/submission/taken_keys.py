"""The keys of the documents that were read, and where those come from, for any number of documents."""

from collections.abc import Collection, Iterable, Iterator

__all__ = ["KeySet", "TakenKeys"]

_LARGEST = 1 << 31
_NAMED = 200_000
"""How many documents have their places remembered."""


class KeySet(Collection[str]):
    """A set of keys. Numbers take a bit each, so twenty million keys of a table of passages take some megabytes."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._bits = bytearray()
        self._others: set[str] = set()
        self._count = 0
        for key in keys:
            self.add(key)

    def add(self, key: str) -> None:
        number = _number(key)
        if number is None:
            self._others.add(key)
            return
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self._bits):
            if place > 2 * len(self._bits) + (1 << 16):  # a few large numbers: bits for all below would be waste
                self._others.add(key)
                return
            self._bits.extend(bytes(place + 1 + len(self._bits) // 4 - len(self._bits)))
        if not self._bits[place] & bit:
            self._bits[place] |= bit
            self._count += 1

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        number = _number(key)
        if number is not None and number >> 3 < len(self._bits) and self._bits[number >> 3] & 1 << (number & 7):
            return True
        return key in self._others

    def __len__(self) -> int:
        return self._count + len(self._others)

    def __iter__(self) -> Iterator[str]:
        yield from self._others
        for place, byte in enumerate(self._bits):
            if byte:
                yield from (str(8 * place + bit) for bit in range(8) if byte >> bit & 1)


class TakenKeys:
    """The keys that are taken, and for the first `_NAMED` keys the source that took each."""

    def __init__(self) -> None:
        self._sources: dict[str, str] = {}
        self._rest = KeySet()

    def take(self, key: str, source: str) -> str | None:
        """Returns the source that has the key already, or else takes the key and returns None."""
        taken = self._sources.get(key)
        if taken is None and key in self._rest:
            return "a document before it"
        if taken is None:
            if len(self._sources) < _NAMED:
                self._sources[key] = source
            else:
                self._rest.add(key)
        return taken


def _number(key: str) -> int | None:
    """Returns the number that a key is, written as Python writes it; None for any other key."""
    if not (key.isascii() and key.isdecimal()) or len(key) > 10 or (key[0] == "0" and key != "0"):
        return None
    number = int(key)
    return number if number < _LARGEST else None
