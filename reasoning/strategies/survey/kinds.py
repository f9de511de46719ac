"""Kinds of documents, and where a question names the kind that it lists: `How many of our supply contracts …`."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice

from core.ports.surveying import Wording
from core.text.terms import split_words
from core.text.word_lists import SMALL_WORDS
from reasoning.strategies.survey.grouping import Grouping, read_grouping, read_membership
from reasoning.strategies.survey.totals import Aggregate, read_aggregate

READ = 2000
"""Characters of a question that are read."""
HOW_MANY = re.compile(r"\b(?:how many|number of|anzahl|wie ?viele[nr]?|combien de)\b", re.IGNORECASE)
_OF_ALL = re.compile(
    r"\b(?:how many|number of|anzahl|wie ?viele[nr]?|combien de"
    r"|(?:list|name|show|find|nenne|zeige?|liste)(?: (?:me|mir|us|uns))? (?:all|every|each|alle|jede[nrs]?))\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"\b(?:(?:in|of|from|for|by|with|under)\s)?(?:how many|which|what|list|show|name|find|give|count|number of"
    r"|anzahl|wie ?viele[nr]?|in welche[nmrs]?|welche[nmrs]?|liste|zeige?|nenne|finde|zähle|every|each|all|alle[nrm]?"
    r"|jede[nrs]?)\b",
    re.IGNORECASE,
)
_SKIPPED = frozenset(
    re.findall(
        r"\w+",
        "me us of our the all every each any these those my your their a an list show find give name count up please "
        "unserer unsere alle aller allen der die das mir uns jede jeden",
    )
)
_PLURAL = re.compile(r"people|[^\W\d_]{2,40}[^\W\d_suis]s", re.IGNORECASE)
_GERMAN = re.compile(r"anzahl|wie|welche|liste|zeig|nenne|finde|zähle|aller?\b|jede", re.IGNORECASE)
_BEFORE_KIND = 6
"""Words between "how many" and the kind, at most."""

ANY_KIND = frozenset(word.stem for word in split_words("document file paper text page source Dokument Datei Unterlage"))
"""Stems of words for documents of any kind."""
ROWS = frozenset(
    word.stem
    for word in split_words("""
        record item row entry entries line Zeile Zeilen Eintrag Einträge Datensatz Datensätze Posten ligne lignes
        enregistrement enregistrements
    """)
)
"""Stems of words for the rows of any table."""
_KINDS = """
contract agreement NDA lease licence license Vertrag Verträge Verträgen Vereinbarung Vereinbarungen contrat accord
policy guideline Richtlinie politique
invoice bill Rechnung Rechnungen facture
order Bestellung Bestellungen Auftrag Aufträge Aufträgen commande
offer quote quotation Angebot Angebote Angeboten offre
report Bericht Berichte Berichten rapport
incident accident Störung Vorfall incident
ticket issue
mail email e-mail message
letter Brief Schreiben lettre
minutes meeting Protokoll
manual handbook Handbuch
note memo memorandum Notiz
résumé CV Lebenslauf
article Artikel
regulation directive law statute Verordnung Gesetz
patent
study Studie étude
filing 10-K 10-Q
"""
"""Words of one line name one kind of document."""


def asks_for_all(question: str) -> bool:
    """Returns whether a question asks how many documents of some kind there are, or for a list of all: a few passages
    cannot answer it. Its condition is not read, since this is asked of each question.
    """
    if _OF_ALL.search(question, 0, READ) is None:
        return False
    kind = find_kind(read_table(question[:READ].strip())[0])[1]
    return bool(kind) and stem_of(kind) not in ANY_KIND


def find_kind(text: str, own: frozenset[str] = frozenset()) -> tuple[int, str, str, str]:
    """Returns where the condition begins, the kind of documents as it is written, the words before it, and what is
    asked for if it is no kind of document; the last three may be ''. `own` are stems of further kinds.
    """
    listed = _LISTED.search(text)
    if listed is None:
        return 0, "", "", ""
    words = list(islice(re.finditer(r"[^\W_](?:[\w'’-]{0,60}[^\W_])?", text[listed.end() :]), _BEFORE_KIND + 3))
    first = next((at for at, word in enumerate(words) if word[0].casefold() not in _SKIPPED), len(words))
    candidates = words[first : first + _BEFORE_KIND]
    are_kinds = [stem_of(word[0]) in ANY_KIND | own | kind_wordings().keys() for word in candidates]
    if True in are_kinds and not _begins_condition(candidates[: are_kinds.index(True)]):
        first = are_kinds.index(True)
        last = [*are_kinds, False].index(False, first) - 1
        named = [word[0] for word in candidates[first : last + 1] if stem_of(word[0]) not in ANY_KIND]
        modifiers = " ".join([*(word[0] for word in candidates[:first]), *named[:-1]])
        return listed.end() + candidates[last].end(), (named or [candidates[last][0]])[-1], modifiers, ""
    if not candidates or _begins_condition(candidates[:1]):
        return listed.end(), "", "", ""
    at = _find_plural(candidates, is_german=_GERMAN.search(listed[0]) is not None)
    modifiers = " ".join(word[0] for word in candidates[:at])
    return listed.end() + candidates[at].end(), "", modifiers, candidates[at][0]


def _find_plural(words: Sequence[re.Match[str]], *, is_german: bool) -> int:
    """Returns the place of the noun that is counted: "suppliers" of "active suppliers", else the first word."""
    for at, word in enumerate(words):
        if _begins_condition([word]):
            break
        if stem_of(word[0]) in ROWS or (word[0][0].isupper() if is_german else _PLURAL.fullmatch(word[0])):
            return at
    return 0


def stem_of(word: str) -> str:
    return next((found.stem for found in split_words(word)), "")


def _begins_condition(words: Sequence[re.Match[str]]) -> bool:
    """Returns whether a word before the kind begins the condition: the kind is then another word of it."""
    return any(
        word[0].casefold() in SMALL_WORDS | {"that", "which", "mention", "mentions", "with", "about"} for word in words
    )


@cache
def kind_wordings() -> dict[str, Wording]:
    kinds: dict[str, Wording] = {}
    for line in _KINDS.strip().splitlines():
        wording = frozenset(
            frozenset(word.stem for word in split_words(name)) for name in line.split() if split_words(name)
        )
        kinds |= {stem: wording for stems in wording if len(stems) == 1 for stem in stems}
    return kinds


@cache
def kind_names() -> dict[str, str]:
    """Returns the names of kinds in the singular, by their stems."""
    return {stem_of(name): name for name in reversed(_KINDS.split())}


def read_table(text: str) -> tuple[str, Grouping | None, Aggregate | None]:
    """Returns the question for the documents, and what is grouped and added up over them."""
    grouping, text = read_grouping(text)
    aggregate, rest = read_aggregate(text, lambda word: _names_kind(word) or stem_of(word) in ROWS)
    if aggregate is not None:
        return f"which {rest}", grouping, aggregate
    membership, rest = (None, text) if grouping is not None else read_membership(text)
    if membership is not None and find_kind(f"which {rest}")[1] and not _names_kind(membership.name):
        return f"which {rest}", membership, None
    return text, grouping, None


def _names_kind(name: str) -> bool:
    return any(word.stem in ANY_KIND | kind_wordings().keys() for word in split_words(name))
