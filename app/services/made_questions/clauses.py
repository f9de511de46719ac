"""Questions about contracts, policies and rules: who must do something, when, how long, and what a term means.

`make_clauses` reads sentences with a party and a modal verb ("The Tenant shall return the keys within ten days"),
definitions, the governing law and the term. Open this to add a form of clause; `clause_sentences` cuts the sentences.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from app.services.made_questions.clause_sentences import (
    AMOUNT,
    Clause,
    ClauseSentence,
    find_sentences,
    is_clear,
    read_clause,
    shorten_phrase,
)
from app.services.made_questions.material import Passage
from app.services.made_questions.questions import Kind, MadeQuestion, Quote
from app.services.made_questions.sources import Sources
from core.documents import Span
from core.execution.limits import check_work
from core.text.value_kinds import find_stems

_LONGEST_ANSWER = 300
_FEWEST_WORDS = 4
"""Words of what a party does. Fewer words fit many sentences."""
_LIKE = 0.75
"""The share of words of a clause from which two clauses of a document are the same."""
_MANY = 50
"""Clauses of a document that have a word, from which it says little."""

_DEFINITION = re.compile(
    r"[“\"](?P<term>[A-Z][\w’' -]{1,50})[”\"] (?:shall mean|means?|refers to|is defined as) (?P<meaning>[^“”\"]{15,})"
)
_PLAIN_DEFINITION = re.compile(
    r"(?P<term>[A-Z][\w’'-]{2,30}(?: [A-Z][\w’'-]{1,30}){0,3}) shall mean (?P<meaning>.{15,})"
)
_LAW = re.compile(
    r"\blaws? of (?P<law>(?:the )?(?:[A-Z][A-Za-z]{1,20}|of|the)(?: (?:[A-Z][A-Za-z]{1,20}|of|the|and)){0,5})"
)
_GOVERNS = re.compile(r"\b(?:governed|construed|interpreted|controlled)\b")
_LASTS = re.compile(
    rf"\b[Tt]his (?P<what>[A-Z][a-z]+) .{{0,80}}?\b(?:remain|continue|effective|in (?:full )?force|in effect|valid)\b"
    rf".{{0,60}}?\bfor (?:a )?(?:period|term)? ?(?:of )?(?P<amount>{AMOUNT})"
)
_PURPOSE = re.compile(
    r"We (?P<does>(?:may |will |also )?(?:collect|use|need|share|process|store|keep|disclose"
    r"|analy[sz]e|retain|transfer|record|send|combine|provide|employ|work)"
    r" (?:[^\s;:()]+ ){0,14}?[^\s;:()]+) (?:in order )?"
    r"(?P<purpose>to (?!(?:you|us|our|your|the|a|an|any|other|third|such|its|their|them|this|these|those)\b)"
    r"[a-z]{2,} .{8,})"
)
_ALSO = re.compile(r"\balso ")
_MODAL_WE = re.compile(r"(?P<modal>may|will) (?P<verb>.+)")

_WITHIN = re.compile(
    rf",? ?\b(?:within|not later than|no later than) (?P<amount>{AMOUNT})"
    r"(?P<since> (?:of|after|from|following|before|prior to) [^,.;:()]{3,80})?(?=[,.;:( ]|\Z)"
)
_DURING = re.compile(
    rf",? ?\bfor (?:a |the )?(?:(?:minimum )?(?:period|term) )?(?:of )?(?:at least |up to )?(?P<amount>{AMOUNT})"
    r"(?P<since> (?:after|from|following) [^,.;:()]{3,80})?(?=[,.;:( ]|\Z)"
)
_NOTICE = re.compile(
    rf",? ?\b(?:by |with |upon |on )?(?:giving |providing )?(?:at least |a minimum of )?(?P<amount>{AMOUNT})['’]?"
    r" (?:prior |advance )?(?:written )?notice(?P<since> to [^,.;:()]{3,40})?(?=[,.;:( ]|\Z)"
)
_ASKED_TIMES = ((_NOTICE, "with how many {}' notice"), (_WITHIN, "within how many {}"), (_DURING, "for how many {}"))
_MANNER = re.compile(r",? (?P<manner>by [a-z]{2,15}ing .{8,})")
_CONDITION = re.compile(
    r",? \b(?P<condition>(?:if|provided that|only if|only when|when)"
    r" (?!(?:necessary|possible|appropriate|required|applicable|requested|so)\b).{12,})"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stated:
    """A clause with its sentence and passage."""

    passage: Passage
    sentence: ClauseSentence
    clause: Clause

    @property
    def quotes(self) -> tuple[Quote, ...]:
        return (_quote(self.passage, self.sentence),)


def _quote(passage: Passage, sentence: ClauseSentence) -> Quote:
    return Quote(passage=passage, place=Span(start=sentence.start, end=sentence.end))


def may_have_clauses(passage: Passage) -> bool:
    """Whether a sentence of a passage is a clause or a definition."""
    return any(
        _DEFINITION.search(sentence.text) or read_clause(sentence.text) for sentence in find_sentences(passage.text)
    )


def make_clauses(sources: Sources) -> Iterator[MadeQuestion]:
    """Asks about the clauses of each document. A question names the title, since contracts say the same."""
    of_document: dict[str, list[Passage]] = defaultdict(list)
    for passage in sources.material.passages:
        of_document[passage.key].append(passage)
    for passages in of_document.values():
        sentences = [(passage, sentence) for passage in passages for sentence in find_sentences(passage.text)]
        check_work()
        place = f"in “{passages[0].title}”" if passages[0].title else ""
        yield from _make_definitions(sentences, place)
        yield from _make_terms(sentences, passages[0].title)
        yield from _make_purposes(sentences, place)
        yield from _make_duties(sentences, place)


_Sentences = list[tuple[Passage, ClauseSentence]]


def _make_definitions(sentences: _Sentences, place: str) -> Iterator[MadeQuestion]:
    """Asks what a term means that a document defines once."""
    found: dict[str, list[tuple[Passage, ClauseSentence, str]]] = defaultdict(list)
    for passage, sentence in sentences:
        check_work()
        defined = _DEFINITION.search(sentence.text) or _PLAIN_DEFINITION.match(sentence.text)
        if defined:
            found[defined["term"].strip()].append((passage, sentence, defined["meaning"]))
    for term, defined_at in found.items():
        passage, sentence, meaning = defined_at[0]
        if len(defined_at) == 1 and (answer := shorten_phrase(meaning, _LONGEST_ANSWER)):
            yield _make(f"what does “{term}” mean", answer, place, (_quote(passage, sentence),))


def _make_terms(sentences: _Sentences, title: str) -> Iterator[MadeQuestion]:
    """Asks for the law that governs a document, and how long it is in force, if one sentence says so."""
    laws = [
        (passage, sentence, law)
        for passage, sentence in sentences
        if _GOVERNS.search(sentence.text) and (law := _LAW.search(sentence.text))
    ]
    if title and len(laws) == 1:
        passage, sentence, law = laws[0]
        answer = law["law"].removesuffix(" and").removesuffix(" the").removesuffix(" of")
        yield _make(f"the laws of which state or country govern “{title}”", answer, "", (_quote(passage, sentence),))
    lasting = [(passage, sentence, term) for passage, sentence in sentences if (term := _LASTS.search(sentence.text))]
    if title and len(lasting) == 1:
        passage, sentence, term = lasting[0]
        text = f"for how long does the {term['what'].lower()} “{title}” remain in force"
        yield _make(text, term["amount"], "", (_quote(passage, sentence),))


def _make_purposes(sentences: _Sentences, place: str) -> Iterator[MadeQuestion]:
    """Asks why the author of a policy does something: "We use cookies to remember your choices"."""
    found: dict[str, list[tuple[Passage, ClauseSentence, str]]] = defaultdict(list)
    for passage, sentence in sentences:
        check_work()
        said = _PURPOSE.match(sentence.text)
        if said and is_clear(said["does"]) and _is_whole(said["does"]):
            found[_ALSO.sub("", said["does"])].append((passage, sentence, said["purpose"]))
    for does, said_at in found.items():
        passage, sentence, purpose = said_at[0]
        if len(said_at) > 1 or not (answer := shorten_phrase(purpose, _LONGEST_ANSWER)):
            continue
        modal = _MODAL_WE.fullmatch(does)
        asked = f"why {modal['modal']} we {modal['verb']}" if modal else f"why do we {does}"
        yield _make(asked, answer, place, (_quote(passage, sentence),))


def _make_duties(sentences: _Sentences, place: str) -> Iterator[MadeQuestion]:
    """Asks for the party, the time and the condition of each clause that no other clause of the document is like."""
    stated = [
        _Stated(passage=passage, sentence=sentence, clause=clause)
        for passage, sentence in sentences
        if not _PURPOSE.match(sentence.text) and (clause := read_clause(sentence.text)) is not None
    ]
    repeated = _find_repeated([find_stems(duty.clause.does) for duty in stated])
    for number, duty in enumerate(stated):
        check_work()
        if number not in repeated and len(duty.clause.does.split()) >= _FEWEST_WORDS:
            yield from _ask_duty(duty, place)


def _find_repeated(clauses: Sequence[Set[str]]) -> Set[int]:
    """Returns the numbers of the clauses whose words another clause has, most of them. Words of many clauses, which say
    little, count only for clauses with the same words, so that the time grows with the number of clauses.
    """
    holders: dict[str, list[int]] = defaultdict(list)
    alike: dict[frozenset[str], list[int]] = defaultdict(list)
    for number, stems in enumerate(clauses):
        alike[frozenset(stems)].append(number)
        for stem in stems:
            holders[stem].append(number)
    repeated = {number for numbers in alike.values() if len(numbers) > 1 for number in numbers}
    for number, stems in enumerate(clauses):
        check_work()
        shared = Counter(
            other for stem in stems if len(holders[stem]) <= _MANY for other in holders[stem] if other != number
        )
        if any(count >= _LIKE * max(len(stems), len(clauses[other])) for other, count in shared.items()):
            repeated.add(number)
    return repeated


def _ask_duty(stated: _Stated, place: str) -> Iterator[MadeQuestion]:
    """Asks for the time, the condition or the manner of a clause; if it has none, for what is done, and by whom."""
    clause = stated.clause
    begin = f"{clause.modal} {clause.subject} {clause.negation}"
    timed = _ask_time(clause, begin)
    if timed:
        yield _make(*timed, place, stated.quotes)
    for pattern, asked in () if timed else ((_CONDITION, "in which case"), (_MANNER, "how")):
        if said := pattern.search(clause.does):
            does, answer = clause.does[: said.start()], shorten_phrase(said[0].strip(", "), _LONGEST_ANSWER)
            if answer and is_clear(does) and _is_whole(does):
                yield _make(f"{asked} {begin} {does} {clause.opening}", answer, place, stated.quotes)
            return
    if not clause.is_acting:
        return
    if (
        clause.opening
        and not timed
        and is_clear(clause.opening)
        and (answer := shorten_phrase(clause.does, _LONGEST_ANSWER))
    ):
        yield _make(f"what {begin} do {clause.opening}", answer, place, stated.quotes)
        return
    does = shorten_phrase(clause.does, _LONGEST_DUTY)
    is_changed = bool(clause.negation) and does != clause.does  # "shall not use the data, except for research"
    if does and is_clear(does) and _is_whole(does) and clause.is_named and not is_changed:
        text = f"who {clause.modal} {clause.negation} {does} {clause.opening}"
        yield _make(text, clause.subject.removeprefix("the "), place, stated.quotes)


_LONGEST_DUTY = 180


def _ask_time(clause: Clause, begin: str) -> tuple[str, str] | None:
    """Returns the question for the time within or for which, or the notice with which, a clause holds, and the time."""
    for pattern, asked in _ASKED_TIMES:
        said = pattern.search(clause.does)
        if said is None:
            continue
        does = shorten_phrase(f"{clause.does[: said.start()]}{clause.does[said.end() :]}", _LONGEST_DUTY)
        if not does or not is_clear(f"{does}{said['since'] or ''}") or len(does.split()) < 2:
            return None
        units = said["amount"].split()[-1].removesuffix("s") + "s"
        return f"{asked.format(units)}{said['since'] or ''} {begin} {does} {clause.opening}", said["amount"]
    return None


def _is_whole(does: str) -> bool:
    return len(does.split()) >= _FEWEST_WORDS and shorten_phrase(does, len(does)) == does


_SPACES = re.compile(r"\s+")
_SPACE_BEFORE = re.compile(r" (?=[,?])")


def _tidy(text: str) -> str:
    return _SPACE_BEFORE.sub("", _SPACES.sub(" ", text))


def _make(asked: str, answer: str, place: str, quotes: tuple[Quote, ...]) -> MadeQuestion:
    """Returns a question; `place` names the document."""
    text = _tidy(f"{place}, {asked}?" if place else f"{asked}?")
    return MadeQuestion(kind=Kind.CLAUSE, text=text[0].upper() + text[1:], answer=answer.strip(), quotes=quotes)
