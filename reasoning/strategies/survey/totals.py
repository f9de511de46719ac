"""What a question adds up, in English, German and French: `the mean net price over the offers`, `die Summe aller
Rechnungen`, `Welche Rechnung ist die höchste?`, `Combien coûtent les commandes au total ?`.

A question is read word by word. Before the noun that is counted stand the word for what is made of the values, then
their name, and the words that narrow the noun down; words that join tell where one ends and the other begins.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.text.terms import split_words
from core.text.word_lists import SMALL_WORDS


class How(StrEnum):
    """How values are made one."""

    SUM = "total"
    MEAN = "mean"
    LEAST = "lowest"
    MOST = "highest"


_HOW = {
    word: how
    for how, words in {
        How.SUM: "total totale sum gesamtsumme gesamtbetrag gesamtwert summe somme",
        How.MEAN: "mean average durchschnitt durchschnittswert mittelwert durchschnittlich moyenne moyen",
        How.LEAST: "lowest smallest minimum niedrigst kleinst geringst minimal",
        How.MOST: "highest largest maximum greatest höchst größt grösst maximal",
    }.items()
    for word in words.split()
}
_AFTER_PLUS = {
    word: how
    for how, words in {
        How.MOST: "élevé élevée haut haute grand grande",
        How.LEAST: "bas basse petit petite faible",
    }.items()
    for word in words.split()
}
"""French says `le montant le plus élevé`."""
_INFLECTED = re.compile(r"e[nmrs]?\Z")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ASKING = _words("""
    what what's what’s is are was were the wie hoch groß ist sind war waren beträgt betragen der die das welches welche
    welcher quel quelle quels quelles est sont était le la les
""")
_HOW_MUCH = re.compile(
    r"\W{0,3}(?:how (?:much|high) (?:are|is|do|does|were)|combien (?:coûtent|font|valent)"
    r"|(?:wie hoch|wie ?viel|was) (?:sind|ist|kosten|betragen|machen))\s",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"(?:\s(?:cost|come to|amount to|betragen|kosten|aus))?,?"
    r"\s(?:in total|altogether|insgesamt|zusammen|in summe|au total|en tout)"
    r"(?:\s(?:cost|betragen|kosten|aus))?\W{0,3}\Z",
    re.IGNORECASE,
)
_ALL = _words("all aller allen alle sämtlicher toutes tous")
_JOINING = _ALL | _words("""
    of over in on across for among the our these those der des den die das von über unter für unserer unseren unsere im
    de du les nos ces la le sur pour parmi
""")
_WHICH = _words("which welche welcher welches quelle quel")
_IS = _words("is has ist hat est a")
_ARTICLES = _words("the die der das den la le")
_OF_CLAUSES = SMALL_WORDS | _words("whose where that deren dessen dont")
_WORD = re.compile(r"[^\W_](?:[\w'’-]{0,60}[^\W_])?")
_READ, _LONGEST_NAME = 16, 4
"""Words that are read of a question, and words of the name of a value."""
_AMOUNTS = ("amount", "Betrag", "Rechnungsbetrag", "montant")
_TOTALS = ("total", "Gesamtbetrag", "Gesamtsumme", "Summe", "Endbetrag")


def _stems(name: str) -> frozenset[str]:
    return frozenset(word.stem for word in split_words(name))


_AMOUNT_STEMS = tuple(_stems(name) for name in _AMOUNTS)
_TOTAL_STEMS = tuple(_stems(name) for name in _TOTALS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Aggregate:
    """Values that are made one. `of` names their rows or columns: "net price"."""

    how: How
    of: str

    @property
    def names(self) -> tuple[frozenset[str], ...]:
        """The stems of the name, and of names that say the same, also in other languages, the best first. The total
        of a document is its amount, and its amounts are its total.
        """
        stems = _stems(self.of)
        if stems in _TOTAL_STEMS:
            return (*_TOTAL_STEMS, *_AMOUNT_STEMS)
        if stems in _AMOUNT_STEMS:
            return (stems, *(other for other in _AMOUNT_STEMS if other != stems), *_TOTAL_STEMS)
        return (stems,)


def read_aggregate(text: str, is_kind: Callable[[str], bool]) -> tuple[Aggregate | None, str]:
    """Returns what the question adds up, if it does, and the documents that it names (`unpaid invoices?`).

    What is added up is of a kind of documents, or else of "all" things of another name.
    """
    if (begin := _HOW_MUCH.match(text)) and (end := _TOGETHER.search(text, begin.end() - 1)):
        together = text[begin.end() : end.start()]
        words = list(_WORD.finditer(together))[:_READ]
        named, at = _split(words, is_kind)
        return _make(together, words, How.SUM, named, at) if at >= 0 else (None, text)
    words = list(_WORD.finditer(text))[:_READ]
    said = [word[0].casefold() for word in words]
    if (found := _read_which_is(words, said, is_kind)) is not None:
        return found, text[words[1].start() : words[1].end()]
    start = next((at for at, word in enumerate(said) if word not in _ASKING), len(said))
    for at in range(start, min(start + 3, len(said))):
        how, length = _read_how(said[at : at + 2])
        if how is not None:
            before = _name(words[start:at])
            if before and is_kind(before[0][0]):  # "la facture la plus élevée"
                return _make(text, words[start:], how, [], 0)
            rest = words[at + length :]
            named, kind = _split(rest, is_kind)
            return _make(text, rest, how, [*before, *named], kind)
    return None, text


def _read_how(words: Sequence[str]) -> tuple[How | None, int]:
    """Returns what the first word, or two words, make of values, and how many words these are."""
    if not words:
        return None, 0
    if words[0] == "plus" and len(words) > 1:
        return _AFTER_PLUS.get(words[1]), 2
    return _HOW.get(words[0]) or _HOW.get(_INFLECTED.sub("", words[0])), 1


def _read_which_is(
    words: Sequence[re.Match[str]], said: Sequence[str], is_kind: Callable[[str], bool]
) -> Aggregate | None:
    """Reads `Which invoice has the highest amount?`."""
    if len(said) < 5 or said[0] not in _WHICH or not is_kind(words[1][0]) or said[2] not in _IS:
        return None
    at = 4 if said[3] in _ARTICLES else 3
    how, length = _read_how(said[at : at + 2])
    named = words[at + length :]
    if how not in {How.LEAST, How.MOST} or len(named) > 2:
        return None
    return Aggregate(how=how, of=" ".join(word[0] for word in named) or "amount")


def _split(words: Sequence[re.Match[str]], is_kind: Callable[[str], bool]) -> tuple[list[re.Match[str]], int]:
    """Returns the words that name a value, and the place where the noun begins that is counted, with the words before
    it that narrow it down; -1 if there is none.
    """
    said = [word[0].casefold() for word in words]
    kind = next((at for at, word in enumerate(words) if is_kind(word[0])), -1)
    if kind < 0:  # another noun is counted behind "all"
        joined = next((at for at, word in enumerate(said) if word in _ALL), -1)
        at = next((at for at in range(joined + 1, len(said)) if said[at] not in _JOINING), -1)
        return ([], -1) if joined < 0 or at < 0 else (_name(words[:joined]), at)
    at = kind
    while at > 0 and said[at - 1] not in _JOINING:
        at -= 1
    follows = said[kind + 1] if kind + 1 < len(said) else ""
    named = _name(words[:at])
    is_part = not at and bool(follows) and not is_kind(follows) and follows not in SMALL_WORDS  # "contract firm"
    is_clause = any(word[0].casefold() in _OF_CLAUSES for word in (*named, *words[at:kind]))  # "court whose order"
    return ([], -1) if is_part or is_clause else (named, at)


def _name(words: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    return [word for word in words if word[0].casefold() not in _JOINING]


def _make(
    text: str, words: Sequence[re.Match[str]], how: How, named: Sequence[re.Match[str]], at: int
) -> tuple[Aggregate | None, str]:
    if at < 0 or len(named) > _LONGEST_NAME:
        return None, text
    of = " ".join(word[0] for word in named)
    return Aggregate(how=how, of=of or ("total" if how is How.SUM else "amount")), text[words[at].start() :]
