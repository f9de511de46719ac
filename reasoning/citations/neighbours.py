"""Values that stand beside the asked one: in another row or column of its table, or in another sentence. No model is
asked.

A model that reads badly takes the first value of the right kind. `find_neighbour` looks where the value of an answer
stands in a passage, and whether something beside it is what the question names. It is sure of few cases; of others it
says nothing.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from core.passage_context import read_grids, split_units
from core.passage_context.grids import GridRow, TextGrid
from core.passage_context.other_words import OtherWords, find_other_words
from core.passage_context.row_labels import SUM_WORDS
from core.passage_context.tables import is_row
from core.passage_context.windows import stems_of
from core.text.answers import is_contained
from core.text.lead_in import split_lead_in
from core.text.name_spans import find_names
from core.text.value_kinds import GENERIC, ValueKind, find_digits, find_kind, has_value
from reasoning.citations.held import find_numbers

_LONGEST = 20_000
"""Characters of a passage that are read."""
_OF_VALUES = frozenset({ValueKind.NUMBER, ValueKind.DATE, ValueKind.DURATION})
_ALONE = re.compile(r"(?<![^\W_])\d+")
_PARTS = re.compile(r";|,? (?:and|but|while|whereas|und|aber|während|et|mais|tandis que) ")
"""Where a sentence with several values is taken apart."""
_CHANGE = re.compile(
    r"\b(?:ris|rais|rose|increas|grow|grew|chang|fall|fell|drop|decreas|reduc|lower|mov|extend|postpon|steig|stieg|erhöh"
    r"|sink|sank|gesenkt|änder|verschoben|verlänger|pass|augment|baiss|rédui|report)\w{0,6}\b",
    re.IGNORECASE,
)
_FROM_TO = re.compile(r"\b(?:from|von|vom|de) ([^,.;]{1,40}?) (?:to|auf|à) (?=[^,.;]{0,12}?\d)", re.IGNORECASE)
_RELATIVE = re.compile(
    r"\b(?:after|before|following|preceding|previous|prior|next|than|compared|difference|chang\w{0,3}|gr[eo]w\w{0,3}"
    r"|increas\w{0,3}|decreas\w{0,3}|nach|vor|folgend\w{0,2}|vorig\w{0,2}|nächst\w{0,2}|als|après|avant|suivant\w{0,2}"
    r"|précédent\w{0,2}|que)\b",
    re.IGNORECASE,
)
"""Words of a question that names one row or column to ask for another."""
_EARLIER = re.compile(
    r"\b(?:before|until|previous|previously|former|formerly|old|earlier|originally|original|initial|initially|from|was"
    r"|vor|bisher\w{0,3}|früher\w{0,2}|ursprünglich\w{0,2}|war|avant|jusqu|ancien\w{0,3}|initial\w{0,4}|était)\b",
    re.IGNORECASE,
)
"""Words of a question that asks for the value before a change."""


def find_lone_digits(question: str) -> frozenset[str]:
    """Returns the runs of digits that are not part of a name: the 3 of Q3 may still be the answer."""
    return frozenset(_ALONE.findall(question))


@dataclass(frozen=True)
class _Asked:
    """A question as it is compared: its words without words such as `number`, and the terms that it says."""

    text: str
    kind: ValueKind
    stems: frozenset[str]
    terms: tuple[OtherWords, ...]

    def named(self, stems: Set[str]) -> frozenset[str]:
        """Returns the words of the question that something with these stems has, in these or other words."""
        said = frozenset[str]().union(*(term.said for term in self.terms if term.is_in(stems)))
        return self.stems & (said | stems)

    def names_row(self, label: frozenset[str]) -> bool:
        """Whether the question says the label of a row, in these or other words."""
        return label <= self.stems or any(label in term.others for term in self.terms)

    def has_value(self, text: str) -> bool:
        return has_value(self.kind, text, stems=self.stems, digits=find_lone_digits(self.text))


@dataclass(frozen=True)
class _Place:
    """Where the value of an answer stands: how many words of the question are there, and what it belongs to instead of
    what is asked; '' if it may be what is asked.
    """

    named: int
    neighbour: str


def find_neighbour(answer: str, question: str, passage: str, *, sure: bool = False) -> str:
    """Returns what the value of an answer (without markers) belongs to in a passage, if the question names something
    beside it; '' if the value stands nowhere, or also where nothing else is named.

    - In a table, the question names another column of the row, or another row.
    - In a text, another part of the sentence has a value and a name or number of the question that this part lacks; a
      later sentence has a value and all words of the question that are missing up to here; or the value is the one
      before a change ("rises from 96 to 192") and the question does not ask for that.
    - `passage` begins with its title, whose words count for each sentence.
    - If it must be `sure`, later sentences are not compared: an answer may follow from several of them.
    """
    _, text = split_lead_in(question)
    stems = frozenset(stem for stem in stems_of(text) if not GENERIC.fullmatch(stem))
    asked = _Asked(text, find_kind(text), stems, tuple(find_other_words(text)))
    passage = passage[:_LONGEST]
    grids = read_grids(passage)
    of_title = stems_of(passage.partition("\n")[0])
    found = [
        *_in_tables(answer, asked, passage, grids, of_title),
        *_in_sentences(answer, asked, passage, grids, sure=sure),
    ]
    most = max((place.named for place in found), default=0)
    likeliest = [place.neighbour for place in found if place.named == most]
    return likeliest[0] if likeliest and all(likeliest) else ""


def _in_tables(
    answer: str, asked: _Asked, passage: str, grids: Sequence[TextGrid], of_title: frozenset[str]
) -> Iterator[_Place]:
    """Yields each cell with the answer. Words of the title tell no columns apart."""
    for grid in grids if not _RELATIVE.search(asked.text) else ():
        places = [(row, at) for row in grid.rows for at, place in enumerate(row.cells) if place != row.named_by]
        holding = [place for place in places if _holds(answer, passage[slice(*place[0].cells[place[1]])])]
        if not holding:
            continue
        labels = {label for row in grid.rows if (label := _label(row)) and asked.names_row(label)}
        labels = {label for label in labels if not any(label < other for other in labels)}
        for row, at in holding:
            if row.label and is_contained(answer, row.label):
                continue  # the question asks which row it is
            column = _name(grid, row, at)
            others = (_name(grid, row, other) for other in range(len(row.cells)) if other != at)
            own = asked.named(stems_of(column)) - of_title
            is_other_column = any(asked.named(stems_of(other)) - of_title > own for other in others)
            is_other_row = bool(labels) and bool(row.label) and _label(row) not in labels
            where = f"{row.label or 'another row'}, {column}".rstrip(", ")
            named = len(asked.named(stems_of(f"{row.label} {column}")))
            yield _Place(named, where if is_other_row or is_other_column else "")


def _label(row: GridRow) -> frozenset[str]:
    return stems_of(row.label) - SUM_WORDS


def _name(grid: TextGrid, row: GridRow, at: int) -> str:
    names = row.names or grid.columns
    return names[at] if at < len(names) else ""


def _in_sentences(
    answer: str, asked: _Asked, passage: str, grids: Sequence[TextGrid], *, sure: bool
) -> Iterator[_Place]:
    if asked.kind not in _OF_VALUES or not asked.has_value(answer):
        return
    title, _, body = passage.partition("\n")
    start = len(passage) - len(body)
    sentences = [
        passage[start + begin : start + end].strip()
        for begin, end in split_units(body)
        if not is_row(body[begin:end])
        and not any(grid.start < start + end and start + begin < grid.end for grid in grids)
    ]
    before = stems_of(title)
    for place, sentence in enumerate(sentences):
        if _holds(answer, sentence):
            later = [text for text in sentences[place + 1 :] if asked.has_value(text) and not _holds(answer, text)]
            is_said_later = not sure and _is_said_later(asked, before | stems_of(sentence), later)
            neighbour = _find_other_part(answer, asked, sentence) or (sentence if is_said_later else "")
            yield _Place(len(asked.named(stems_of(sentence))), neighbour)
        before |= stems_of(sentence)


def _is_said_later(asked: _Asked, before: frozenset[str], later: Sequence[str]) -> bool:
    """Whether a later sentence has all words of the question that no earlier one has, as far as any has them."""
    missing = asked.stems - asked.named(before)
    there = [missing & asked.named(stems_of(text)) for text in later]
    said = frozenset[str]().union(*there)
    return bool(said) and said in there


def _find_other_part(answer: str, asked: _Asked, sentence: str) -> str:
    """Returns the part of a sentence with the answer, if the question names another part; else ''."""
    change = _FROM_TO.search(sentence)
    if (
        change
        and _CHANGE.search(sentence)
        and _holds(answer, change[1])
        and not _holds(answer, sentence[change.end() :])
    ):
        is_named = bool(find_digits(change[1]) & find_digits(asked.text)) or _EARLIER.search(asked.text)
        return "" if is_named else f"{change[0]}…"
    parts = [part for part in _PARTS.split(sentence) if asked.has_value(part)]
    own = [part for part in parts if _holds(answer, part)]
    if not own or len(parts) == len(own):
        return ""
    before = " ".join(parts[: parts.index(own[0])])  # a later part may omit the subject, and no number
    named = _names_in(asked, f"{before} {own[0]}") | _digits_in(asked, own[0])
    others = (_names_in(asked, part) | _digits_in(asked, part) for part in parts if part not in own)
    return own[0].strip() if any(other > named for other in others) else ""


def _names_in(asked: _Asked, text: str) -> frozenset[str]:
    """Returns the stems of the names of the question that a text has."""
    names = frozenset[str]().union(*(stems_of(name.form) for name in find_names(asked.text)))
    return stems_of(text) & names


def _digits_in(asked: _Asked, text: str) -> frozenset[str]:
    return find_digits(text) & find_digits(asked.text)


def _holds(answer: str, text: str) -> bool:
    numbers = find_numbers(answer)
    return numbers <= find_numbers(text) if numbers else is_contained(answer, text)
