"""Occurrences of names in the chunks of a document, in any spelling."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.execution.limits import check_work
from core.graph import Surface
from core.text.names import normalise

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts without spaces between words, or with endings on names (Korean): a name is part of a run of letters."""

_UNIT = re.compile(rf"[^\W_{_UNSPACED}]+|.", re.DOTALL)
"""A word, or a character between words. A name begins and ends where units do, so it is a sequence of whole units."""


@dataclass(slots=True)
class _Node:
    """The names that begin with the same units: `name` consists of these units, `following` have more, by the next."""

    name: str = ""
    following: dict[str, "_Node"] = field(default_factory=dict)


def find_occurrences(texts: Iterable[str], names: Iterable[str]) -> Mapping[str, Mapping[int, int]]:
    """Returns how often each text contains each *normalised* name as separate words: by name, by the index of the text.

    A name that no text contains is left out. The texts are read once for all names.
    """
    root = _Node()
    for name in names:
        node = root
        for unit in _UNIT.findall(name):
            node = node.following.setdefault(unit, _Node())
        node.name = name
    found: dict[str, dict[int, int]] = {}
    if not root.following:
        return found
    for index, text in enumerate(texts):
        check_work()
        for name, count in _count(normalise(text), root).items():
            found.setdefault(name, {})[index] = count
    return found


def _count(text: str, root: _Node) -> Counter[str]:
    """Returns how often the text contains each name. Occurrences of one name do not overlap."""
    counts: Counter[str] = Counter()
    ends: dict[str, int] = {}
    for unit in _UNIT.finditer(text):
        node, end = root.following.get(unit.group()), unit.end()
        while node is not None:
            if node.name and unit.start() >= ends.get(node.name, 0):
                counts[node.name] += 1
                ends[node.name] = end
            following = _UNIT.match(text, end) if node.following else None
            if following is None:
                break
            node, end = node.following.get(following.group()), following.end()
    return counts


def find_spellings(text: str, name: str, count: int) -> list[Surface]:
    """Returns the spellings of `name` in the text, or `name` itself if they differ by more than case."""
    pattern = r"\s+".join(re.escape(word) for word in name.split())
    forms = Counter(
        " ".join(match.group().split())
        for match in re.finditer(pattern, text, re.IGNORECASE)
        if not (_same_word(text, match.start()) or _same_word(text, match.end()))
    )
    if not forms:
        return [Surface(form=" ".join(name.split()), count=count)]
    return [Surface(form=form, count=n) for form, n in forms.items()]


_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")


def _same_word(text: str, at: int) -> bool:
    """Whether the characters before and at `at` belong to one word."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (before.isalnum() and after.isalnum()):
        return False
    return not (_UNSPACED_CHARACTER.match(before) or _UNSPACED_CHARACTER.match(after))
