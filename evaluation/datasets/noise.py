"""Noisy copies of question sets, as people type: misspelt, out of order, with chatter, several questions in one.

No model is needed. What is drawn for a question depends on the seed, its id and the kind of noise; with which question
it is joined depends on the whole set.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from core.errors import Conflict, InvalidInput
from core.execution.drafts import Draft
from evaluation.datasets.dataset import QUESTIONS_FILE, read_questions
from evaluation.datasets.json_lines import Row, read_rows

__all__ = ["KINDS", "Noise", "NoiseCounts", "add_noise"]

KINDS = ("intents", "order", "chatter", "spelling")
"""In the order in which they are added: what is joined and said beside is misspelt, too."""

T = TypeVar("T")

_WORD = re.compile(r"[^\W\d_]{4,}")
"""A word that may be misspelt. Numbers, years and short words stay as they are."""
_NEIGHBOURS = dict(zip("abcdefghijklmnopqrstuvwxyz", "snvfrghjoklknmpowtdyibecux", strict=True))
"""For each letter the key beside it on an English keyboard."""
_JOINTS = ("{0}? And {1}?", "{0}, and also, {1}?", "{0}? Oh, and {1}?", "I have two questions. {0}? {1}?")
_BEFORE = (
    "hi, ",
    "hello there! ",
    "quick question: ",
    "sorry to bother you again, but ",
    "so I was wondering, ",
    "ok so ",
)
_AFTER = (" thanks!", " thx in advance", " pls be quick, I need it today", " asking for a friend", " any idea?", " lol")


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The rate of each kind, from 0 to 1, and the seed.

    `spelling` is the share of words with a typing error, `order` the share of pairs of neighbouring words that change
    places, `chatter` the share of questions with words that ask for nothing, and `intents` the share of questions that
    are joined with another one.
    """

    spelling: float = 0.0
    order: float = 0.0
    chatter: float = 0.0
    intents: float = 0.0
    seed: int = 0


@dataclass(kw_only=True)
class NoiseCounts:
    """The number of questions, and how many of them each kind of noise changed."""

    questions: int = 0
    changed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))


class _Draws:
    """What is drawn for one question and one kind of noise; the same on every machine and version of Python."""

    def __init__(self, noise: Noise, id: str, kind: str) -> None:
        self._random = random.Random(f"{noise.seed} {kind} {id}")  # noqa: S311 - no secret

    def happens(self, rate: float) -> bool:
        return self._random.random() < rate

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self._random.random() * len(items))]


def add_noise(source: Path, output: Path, noise: Noise) -> NoiseCounts:
    """Writes the questions of a dataset's folder, or of a file, with noise to a new file; returns the counts.

    Each has the fields that it had, `clean` (the questions that it was made of) and `noise` (the kinds that changed
    it). A question that is joined with another one asks for both answers: `parts` are the answers of each, and the
    passages of both support it. Only questions with an answer are joined.

    Raises `InvalidInput` for a malformed question, or if all rates are 0, `NotFound` without questions, and `Conflict`
    if the file exists.
    """
    if not any((noise.spelling, noise.order, noise.chatter, noise.intents)):
        raise InvalidInput("no noise was chosen: give a rate with --spelling, --order, --chatter or --intents")
    if output.exists():
        raise Conflict(f"{output} exists already; name another file with -o")
    path = source / QUESTIONS_FILE if source.is_dir() else source
    read_questions(path)
    rows = list(read_rows(path))
    joinable = [row for row in rows if _can_be_joined(row)]
    places = {id(row): place for place, row in enumerate(joinable)}
    noisy = [_make_noisy(row, joinable, places.get(id(row)), noise) for row in rows]
    try:
        with Draft(output) as draft:
            draft.file.writelines(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in noisy)
            draft.keep()
    except OSError as error:
        raise InvalidInput(f"-o {output} cannot be written: {error.strerror}; name another file") from error
    changed = Counter(kind for one in noisy for kind in one["noise"])
    return NoiseCounts(questions=len(noisy), changed={kind: changed[kind] for kind in KINDS})


def _make_noisy(row: Row, joinable: Sequence[Row], place: int | None, noise: Noise) -> dict[str, Any]:
    """Returns the fields of the noisy question; `place` is its place in `joinable`, None if it is not in there."""
    id, text = row.text("id"), row.text("question")
    fields, clean, kinds = dict(row.fields), [text], []
    draws = _Draws(noise, id, "intents")
    if place is not None and len(joinable) > 1 and draws.happens(noise.intents):
        drawn = draws.pick(range(len(joinable) - 1))
        other = joinable[drawn + (drawn >= place)]  # any but the question itself
        fields, clean = _join_fields(row, other), [text, other.text("question")]
        text = draws.pick(_JOINTS).format(*(question.rstrip(" ?!.？。") for question in clean))
        kinds.append("intents")
    for kind, change in (("order", _disorder), ("chatter", _chat), ("spelling", _misspell)):
        changed = change(text, getattr(noise, kind), _Draws(noise, id, kind))
        if changed != text:
            kinds.append(kind)
        text = changed
    return {**fields, "question": text, "clean": clean, "noise": kinds}


def _can_be_joined(row: Row) -> bool:
    """Whether a question asks for one thing, and its answer is known."""
    fields = row.fields
    return bool(fields.get("answer")) and fields.get("answerable", True) and not ({"grades", "parts"} & fields.keys())


def _join_fields(row: Row, other: Row) -> dict[str, Any]:
    """Returns the fields of a question that asks for both. What is unknown of one is unknown of both; steps to one
    answer are no steps to the list. `type` and `metadata` are those of the first question, as is the id, so that a
    filter selects the same questions as in the clean set.
    """
    both = (row.fields, other.fields)
    parts = [[one["answer"], *filter(str.strip, one.get("aliases", []))] for one in both]
    fields: dict[str, Any] = {
        "id": row.fields["id"],
        "answer": "; ".join(answers[0] for answers in parts),
        "parts": parts,
        "supporting": _unite([one["supporting"] for one in both]),
    }
    if all(one.get("supporting_sentences") for one in both):
        fields["supporting_sentences"] = _unite([one["supporting_sentences"] for one in both])
    return fields | {name: row.fields[name] for name in ("type", "metadata") if name in row.fields}


def _unite(lists: Sequence[Sequence[str | Mapping[str, Any]]]) -> list[str | Mapping[str, Any]]:
    """Returns the supports of both, each once; none if the supports of either are unknown."""
    if not all(lists):
        return []
    return list({json.dumps(item, sort_keys=True): item for items in lists for item in items}.values())


def _disorder(text: str, rate: float, draws: _Draws) -> str:
    """Swaps neighbouring words; none is moved twice. The punctuation at the end stays there."""
    plain = text.rstrip(" ?!.")
    words, place = plain.split(" "), 1
    while place < len(words):
        if draws.happens(rate):
            words[place - 1], words[place] = words[place], words[place - 1]
            place += 1
        place += 1
    return " ".join(words) + text[len(plain) :]


def _chat(text: str, rate: float, draws: _Draws) -> str:
    if not draws.happens(rate):
        return text
    return draws.pick((*_BEFORE, "")) + text + draws.pick(_AFTER)


def _misspell(text: str, rate: float, draws: _Draws) -> str:
    return _WORD.sub(lambda word: _mistype(word[0], draws) if draws.happens(rate) else word[0], text)


def _mistype(word: str, draws: _Draws) -> str:
    """Returns the word with two letters swapped, one doubled, one beside another key, or one left out; its first letter
    stays.
    """
    place = draws.pick(range(1, len(word) - 1))
    before, letter, after = word[:place], word[place], word[place + 1 :]
    slip = draws.pick(("swapped", "doubled", "beside", "left out"))
    if slip == "swapped" and letter != after[0]:
        return before + after[0] + letter + after[1:]
    if slip == "doubled":
        return before + letter + letter + after
    if slip == "beside" and letter in _NEIGHBOURS:
        return before + _NEIGHBOURS[letter] + after
    return before + after
