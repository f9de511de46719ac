"""Noisy copies of question sets, as people type: misspelt, out of order, with chatter, several questions in one.

No model is needed. What is drawn for a question depends on the seed, its id and the kind of noise; with which question
it is joined depends on the whole set.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from core.errors import Conflict, InvalidInput
from core.execution.files import Draft
from evaluation.datasets.dataset import QUESTIONS_FILE, read_question_rows
from evaluation.datasets.json_lines import Row

KINDS = ("intents", "order", "chatter", "spelling")
"""In the order in which they are added: joined questions and chatter are misspelt, too."""

T = TypeVar("T")

_WORD = re.compile(r"[^\W\d_]{4,}")
"""A word that may be misspelt. Numbers, years and short words stay as they are."""
_NEIGHBOURS = dict(zip("abcdefghijklmnopqrstuvwxyz", "snvfrghjoklknmpowtdyibecux", strict=True))
"""For each letter the key beside it on an English keyboard."""
_ENDS = " ?!.？。"
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
    are joined with another question. Raises `InvalidInput` for a rate that is not from 0 to 1, and if all are 0.
    """

    spelling: float = 0.0
    order: float = 0.0
    chatter: float = 0.0
    intents: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        rates = {kind: getattr(self, kind) for kind in KINDS}
        for kind, rate in rates.items():
            if not 0 <= rate <= 1:  # NaN is in no order with numbers
                raise InvalidInput(f"the rate of {kind} must be a number from 0 to 1, not {rate}")
        if not any(rates.values()):
            raise InvalidInput("no noise was chosen: give a rate with --spelling, --order, --chatter or --intents")


@dataclass(kw_only=True)
class NoiseCounts:
    """The number of questions, and how many of them each kind of noise changed."""

    questions: int = 0
    changed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))


class _Draws:
    """What is drawn for one question and one kind of noise; the same on every machine and version of Python.

    One generator is seeded again for each question: making a generator takes as long as all else.
    """

    def __init__(self, noise: Noise) -> None:
        self._seed = noise.seed
        self._random = random.Random()  # noqa: S311 - no secret
        self.draw = self._random.random

    def begin(self, id: str, kind: str) -> None:
        self._random.seed(f"{self._seed} {kind} {id}")

    def happens(self, rate: float) -> bool:
        return self.draw() < rate

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self.draw() * len(items))]


def add_noise(source: Path, output: Path, noise: Noise) -> NoiseCounts:
    """Writes the questions of a dataset's folder, or of a file, with noise to a new file; returns the counts.

    Each question keeps its fields, and gets `clean` (the questions that it was made of) and `noise` (the kinds that
    changed it). A joined question asks for both answers: `parts` are the answers of each question, and the passages of
    both support it. Only questions with an answer are joined.

    Raises `InvalidInput` for a malformed question, and for a question that has noise already, `NotFound` without
    questions, and `Conflict` if the file exists.
    """
    if output.exists():
        raise Conflict(f"{output} exists already; name another file with -o")
    path = source / QUESTIONS_FILE if source.is_dir() else source
    rows: Iterable[Row] = _read_clean(path)
    joinable: list[Row] = []
    if noise.intents:  # only joining needs all questions at once
        rows = list(rows)
        joinable = [row for row in rows if _can_be_joined(row)]
    places = {id(row): place for place, row in enumerate(joinable)}
    draws = _Draws(noise)
    counts = NoiseCounts()
    encode = json.JSONEncoder(ensure_ascii=False).encode
    try:
        with Draft(output) as draft:
            for row in rows:
                noisy = _make_noisy(row, joinable, places.get(id(row)), noise, draws)
                counts.questions += 1
                for kind in noisy["noise"]:
                    counts.changed[kind] += 1
                draft.file.write(encode(noisy).encode() + b"\n")
            draft.keep()
    except OSError as error:
        raise InvalidInput(f"-o {output} cannot be written: {error.strerror}; name another file") from error
    return counts


def _read_clean(path: Path) -> Iterator[Row]:
    """Yields the questions of a file. Raises `InvalidInput` for a question with the fields that noise adds: the clean
    question would be lost.
    """
    for row, _ in read_question_rows(path):
        taken = [name for name in ("clean", "noise") if name in row.fields]
        if taken:
            raise InvalidInput(
                f"{row.place}: `{taken[0]}` is there already, so the question has noise; add all kinds of noise at "
                "once, to the questions without noise"
            )
        yield row


def _make_noisy(row: Row, joinable: Sequence[Row], place: int | None, noise: Noise, draws: _Draws) -> dict[str, Any]:
    """Returns the fields of the noisy question; `place` is its place in `joinable`, None if it is not in there."""
    id, text = row.text("id"), row.text("question")
    fields, clean, kinds = dict(row.fields), [text], []
    joint = "{0}"
    if place is not None and len(joinable) > 1:
        draws.begin(id, "intents")
        if draws.happens(noise.intents):
            drawn = draws.pick(range(len(joinable) - 1))
            other = joinable[drawn + (drawn >= place)]  # any but the question itself
            fields, clean = _join_fields(row, other), [text, other.text("question")]
            joint = draws.pick(_JOINTS)
            kinds.append("intents")
    # Words change places before questions are joined: no word moves into the other question.
    asked = clean if len(clean) == 1 else [question.rstrip(_ENDS) for question in clean]
    if noise.order:
        draws.begin(id, "order")
        ordered, asked = asked, [_disorder(question, noise.order, draws) for question in asked]
        kinds += ["order"] if asked != ordered else []
    text = joint.format(*asked)
    for kind, rate, change in (("chatter", noise.chatter, _chat), ("spelling", noise.spelling, _misspell)):
        if rate:
            draws.begin(id, kind)
            changed = change(text, rate, draws)
            kinds += [kind] if changed != text else []
            text = changed
    return {**fields, "question": text, "clean": clean, "noise": kinds}


def _can_be_joined(row: Row) -> bool:
    """Whether a question asks for one thing, and its answer is known."""
    fields = row.fields
    return bool(fields.get("answer")) and fields.get("answerable", True) and not ({"grades", "parts"} & fields.keys())


def _join_fields(row: Row, other: Row) -> dict[str, Any]:
    """Returns the fields of a question that asks for both answers. Supports that are unknown of either question are
    unknown of the joined question; `hops` to one answer are left out. Id, `type` and `metadata` are the first
    question's, so that a filter selects the same questions as in the clean set.
    """
    both = (row.fields, other.fields)
    parts = [[fields["answer"], *filter(str.strip, fields.get("aliases", []))] for fields in both]
    joined: dict[str, Any] = {
        "id": row.fields["id"],
        "answer": "; ".join(answers[0] for answers in parts),
        "parts": parts,
        "supporting": _unite([fields["supporting"] for fields in both]),
    }
    if all(fields.get("supporting_sentences") for fields in both):
        joined["supporting_sentences"] = _unite([fields["supporting_sentences"] for fields in both])
    return joined | {name: row.fields[name] for name in ("type", "metadata") if name in row.fields}


def _unite(lists: Sequence[Sequence[str | Mapping[str, Any]]]) -> list[str | Mapping[str, Any]]:
    """Returns the supports of both questions, each once; none if the supports of either are unknown."""
    if not all(lists):
        return []
    return list({json.dumps(item, sort_keys=True): item for items in lists for item in items}.values())


def _disorder(text: str, rate: float, draws: _Draws) -> str:
    """Swaps neighbouring words; none is moved twice. The punctuation at the end stays there."""
    plain = text.rstrip(" ?!.")
    words, place, draw = plain.split(" "), 1, draws.draw
    while place < len(words):
        if draw() < rate:
            words[place - 1], words[place] = words[place], words[place - 1]
            place += 1
        place += 1
    return " ".join(words) + text[len(plain) :]


def _chat(text: str, rate: float, draws: _Draws) -> str:
    if not draws.happens(rate):
        return text
    return draws.pick((*_BEFORE, "")) + text + draws.pick(_AFTER)


def _misspell(text: str, rate: float, draws: _Draws) -> str:
    parts, end, draw = [], 0, draws.draw
    for word in _WORD.finditer(text):
        if draw() < rate:
            parts += [text[end : word.start()], _mistype(word[0], draws)]
            end = word.end()
    return "".join(parts) + text[end:]


def _mistype(word: str, draws: _Draws) -> str:
    """Returns the word with two letters swapped, or with a letter doubled, replaced by a neighbouring key, or left out.
    The first letter stays.
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
