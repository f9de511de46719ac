"""The plan of a survey, read from its question by code: what is listed, of which kind, and what a document must say.

`Which contracts are not governed by Delaware law?` lists documents of the kind `contracts` that say "governed",
"Delaware" and "law" together, with one negation.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.passage_context.other_words import find_other_words
from core.ports.surveying import Wording, WordsAsked
from core.text.name_spans import find_names
from core.text.terms import Word, split_words
from core.text.value_kinds import GENERIC
from core.text.word_lists import KIND_QUESTION_WORDS, SMALL_WORDS
from reasoning.strategies.survey.grouping import Grouping
from reasoning.strategies.survey.kinds import (
    ANY_KIND,
    HOW_MANY,
    READ,
    ROWS,
    find_kind,
    kind_names,
    kind_wordings,
    read_table,
    stem_of,
)
from reasoning.strategies.survey.totals import Aggregate
from reasoning.strategies.survey.values import read_decimal
from reasoning.strategies.survey.word_forms import find_forms, find_number

_COUNTED = 2
"""What a number counts stands within so many words behind it: "30 business days"."""
_MOST_WORDS = 24
"""Words that must stand together; a longer question is no condition, and no passage has all of its words."""

NEGATION = re.compile(
    r"\b(?:not(?! (?:only|less|more|later|earlier|limited)\b)|never|without|neither|nor"
    r"|no(?! (?:later|less|more|fewer)\b)|none|nobody|nothing|cannot|hardly"
    r"|nicht|kein(?:e[nmrs]?)?|ohne|nie|niemals|weder|sans|jamais|aucune?)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words that turn a statement round."""
_DENIED = re.compile(
    r"un(?P<what>(?!it|if)[a-z]{2,20}ed|paid|sold|sent|met|done|known)|un(?P<german>(?:be|ge|ver|er)[a-zäöüß]{2,20}t)"
    r"(?:e[nmrs]?)?|im(?P<french>payé)e?s?",
    re.IGNORECASE,
)
"""A participle that is denied: *unpaid*, *unsigned*, *unbezahlten*, *impayée*."""
_ABSENT = re.compile(
    r"\b(?:do(?:es)?|did)(?: not|n['’]t) (?:mention|contain|include|have|refer to|provide for|address|cover)\b"
    r"|\b(?:lacks?|lacking)\b|\b(?:have|has|contains?|includes?|mentions?|with) no\b"
    r"|\b(?:erwähnen|enthalten|haben|nennen) (?:nicht\b|kein(?:e[nmrs]?)?\b)",
    re.IGNORECASE,
)
"""What a document lacks is asked for: `Which contracts do not mention arbitration?`"""
_WITHOUT_CLAUSE = re.compile(r"\A\W{0,3}(?:(?:that|which) )?(?:(?:are|is|come) )?(?:without|ohne)\b", re.IGNORECASE)
_JOINED = re.compile(r"\A\W{0,3}(?:there )?(?:(?:that|which|who) )?(?:are |is )?(?:there )?", re.IGNORECASE)
"""Words between the kind and the condition: "contracts that are governed by", "contracts governed by"."""
_ONLY_MENTIONED = re.compile(
    r"\A\W{0,3}(?:(?:that|which) )?(?:mention|contain|include|refer to|address|cover|have|has|erwähnen|enthalten)",
    re.IGNORECASE,
)
"""It does not matter whether a passage affirms what it only has to mention."""
_NUMBER = (
    r"(?:[$€£] ?)?\d(?:[\d.,]{0,14}\d)?|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|thirty|sixty|ninety)\b"
)
_COMPARED = re.compile(
    r"\b(?:(?P<more>(?:more|greater|longer|higher|larger|later) than|over|above|exceed\w{0,3}|after|mehr als|über|nach)"
    r"|(?P<less>(?:less|fewer|shorter|lower|smaller|earlier) than|under|below|before|weniger als|unter|vor)"
    r"|(?P<least>at least|since|mindestens|seit)|(?P<most>at most|up to|until|höchstens|bis))"
    rf"\s(?:the year |EUR |USD )?(?P<number>{_NUMBER})",
    re.IGNORECASE,
)
_BETWEEN = re.compile(rf"\b(?:between|zwischen) (?:{_NUMBER})", re.IGNORECASE)
_EITHER = re.compile(r"\S{1,40} (?:or|oder|ou) \S{1,40}\b", re.IGNORECASE)
"""Words that are alternatives are sought together, and the note says so."""
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,200})[\"”“»]")

_SIGN = re.compile(r"(?<![\w-])(?:[A-Z]{1,10}[-/.]?\d[\w./-]{0,20}|\d{1,10}-[A-Z]\w{0,10})(?!\w)")
"""A number of a thing, such as `V-3` or `10-K`, whose parts alone mean nothing."""

_FRAMING = frozenset(
    word.stem
    for word in split_words("""
        mention contain include says said states stated show list report specify there exist follow talk mean concern
        regard refer clause section provision paragraph erwähnen erwähnt enthalten enthält nennen nennt sagen steht gibt
        Klausel
    """)
)
"""Stems that only join the kind with what its documents say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sought:
    """A word or term that must be said: as it is written, and its wordings. `is_number`: a number. `opposite` are the
    wordings of what it denies: "paid" of "unpaid".
    """

    written: str
    wording: Wording
    is_number: bool = False
    opposite: Wording = frozenset()

    @property
    def looked_for(self) -> Wording:
        """The wordings that tell whether it is so: a column `Paid` tells what is unpaid."""
        return self.wording | self.opposite


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two of the sought words, by their places, of which the second follows the first within `distance` words."""

    first: int
    second: int
    distance: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """A number that is compared. `words` are the comparing words, `least` and `most` the bounds (None: no bound), which
    `is_strict` excludes. `counted` is the place of the sought word behind the number, -1 if there is none.
    """

    words: str
    number: str
    least: float | None
    most: float | None
    is_strict: bool
    counted: int = -1

    @property
    def is_unread(self) -> bool:
        """Whether code does not know the value of the number, which may be a date."""
        return self.least is None and self.most is None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a survey looks for.

    - `sought` must stand together, with `pairs` close to one another, `phrases` literally, and `comparison` must hold
      of a number there. `of_kind` are words before the kind, which may stand anywhere in the document.
    - `kind` is as it is written, '' if documents of any kind are listed. `unit` is what is asked for if that is no kind
      of document, as "suppliers". `counts_rows`: it is the rows of any table, as "records". `asks_number`: the question
      asks how many. `lists_all`: it names documents or rows, so that it needs no condition.
    - `is_negated`: the condition has an odd number of negations. `is_mention`: negations do not matter. `is_absence`:
      documents that lack the words are listed.
    - `condition` is what a document must meet in the words of the question, and equal for questions that differ only
      in how they ask for a list.
    - `grouping` is what the documents are grouped by, and `aggregate` what is added up over them; None: nothing.
    - `unread` names parts of the question that code cannot decide.
    """

    sought: tuple[Sought, ...] = ()
    pairs: tuple[Pair, ...] = ()
    of_kind: tuple[Sought, ...] = ()
    phrases: tuple[str, ...] = ()
    kind: str = ""
    kind_wording: Wording = frozenset()
    unit: str = ""
    comparison: Comparison | None = None
    is_negated: bool = False
    is_mention: bool = False
    is_absence: bool = False
    counts_rows: bool = False
    asks_number: bool = False
    lists_all: bool = False
    condition: str = ""
    grouping: Grouping | None = None
    aggregate: Aggregate | None = None
    unread: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the question names neither words nor documents."""
        return not (self.sought or self.phrases or self.lists_all)

    @property
    def unit_names(self) -> tuple[str, ...]:
        """The unit, and what may be its singular in German, where plurals have stems of their own."""
        is_german = self.unit[:1].isupper()
        endings = [end for end in ("en", "er", "n", "e", "s") if is_german and self.unit.endswith(end)]
        return (*([self.unit] if self.unit else []), *(self.unit.removesuffix(end) for end in endings))

    @property
    def asked(self) -> WordsAsked:
        """What the finder is asked for. Single digits are no stems of the index, so they are looked for in texts."""
        together = [sought for sought in self.sought if _is_indexed(sought)]
        return WordsAsked(
            together=tuple(sought.wording if self.is_absence else sought.looked_for for sought in together),
            anywhere=tuple(sought.wording for sought in self.of_kind if _is_indexed(sought)),
            kind=self.kind_wording,
            lacking=self.is_absence,
        )

    def describe(self) -> str:
        """Returns the plan in one line, for the trace."""
        words = ", ".join(f"“{sought.written}”" for sought in self.sought)
        parts = [f"documents of the kind “{self.kind}”" if self.kind else "documents of any kind"]
        if self.of_kind:
            parts.append("with " + ", ".join(f"“{sought.written}”" for sought in self.of_kind))
        if words:
            parts.append(f"that {'lack' if self.is_absence else 'have together'} {words}")
        if self.comparison is not None:
            parts.append(f"with a number {self.comparison.words} {self.comparison.number}")
        if self.is_negated:
            parts.append("with a negation")
        if self.grouping is not None:
            parts.append(f"grouped by “{self.grouping.name}”")
        if self.aggregate is not None:
            parts.append(f"with the {self.aggregate.how} of “{self.aggregate.of}”")
        return f"survey: {' '.join(parts)}"


def read_plan(question: str, own_kinds: frozenset[str] = frozenset()) -> Plan:
    """Returns the plan of a question. `own_kinds` are stems of words for a kind of documents that this corpus has."""
    text = question[:READ].strip()
    text, grouping, aggregate = read_table(text)
    between = _BETWEEN.search(text)
    unread = [between.group().strip(" ,;?.")] if between else []
    start, kind, modifiers, unit = find_kind(text, own_kinds)
    stem = stem_of(kind)
    own: Wording = frozenset() if stem in ANY_KIND else kind_wordings().get(stem, frozenset())
    if stem in own_kinds:
        own |= {frozenset([other]) for other in own_kinds}
    counts_rows = stem_of(unit) in ROWS
    rest = text[start:]
    compared = _COMPARED.search(rest)
    absent = _ABSENT.search(rest) or _WITHOUT_CLAUSE.search(rest)
    is_mention = _ONLY_MENTIONED.search(rest) is not None
    negations = 0 if absent else len(NEGATION.findall(rest))
    if absent:
        rest = _blank(rest, *absent.span())
    if compared:
        rest = _blank(rest, *compared.span())
        if read_number(compared["number"]) is None:
            unread.append(compared.group())
    if either := _EITHER.search(rest):
        unread.append(either.group())
    if unit:  # words before it narrow it down where it is said
        rest = f"{modifiers} {'' if counts_rows or GENERIC.fullmatch(unit) else unit} {rest}"
        modifiers = ""
    sought, pairs = _read_sought(_without_own_kind(rest, own))
    of_kind, pairs_of_kind = _read_sought(modifiers)
    if not sought and any(word.opposite for word in of_kind):  # "unpaid invoices" are invoices that are unpaid
        sought, pairs, of_kind = of_kind, pairs_of_kind, ()
    plan = Plan(
        sought=sought,
        pairs=pairs,
        of_kind=of_kind,
        phrases=(*_QUOTED.findall(rest), *_SIGN.findall(rest)),
        kind="" if stem in ANY_KIND else kind,
        kind_wording=own,
        unit=unit,
        comparison=None if compared is None else _read_comparison(compared, text[start:], sought),
        is_negated=negations % 2 == 1,
        is_mention=is_mention,
        is_absence=absent is not None,
        counts_rows=counts_rows,
        asks_number=HOW_MANY.search(text) is not None,
        lists_all=bool(kind) or counts_rows,
        condition=_read_condition(modifiers, kind or unit, text[start:]),
        grouping=grouping,
        aggregate=aggregate,
        unread=tuple(unread),
    )
    singulars = _word(stem_of(name) for name in plan.unit_names[1:])
    named = (replace(word, wording=word.wording | singulars) if word.written == unit else word for word in plan.sought)
    return replace(plan, sought=tuple(named)) if singulars else plan


def _read_condition(modifiers: str, listed: str, rest: str) -> str:
    stem = stem_of(listed)
    name = "document" if not listed or stem in ANY_KIND else kind_names().get(stem, listed)
    said = _JOINED.sub("", " ".join(rest.split())).strip(" ,;:?!.")
    return f"{modifiers} {name}: {said}".strip() if said else f"{modifiers} {name}".strip()


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _without_own_kind(text: str, kind: Wording) -> str:
    """Returns a condition without the words that stand for the listed document: "may the agreement be assigned"."""
    for word in reversed(split_words(text)):
        before = text[: word.start].casefold().rstrip().rpartition(" ")[2]
        if frozenset([word.stem]) in kind and before in {"the", "this", "these", "der", "die", "dieser"}:
            text = _blank(text, word.start, word.end)
    return text


def _read_comparison(found: re.Match[str], text: str, sought: Sequence[Sought]) -> Comparison:
    value = read_number(found["number"])
    behind = next(iter(_read_sought(text[found.end() : found.end() + 40])[0]), None)
    return Comparison(
        words=" ".join(found.group()[: found.start("number") - found.start()].split()),
        number=found["number"],
        least=value if found["more"] or found["least"] else None,
        most=value if found["less"] or found["most"] else None,
        is_strict=bool(found["more"] or found["less"]),
        counted=next((at for at, one in enumerate(sought) if behind and one.wording == behind.wording), -1),
    )


def read_number(text: str) -> float | None:
    """Returns the value of a number as it is written, such as `10,000`, `2.5`, `1.234,50` or `five`."""
    value = read_decimal(find_number(text) or text.strip("$€£ "))
    return None if value is None else float(value)


def _is_indexed(sought: Sought) -> bool:
    return all(len(stem) > 1 for stems in sought.wording for stem in stems)


def _read_sought(text: str) -> tuple[tuple[Sought, ...], tuple[Pair, ...]]:
    """Returns the words of a text that count, each once, and which of them must stand close together."""
    found: dict[Wording, Sought] = {}
    pairs: list[Pair] = []
    places: list[Wording] = []
    for sought in _split_sought(text):
        if len(found) == _MOST_WORDS and sought.wording not in found:
            break
        found.setdefault(sought.wording, sought)
        places.append(sought.wording)
    order = {wording: at for at, wording in enumerate(found)}
    for first, second in pairwise(places):
        if found[first].is_number and first != second:
            distance = 1 if found[second].is_number else _COUNTED
            pairs.append(Pair(first=order[first], second=order[second], distance=distance))
    pairs += _pair_names(text, order)
    return tuple(found.values()), tuple(pairs)


def _split_sought(text: str) -> Iterator[Sought]:
    """Yields the words and terms of a text that say something, in order."""
    words = _content_words(text)
    terms = find_other_words(text)
    at = 0
    while at < len(words):
        word = words[at]
        said = next(
            (
                term
                for term in terms
                if tuple(word.stem for word in words[at : at + len(term.said)]) == term.said
            ),
            None,
        )  # fmt: skip
        if said is not None:
            last = words[at + len(said.said) - 1]
            yield Sought(written=text[word.start : last.end], wording=said.others | {frozenset(said.said)})
            at += len(said.said)
            continue
        yield _make_wording(text[word.start : word.end], word.stem)
        at += 1


def _make_wording(written: str, stem: str) -> Sought:
    """Returns a word with all its forms. A number counts in digits and as a word."""
    number = find_number(written)
    forms = find_forms(stem) | ({number} if number else frozenset())
    denied = _DENIED.fullmatch(written)
    return Sought(
        written=written,
        wording=_word(forms),
        is_number=bool(number),
        opposite=frozenset() if denied is None else _word(find_forms(stem_of(denied[denied.lastgroup or 0]))),
    )


def _word(forms: Iterable[str]) -> Wording:
    return frozenset(frozenset([form]) for form in forms if form)


_DIGIT = re.compile(r"(?<![\w.,-])\d(?![\w,-]|\.\d)")


def _content_words(text: str) -> list[Word]:
    """Returns the words that are neither function words, negations nor words that only join; single digits, too."""
    words = [
        word
        for word in split_words(text)
        if word.stem not in _FRAMING
        and text[word.start : word.end].casefold() not in SMALL_WORDS | KIND_QUESTION_WORDS
        and not NEGATION.fullmatch(text[word.start : word.end])
    ]
    digits = [Word(start=digit.start(), end=digit.end(), stem=digit[0]) for digit in _DIGIT.finditer(text)]
    return sorted([*words, *digits], key=lambda word: word.start)


def _pair_names(text: str, order: dict[Wording, int]) -> Iterator[Pair]:
    """Yields neighbours within a name of several words: they follow one another in a passage, too."""
    for name in find_names(text):
        words = _content_words(text[name.start : name.end])
        form = text[name.start : name.end]
        at = [order.get(_make_wording(form[word.start : word.end], word.stem).wording) for word in words]
        for first, second in pairwise(at):
            if first is not None and second is not None and first != second:
                yield Pair(first=first, second=second, distance=2)
