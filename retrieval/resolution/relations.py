"""How two names are alike: by spelling, title, acronym, initials, a middle name, a part, or the order of words.

Two names without such a relation are not proposed as one entity.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.text.entity_types.kinds import GIVEN_NAMES, NAME_NOUNS
from core.text.word_lists import CONNECTIVES, INSTITUTIONS
from retrieval.resolution.name_forms import GENERATIONS, NameForm


class Relation(StrEnum):
    """What the names of a pair have in common, the strongest first."""

    SPELLING = "spelling"
    """The same letters, without case, diacritics, punctuation, and in one script."""
    TITLE = "title"
    """The same but for titles, legal forms and articles: `Dr. Ada Lund`, `Halden Works Inc.`"""
    ACRONYM = "acronym"
    MIDDLE = "middle"
    """First and last word are the same, and one has more between them."""
    INITIALS = "initials"
    """The same last word, and initials that fit: `J. R. R. Tolkien`."""
    SHORT = "short"
    """The same last word, and a first name that begins the other: `Jeff`, `Jeffrey`."""
    ORDER = "order"
    """The same words in another order: `Lund, Ada`."""
    TYPO = "typo"
    """Each word is spelt nearly as the other's."""
    WITHIN = "within"
    """Two or more words that the other name has in this order: `Enrique Bolaños`, `Enrique José Bolaños Geyer`."""
    BEGINNING = "beginning"
    """Two or more words with which the other name begins."""
    ENDING = "ending"
    """Two or more words with which the other name ends."""
    FIRST_WORD = "first_word"
    LAST_WORD = "last_word"


@dataclass(frozen=True)
class NameLikeness:
    """The relation of two names, and what speaks against it.

    `numbers_differ`: other figures, numerals or generations, or one name has them alone. `generation`: one name has
    nothing of these but a generation (`Jr.`), the other nothing at all. `qualifiers_differ`: other words in brackets.
    `contrast`: one has a word such as `North` or `Upper` that the other lacks. `respaced`: the same letters in other
    words. `inflected`: a word has an ending of a plural or an adjective. `extra_noun`: the longer name has a word for a
    kind of thing that the shorter lacks (`Clyde River`). `extra_words` counts the words that one has alone.
    `after_comma`: these follow a comma behind the shorter name, `before_comma`: they stand before one. `given_name`:
    the longer name has the form of a person's name and begins with a first name. `acronym_letters` counts the letters
    of an acronym. `is_first_shorter` tells which name the shorter form is.
    """

    relation: Relation
    numbers_differ: bool
    generation: bool
    qualifiers_differ: bool
    contrast: bool
    respaced: bool
    inflected: bool
    extra_noun: bool
    extra_words: int
    after_comma: bool
    before_comma: bool
    given_name: bool
    acronym_letters: int
    is_first_shorter: bool


_KINDS = NAME_NOUNS.keys() | INSTITUTIONS
_JOINTS = frozenset({"of", "in", "for", "and", "the", "on", "at", "to", "by", "with", "from", "vs", "or", "s"})
"""Words that join a name to the name of something else: `History of Oslo` is neither `History` nor `Oslo`."""
_CONTRASTS = frozenset(
    """
    north south east west northern southern eastern western central northeast northwest southeast southwest
    northeastern northwestern southeastern southwestern upper lower inner outer old new great greater little big
    small first second third fourth fifth men women male female junior senior red white black blue green
    ancient modern downtown mid deputy vice assistant acting former
    american british english scottish irish welsh french german spanish italian portuguese dutch belgian swiss austrian
    polish russian ukrainian greek turkish swedish norwegian danish finnish hungarian romanian czech indian pakistani
    chinese japanese korean vietnamese thai filipino indonesian australian canadian mexican brazilian african asian
    european
    """.split()  # noqa: SIM905  # as lists of words are written elsewhere
)
_ENDINGS = frozenset({"s", "es", "n", "an", "ian", "ns", "ans", "ians", "ern", "ese", "i", "is"})
_NICKNAMES = {
    nickname: tuple(names.split())
    for nickname, names in {
        "al": "albert alfred alan alexander",
        "andy": "andrew",
        "bert": "albert herbert robert",
        "beth": "elizabeth",
        "betty": "elizabeth",
        "bill": "william",
        "billy": "william",
        "bob": "robert",
        "bobby": "robert",
        "charlie": "charles",
        "chuck": "charles",
        "dick": "richard",
        "ed": "edward edwin edmund",
        "eddie": "edward edwin edmund",
        "frank": "francis franklin",
        "gerry": "gerald gerard",
        "hank": "henry",
        "harry": "harold henry",
        "jack": "john",
        "jerry": "gerald jerome jeremiah",
        "jim": "james",
        "jimmy": "james",
        "joe": "joseph",
        "johnny": "john",
        "kate": "katherine catherine",
        "larry": "lawrence laurence",
        "liz": "elizabeth",
        "mike": "michael",
        "nick": "nicholas",
        "peggy": "margaret",
        "rick": "richard",
        "ted": "edward theodore",
        "tommy": "thomas",
        "tony": "anthony antonio",
    }.items()
}
_SHORTEST_STEM = 3
_MOST_OF_PERSON = 5
_TYPO = 0.75
_SHORTEST_TYPO = 4


def relate(first: NameForm, second: NameForm) -> NameLikeness | None:
    """Returns how two names are alike, in whichever order they are given; None if they are not."""
    is_first_shorter = (len(first.letters), first.letters) <= (len(second.letters), second.letters)
    short, long = (first, second) if is_first_shorter else (second, first)
    relation = _find_relation(short, long)
    if relation is None:
        return None
    extra = [word for word in long.words if word not in short.words]
    names_part = relation in {
        *(
            Relation.MIDDLE,
            Relation.WITHIN,
            Relation.BEGINNING,
            Relation.ENDING,
            Relation.FIRST_WORD,
            Relation.LAST_WORD,
        )
    }
    is_generation = not (short.numbers and long.numbers) and bool((short.numbers | long.numbers) & GENERATIONS)
    return NameLikeness(
        relation=relation,
        numbers_differ=short.numbers != long.numbers and not is_generation and relation is not Relation.ACRONYM,
        generation=is_generation,
        qualifiers_differ=short.qualifier != long.qualifier,
        contrast=any(word in _CONTRASTS for word in {*short.words} ^ {*long.words}),
        respaced=relation in {Relation.SPELLING, Relation.TITLE} and short.words != long.words,
        inflected=relation in {Relation.TYPO, Relation.SHORT} and _is_inflected(short.words, long.words),
        extra_noun=names_part and any(word in _KINDS for word in extra),
        extra_words=len(extra) if names_part else _count_unmatched(short, long, relation),
        after_comma=relation in {Relation.FIRST_WORD, Relation.BEGINNING}
        and long.words_before_comma == len(short.words),
        before_comma=relation in {Relation.LAST_WORD, Relation.ENDING} and long.words_before_comma > 0,
        given_name=_has_given_name(long),
        acronym_letters=len(short.acronym) if relation is Relation.ACRONYM else 0,
        is_first_shorter=is_first_shorter,
    )


def _count_unmatched(first: NameForm, second: NameForm, relation: Relation) -> int:
    """Returns the number of given names or initials that one name has more than the other."""
    return abs(len(first.words) - len(second.words)) if relation in {Relation.INITIALS, Relation.SHORT} else 0


def _has_given_name(name: NameForm) -> bool:
    words = _drop_generation(name.words)
    is_plain = not (_JOINTS | _KINDS) & {*words} and not name.has_owner and all(map(str.isalpha, words))
    return 1 < len(words) <= _MOST_OF_PERSON and is_plain and words[0] in GIVEN_NAMES


def _is_inflected(first: Sequence[str], second: Sequence[str]) -> bool:
    pairs = [sorted(pair, key=len) for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    return any(long.startswith(short) and long[len(short) :] in _ENDINGS for short, long in pairs)


def _find_relation(short: NameForm, long: NameForm) -> Relation | None:
    if not short.words or not long.words:
        return None
    if short.letters == long.letters:
        if short.all_letters == long.all_letters:
            return Relation.SPELLING
        return Relation.TITLE if len(short.words) > 1 or not _has_title(short, long) else Relation.LAST_WORD
    if short.acronym and short.acronym in long.initials:
        return Relation.ACRONYM
    return (
        _relate_full_names(short.words, long.words)
        or _relate_parts(short.words, long.words)
        or _relate_others(short, long)
        or _relate_within(short.words, long.words)
    )


def _has_title(first: NameForm, second: NameForm) -> bool:
    """Whether a name's title stands before its words: of `King George` alone, `George` is no other spelling."""
    return any(form.all_words[0] not in {form.words[0], "the", "a", "an"} for form in (first, second))


def _relate_full_names(short: Sequence[str], long: Sequence[str]) -> Relation | None:
    """Returns the relation of two names of two or more words each that end alike, but for a generation (`Jr.`)."""
    short, long = _drop_generation(short), _drop_generation(long)
    if len(short) < 2 or len(long) < 2 or short[-1] != long[-1]:
        return None
    if short[0] == long[0]:
        return Relation.MIDDLE if _fit_middles(short[1:-1], long[1:-1]) else None
    if 1 in (len(short[0]), len(long[0])):
        return Relation.INITIALS if short[0][0] == long[0][0] and _fit_initials(short[:-1], long[:-1]) else None
    shorter, longer = sorted((short[0], long[0]), key=len)
    is_stem = len(shorter) >= _SHORTEST_STEM and longer.startswith(shorter)
    return Relation.SHORT if is_stem or longer in _NICKNAMES.get(shorter, ()) else None


def _fits(first: str, second: str) -> bool:
    return first == second or (1 in (len(first), len(second)) and first[0] == second[0])


def _is_within(short: Sequence[str], long: Sequence[str]) -> bool:
    """Whether each word of the one fits a word of the other, in this order; which one is longer does not matter."""
    few, many = sorted((short, long), key=len)
    at = 0
    for word in many:
        if at < len(few) and _fits(few[at], word):
            at += 1
    return at == len(few)


def _drop_generation(words: Sequence[str]) -> Sequence[str]:
    return words[:-1] if len(words) > 2 and words[-1] in GENERATIONS else words


def _fit_middles(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether what stands between may be of one name. Rows of initials of other lengths are not."""
    are_initials = all(len(word) == 1 for word in (*first, *second))
    return _is_within(first, second) and not (are_initials and first and second and len(first) != len(second))


def _fit_initials(first: Sequence[str], second: Sequence[str]) -> bool:
    given = [[word for word in words if word not in CONNECTIVES] for words in (first, second)]
    return _is_within(given[0], given[1])


def _relate_parts(short: Sequence[str], long: Sequence[str]) -> Relation | None:
    if len(short) >= len(long):
        return None
    if tuple(long[: len(short)]) == tuple(short) and long[len(short)] not in _JOINTS:
        return Relation.FIRST_WORD if len(short) == 1 else Relation.BEGINNING
    if tuple(long[-len(short) :]) == tuple(short) and long[-len(short) - 1] not in _JOINTS:
        return Relation.LAST_WORD if len(short) == 1 else Relation.ENDING
    return None


def _relate_within(short: Sequence[str], long: Sequence[str]) -> Relation | None:
    short = _drop_generation(short)
    if not 1 < len(short) < len(long) or _JOINTS & ({*long} - {*short}):
        return None
    if (short[0], short[-1]) == (long[0], long[-1]):  # the words between do not fit
        return None
    rest = iter(long)
    return Relation.WITHIN if all(word in rest for word in short) else None


def _relate_others(short: NameForm, long: NameForm) -> Relation | None:
    from rapidfuzz.distance import OSA  # some hundredths of a second, which searches do not need

    if len(short.words) > 1 and sorted(short.words) == sorted(long.words):
        return Relation.ORDER
    if len(short.words) != len(long.words):
        return None
    for first, second in zip(short.words, long.words, strict=True):
        if first == second:
            continue
        if min(len(first), len(second)) < _SHORTEST_TYPO or OSA.normalized_similarity(first, second) < _TYPO:
            return None
    return Relation.TYPO
