"""What a sentence states on the validity of its own document: rules in English and German.

A sentence states something only of "this Regulation", "these Terms", "diese Satzung" and the like, of "it" where it
begins with that (what "it" replaces only behind a sentence on the days of "this Regulation"), or of a part of its
document ("Section 5 expires on …"). Sentences that deny, permit, propose or ask state nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from core.validity.agreements import leave_out_parties, read_amended_title
from core.validity.parts import find_parts, is_subject, mentions_part
from core.validity.statements import (
    AMENDED_BY,
    AMENDS,
    SUPERSEDED_BY,
    SUPERSEDES,
    VALID_FROM,
    VALID_TO,
    Statement,
    StatementSource,
)
from core.validity.written_dates import WrittenDate, find_dates, read_date

_LONGEST = 900
_LONGEST_NAME = 150
_LONGEST_TITLE = 200
_LONGEST_REST = 40
"""Characters behind the day of a line such as `Effective date: 1 May 2024`; more tells what began then."""

_CUE = re.compile(
    r"obsolete|updates|updated by"
    r"|force|effect|entered into|appl(?:y|ies)|valid|expire|cease|replace|supersede|repeal|revoke|amend|withdrawn"
    r"|is made|was made|dated|supplement|varie[sd]|executed|concluded|addendum|nachtrag|vereinbarung|geschlossen"
    r"|ändern|ergänz"
    r"|terminat|kraft|gilt|gelten|gültig|ersetz|löst|aufgehoben|geändert|ändert|endet",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:not|never|no longer than|unless|if|(?-i:may)|might|would|could|should|proposed?|draft|intend(?:s|ed)?"
    r"|until it is|nothing|neither|nor|no way|in part|partially|partly|subject to|when|once|after|upon|how|that"
    r"|nicht|kein|teilweise|nachdem|sobald|nach|vorbehaltlich|falls|sofern|wenn|soweit|könnte|sollte|würde|entwurf)\b|\?",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:this|these|the present) (?:[\w-]{1,30} ){0,3}?(?:regulation|directive|decision|act|law|polic(?:y|ies)"
    r"|agreement|contract|lease|deed|procedure|guideline|guidance|document|version|edition|issue|statute|ordinance|by-?law"
    r"|terms|conditions|handbook|manual|standard|notice|amendment|addendum|order|rules?|plan|tariff|schedule|list|code"
    r"|instruction|circular|charter|protocol|specification|scheme)s?\b"
    r"|\bthis (?:(?:(?-i:[A-Z])[\w-]{1,30}|and|&) ){4,7}(?:agreement|contract|lease|deed|policy)\b"
    r"|\bdie(?:se[rsnm]?|s) (?:[\wäöüß-]{1,30} ){0,2}?[\wäöüß-]{0,40}(?:satzung|verordnung|richtlinie|ordnung|gesetz"
    r"|vertrag|vereinbarung|bekanntmachung|anweisung|fassung|version|regelung|beschluss|nachtrag|bedingungen|agb"
    r"|liste|leitlinien?|handbuch|anordnung|statut|tarif|ausgabe|rundschreiben|plan)(?:en|s)?\b",
    re.IGNORECASE,
)
_OF_OWN = re.compile(rf" (?:(?:of|to|in) |(?=(?-i:d)))(?:{_OWN.pattern})", re.IGNORECASE)
"""A part of the document: "of this Policy", "dieser Satzung", and not the next sentence, "§ 12 Diese Satzung"."""
_PRONOUN = re.compile(r"(?:It|it|They|they|Sie|sie|Er|er|Es|es)\b")
_OWN_DAYS = frozenset({(VALID_FROM, ""), (VALID_TO, "")})
_CLAUSE = re.compile(r"; |,? (?:and|und) (?=(?:at the same time|gleichzeitig|zugleich)\b)|, (?=gleichzeitig|zugleich)")
_ON = re.compile(
    r",? ?(?:(?:as of the|this|as of|as from|as at|with effect from|with effect as of|starting on|starting"
    r"|beginning on|commencing on|on|from|since|with effect on|ab dem|ab|zum|am|mit wirkung vom|mit wirkung zum"
    r"|rückwirkend zum|seit dem)"
    r" )?(?:and including |the )?",
    re.IGNORECASE,
)
_START = re.compile(
    r"\b(?:enters? into force|enter into effect|enters into effect|takes? effect|comes? into (?:force|effect)"
    r"|becomes? effective|(?:is|are) (?:made )?effective|effective|(?<!to )appl(?:y|ies)|(?:is|are) valid|entered into"
    r"|valid|(?:is|was) (?:made|dated|concluded|executed)|gilt|gelten|gültig)\b",
    re.IGNORECASE,
)
_STARTS_LINE = re.compile(
    r"[\W_]{0,4}(?:effective date|effective from|effective as of|effective|valid from|in force from|in force since"
    r"|gültig ab(?: dem)?|gültig seit(?: dem)?|inkrafttreten|in kraft seit(?: dem)?|in kraft ab(?: dem)?)"
    r"[*_]{0,2} ?:?[*_]{0,2} ?",
    re.IGNORECASE,
)
_ENDS_LINE = re.compile(
    r"[\W_]{0,4}(?:valid until|valid to|expiry date|expires on|expires|in force until|gültig bis(?: zum)?|befristet bis"
    r"(?: zum)?)[*_]{0,2} ?:?[*_]{0,2} ?",
    re.IGNORECASE,
)
_CEASE = re.compile(
    r"\b(?:ceases? to (?:apply|have effect|be in force|be valid|be effective)|(?:is|are) (?:hereby )?(?:repealed"
    r"|withdrawn|revoked))\b",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:expires?|lapses?|ends?|terminates?|(?:remains?|continues?|is|are|appl(?:y|ies)) (?:in force |in effect "
    r"|valid |applicable )?(?:until|through|up to)|(?:gilt|gelten|gültig|befristet) bis|endet|läuft)\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r",? ?(?:(?:on|at the end of|with the end of|zum|am|einschließlich|zum ablauf des|mit ablauf des|until) )?"
    r"(?:and including |the end of |the )?",
    re.IGNORECASE,
)
_RANGE = re.compile(r" (?:to|until|through|bis zum|bis) (?:and including )?", re.IGNORECASE)
_HEADER = re.compile(
    r"^[ \t>*_|-]{0,8}(?P<verb>obsoletes|supersedes|replaces|updates|amends|(?:obsoleted|superseded|replaced|updated"
    r"|amended)[ -]by|ersetzt durch|geändert durch|ersetzt|ändert)[*_]{0,2}:[*_]{0,2}[ \t]{1,8}(?P<names>[^\n]{1,300})",
    re.IGNORECASE | re.MULTILINE,
)
"""A line such as `Obsoletes: 2616, 2817`; what follows after a gap, or in brackets, is another column."""
_HEADERS = {
    "obsoletes": SUPERSEDES, "supersedes": SUPERSEDES, "replaces": SUPERSEDES, "ersetzt": SUPERSEDES,
    "updates": AMENDS, "amends": AMENDS, "ändert": AMENDS, "updated by": AMENDED_BY, "amended by": AMENDED_BY,
    "geändert durch": AMENDED_BY,
}  # fmt: skip
_COLUMN = re.compile(r" {3}|\t| ?\(")
_DESIGNATION = re.compile(r"(?:[^\W\d_][\w-]{0,30} ){0,8}(?:no\. ?|nr\. ?)?[\w./-]{0,20}\d[\w./-]{0,20}", re.IGNORECASE)
"""A number, or a name that ends with a number: what a header may name."""
_OF_PART = re.compile(r"(?:parts?|portions?|sections?|teile?) ", re.IGNORECASE)
_TRITT = re.compile(r"\b(?:tritt|treten)\b", re.IGNORECASE)
_BY_THE_END = re.compile(r"\bmit ablauf des $|\bmit dem ablauf des $", re.IGNORECASE)
_FORCE = re.compile(r"\b(?P<out>außer|ausser) kraft\b|\bin kraft\b", re.IGNORECASE)
_REPLACES = re.compile(
    r"\b(?:replaces?|supersedes?|repeals?|revokes?|obsoletes|cancels and replaces|shall replace|ersetzt|ersetzen)\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?:(?:is|are|shall be) (?:hereby )?(?:repealed|superseded|replaced|revoked|withdrawn)|(?:wird|werden)"
    r"(?: hiermit)? (?:aufgehoben|durch))\b",
    re.IGNORECASE,
)
_BY_THIS = re.compile(
    r"\bby (?:this|these|the present)\b|\bdurch die(?:se|sen|ses)\b|\bhereby\b|\bhiermit\b", re.IGNORECASE
)
_BY_ANOTHER = re.compile(r" by (?!this\b|these\b|the present\b)|(?<=durch) (?!diese)", re.IGNORECASE)
"""What replaces a document is named, and is not the document that says so."""
_PARTIES_AMEND = re.compile(
    r"\bparties (?:hereby |hereto ){0,2}(?:agree to |wish to )?amend\b"
    r"|\b(?:ändern|ergänzen) die (?:vertrags)?parteien(?: hiermit)?\b|\bparteien (?:ändern|ergänzen)(?: hiermit)?\b",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"\b(?:wird|wurde) (?=(?:am|mit wirkung vom|zum) )", re.IGNORECASE)
_CLOSES = re.compile(r"\b(?:geschlossen|vereinbart|abgeschlossen)\b", re.IGNORECASE)
"""`Dieser Vertrag wird am 1. März 2023 … geschlossen`."""
_FOLLOWING = re.compile(r"\b(?:folgende|nachstehende)[rs]? [\wäöüß-]{0,40}(?:vertrag|vereinbarung)\b", re.IGNORECASE)
_LOEST = re.compile(r"\blöst\b", re.IGNORECASE)
_AMENDS = re.compile(
    r"\b(?:amends?|updates|modifies|varies|supplements|(?:is|are) (?:made )?supplement(?:al|ary) to|ändert|ändern"
    r"|ergänzt)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"[*_ ]{0,4}(?:this .{1,40} is )?dated:? ", re.IGNORECASE)
"""The first line of an agreement: `DATED 14 March 2022`."""
_OPENING = re.compile(
    r"(?:between|by and between|among|zwischen|entre)\b.{10,600}?[,)]? "
    r"(?:dated|made on|made as of|signed on|vom|geschlossen am|en date du):? (?:as of |the )?",
    re.IGNORECASE,
)
"""The paragraph below the title of an agreement: "between Oak Ltd and Elm AG, dated 3 May 2020"."""
_PLACE = re.compile(
    r"(?:,? (?:(?-i:[A-ZÄÖÜ])[\w'’.-]{0,30}|\d{1,5}\w?|in|at|the|of)){1,12},? (?=(?:dated|of|vom) )", re.IGNORECASE
)
"""What a name of an agreement has between its comma and its day: `Unit 7, Harbour Works dated 14 March 2022`."""
_AMENDED = re.compile(r"\b(?:is|are) (?:hereby )?amended\b|\bwird(?: wie folgt)? geändert\b", re.IGNORECASE)
_AS_AMENDED_BY = re.compile(r"\bas (?:last )?amended by\b|\b(?:zuletzt )?geändert durch\b", re.IGNORECASE)
_NAME_ENDS = re.compile(
    r"[;:]|(?<![\d])(?<!\bno)(?<!\bnr)\. |\.$|, (?!(?:19|20)\d\d)|\b(?:with effect|effective|in its entirety"
    r"|in their entirety|which|that|and shall|(?:is|was) (?:hereby )?(?:made|entered)|made and entered"
    r"|and takes|and enters|and applies|and is|as follows|as of|as from|mit wirkung|vollständig|und tritt|und gilt"
    r"|außer kraft|aufgehoben|ab$|wie folgt|gleichzeitig|mit inkrafttreten)\b|\bab\.",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"(?:all|any|every|each|previous|prior|earlier|former|other|its|their|said|such|alle|sämtliche|jede|bisherige"
    r"|frühere|vorherige|andere|etwaige|mit ablauf)\b",
    re.IGNORECASE,
)
_TELLING = re.compile(r"\d|\b[A-ZÄÖÜ]\w{2}")
"""What tells a document: a number, a day, or a word with a capital letter, unlike "understandings"."""
_PART = re.compile(
    r"(?:annex|appendix|section|sections|chapter|clauses?|articles?|paragraphs?|schedule|exhibit|part|anlage|anhang"
    r"|artikel|absatz|ziffer|kapitel)\b|§",
    re.IGNORECASE,
)
"""With what the name of a part of a document begins, which is not the document."""
_DIRECTLY = re.compile(r"(?:(?: [\w-]{1,30}){0,3}| .{0,600}(?:,| and| und),?(?: [\w-]{1,20}){0,2}) ", re.DOTALL)
"""What may stand between a document and what it does: some words, or another thing that it does."""
_LEADS = re.compile(
    r"\A(?:(?:the|an?|on the same day|at the same time|simultaneously|gleichzeitig|zugleich|hiermit|die|der|das|den"
    r"|dem),? ){1,4}",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"[\W_]{0,4}(?:(?:article|section|clause|paragraph|artikel|ziffer|nummer|absatz|art\.|no\.|§§?) ?)?"
    r"\(?\d{1,3}[a-z]?(?:\.\d{1,3}){0,3}[.):]? (?!der\b|des\b|of\b)(?:[-–—] )?",
    re.IGNORECASE,
)
"""The number of an article or a paragraph, with which a sentence may begin."""
_AND = re.compile(r",? (?:and|und|sowie) (?:the |die |den |das |der )?", re.IGNORECASE)
_WITH_EFFECT = re.compile(
    r"\b(?:with effect from|with effect as of|as of|as from|effective|mit wirkung vom|mit wirkung zum|zum|ab dem) $",
    re.IGNORECASE,
)


def may_state(text: str) -> bool:
    """Returns whether a text has a word of a rule, so that its sentences are worth reading."""
    return _CUE.search(text) is not None


def read_sentence(sentence: str, *, is_of_own: bool = False) -> list[Statement]:
    """Returns what a sentence states; what a line of it states has the line as its text, all else none. With
    `is_of_own`, "it" at its beginning is the document, also if it replaces something.
    """
    text = " ".join(sentence.split())
    found = list(_read_headers(sentence[: 2 * _LONGEST]))
    if len(text) > _LONGEST or not may_state(text) or _HEDGE.search(text):
        return found
    found += _read_lines(text)
    number = _NUMBER.match(text)
    after_number = 0 if number is None else number.end()
    for at, whole in enumerate(_CLAUSE.split(text)):
        of_parts = list(_read_parts(whole))
        found += of_parts
        clause = whole if at else whole[after_number:]
        own, pronoun = _OWN.search(clause), _PRONOUN.match(clause)
        subject = own or pronoun
        if subject is not None and not of_parts and not mentions_part(clause[: subject.start()]):
            found += [*_read_days(clause, subject.end()), *_read_force(clause, subject.end())]
        if (actor := pronoun if pronoun is not None and is_of_own else own) is not None:
            found += _read_active(clause, actor)
        found += _read_passive(clause, own)
        found += _read_parties(clause)
    return list({(statement.states, statement.value, statement.part): statement for statement in found}.values())


def is_of_own_days(sentence: str, found: Sequence[Statement], *, is_of_own: bool = False) -> bool:
    """Returns whether a sentence, of which `found` was read, only tells the days of its document, which it begins with:
    then "it" in the next sentence is the document, and nothing else that the sentence names.
    """
    text = " ".join(sentence.split())
    number = _NUMBER.match(text)
    at = 0 if number is None else number.end()
    is_subject = _OWN.match(text, at) is not None or (is_of_own and _PRONOUN.match(text, at) is not None)
    return (
        is_subject and {(statement.states, statement.part) for statement in found}.issubset(_OWN_DAYS) and bool(found)
    )


def _read_parts(clause: str) -> Iterator[Statement]:
    """Yields what "Section 5 of this Agreement expires on 31 December 2025" states of the part."""
    parts = find_parts(clause)
    if parts is None:
        return
    of_own = _OF_OWN.match(clause, parts.end)
    subject = parts.end if of_own is None else of_own.end()
    if is_subject(clause, subject):
        for statement in [*_read_days(clause, subject), *_read_force(clause, subject)]:
            yield replace(statement, part=parts.text)


def _state(states: str, value: str, since: str = "") -> Statement:
    return Statement(states=states, value=value, since=since, source=StatementSource.SENTENCE)


def _read_headers(sentence: str) -> Iterator[Statement]:
    """Yields what lines such as `Obsoletes: 2616, 2817` state. A proposal ("if approved") states nothing."""
    for found in _HEADER.finditer(sentence):
        states = _HEADERS.get(found["verb"].casefold().replace("-", " "), SUPERSEDED_BY)
        if _HEDGE.search(found["names"]):
            continue
        column = _COLUMN.split(found["names"].strip(), maxsplit=1)[0]
        line = sentence[found.start() : found.start("names") + len(column)].strip()
        for name in (name.strip(" .*_|") for part in column.split(",") for name in _AND.split(part)):
            if _DESIGNATION.fullmatch(name) and not _OF_PART.match(name):
                yield replace(_state(states, name), text=line)


def _read_lines(text: str) -> Iterator[Statement]:
    """Yields what a line such as `Effective date: 1 May 2024` states."""
    for states, pattern in ((VALID_FROM, _STARTS_LINE), (VALID_TO, _ENDS_LINE)):
        begin = pattern.match(text)
        day = None if begin is None else read_date(text, begin.end())
        if day is not None and len(text) - day.end <= _LONGEST_REST:
            yield _state(states, day.day.isoformat())
            if states == VALID_FROM:
                yield from _read_range(text, day)


def _read_range(text: str, first: WrittenDate) -> Iterator[Statement]:
    to = _RANGE.match(text, first.end)
    if to is not None and (last := read_date(text, to.end())) is not None:
        yield _state(VALID_TO, last.day.isoformat())


def _read_days(text: str, subject: int) -> Iterator[Statement]:
    for verb in _START.finditer(text, subject):
        if (day := _read_after(text, verb.end(), _ON)) is not None:
            yield _state(VALID_FROM, day.day.isoformat())
            yield from _read_range(text, day)
            break
    yield from _read_closing(text, subject)
    for verb in _CEASE.finditer(text, subject):
        if (day := _read_after(text, verb.end(), _ON)) is not None:
            yield _state(VALID_TO, (day.day - timedelta(days=1)).isoformat())
            return
    for verb in _END.finditer(text, subject):
        if (day := _read_after(text, verb.end(), _UNTIL)) is not None:
            yield _state(VALID_TO, day.day.isoformat())
            return


def _read_closing(text: str, subject: int) -> Iterator[Statement]:
    for verb in _CLOSED.finditer(text, subject):
        day = _read_after(text, verb.end(), _ON)
        if day is not None and _CLOSES.search(text, day.end):
            yield _state(VALID_FROM, day.day.isoformat())
            return


def _read_after(text: str, at: int, between: re.Pattern[str]) -> WrittenDate | None:
    found = between.match(text, at)
    return None if found is None else read_date(text, found.end())


def _read_force(text: str, subject: int) -> Iterator[Statement]:
    """Yields what "tritt am 1. Mai 2024 in Kraft" states, and "tritt mit Ablauf des … außer Kraft"."""
    for verb in _TRITT.finditer(text, subject):
        day = next((date for date in find_dates(text) if date.start >= verb.end()), None)
        force = None if day is None else _FORCE.search(text, day.end)
        if day is None or force is None or day.start - verb.end() > 40 or force.start() - day.end > 40:
            continue
        if force["out"] is None:
            yield _state(VALID_FROM, day.day.isoformat())
        else:
            is_last = _BY_THE_END.search(text[: day.start]) is not None
            yield _state(VALID_TO, (day.day if is_last else day.day - timedelta(days=1)).isoformat())


def _read_active(text: str, own: re.Match[str]) -> Iterator[Statement]:
    """Yields what "From 1 May 2024 this Policy replaces the Travel Policy 2021" states."""
    subject = own.end()
    leading = next(find_dates(text[: own.start()]), None)
    since = "" if leading is None else leading.day.isoformat()
    for states, pattern in ((SUPERSEDES, _REPLACES), (AMENDS, _AMENDS), (AMENDED_BY, _AS_AMENDED_BY)):
        for verb in pattern.finditer(text, subject):
            if states == AMENDED_BY or _DIRECTLY.fullmatch(text, subject, verb.start()):
                named = since if states == SUPERSEDES else ""
                yield from (_state(states, name, named) for name in _read_names(text[verb.end() :], states))
    for verb in _LOEST.finditer(text, subject):
        if text.rstrip(". ").endswith(" ab"):
            yield from (_state(SUPERSEDES, name) for name in _read_names(text[verb.end() :].rstrip(". ")[:-3]))


def _read_passive(text: str, own: re.Match[str] | None) -> Iterator[Statement]:
    """Yields what "Regulation 5/2019 is hereby repealed" states, and "Gleichzeitig tritt die Satzung … außer Kraft"."""
    replaced = _REPLACED.search(text)
    is_by_another = replaced is not None and _BY_ANOTHER.match(text, replaced.end()) is not None
    if replaced is not None and not is_by_another and (own is None or own.start() > replaced.start()):
        since = _read_effect(text, replaced.end())
        if since or _BY_THIS.search(text):
            yield from (_state(SUPERSEDES, name, since) for name in _read_names(text[: replaced.start()]))
    amended = _AMENDED.search(text)
    if amended is not None and (own is None or own.start() > amended.start()):
        yield from (_state(AMENDS, name) for name in _read_names(text[: amended.start()], AMENDS))
    verb = _TRITT.search(text)
    force = None if verb is None else _FORCE.search(text, verb.end())
    if verb is None or force is None or force["out"] is None or (own is not None and own.start() < verb.start()):
        return
    since = ""
    before, between = text[: verb.start()], text[verb.end() : force.start()]
    leading = next(find_dates(before), None)
    if leading is not None and _BY_THE_END.search(before[: leading.start]):
        since, before = (leading.day + timedelta(days=1)).isoformat(), before[leading.end :]
    named = between if len(_LEADS.sub("", f"{before.strip()} ").strip()) < 4 else before
    yield from (_state(SUPERSEDES, name, since) for name in _read_names(named))


def _read_parties(text: str) -> Iterator[Statement]:
    """Yields what sentences on an agreement and its parties state: "This Amendment No. 1 to the Lease of …", "The
    parties hereby amend the Lease of …", "Zwischen A und B wird am … folgender Vertrag geschlossen".
    """
    if _FOLLOWING.search(text):
        yield from _read_closing(text, 0)
    if _OWN.match(text) and (named := read_amended_title(text)):
        yield from (_state(AMENDS, name) for name in _read_names(named, AMENDS))
    amend = _PARTIES_AMEND.search(text)
    if amend is not None:
        yield from (_state(AMENDS, name) for name in _read_names(text[amend.end() :], AMENDS))


def read_title(line: str) -> list[Statement]:
    """Returns what the first line of a document states: "Amendment No. 1 to the Lease dated 1 March 2021"."""
    text = " ".join(line[: 2 * _LONGEST].split())
    if len(text) > _LONGEST_TITLE or _HEDGE.search(text):
        return []
    return read_opening(text) or [_state(AMENDS, name) for name in _read_names(read_amended_title(text), AMENDS)]


def read_opening(paragraph: str) -> list[Statement]:
    """Returns the day in a paragraph below an agreement's title: "between Oak Ltd and Elm AG, dated 3 May 2020"."""
    text = " ".join(paragraph[:_LONGEST].split())
    opening = _OPENING.match(text) or _DATED.match(text)
    day = None if opening is None else read_date(text, opening.end())
    return [] if day is None or day.end < len(text.rstrip(" .*_")) else [_state(VALID_FROM, day.day.isoformat())]


def _read_effect(text: str, at: int) -> str:
    day = next((date for date in find_dates(text) if date.start >= at), None)
    if day is None or _WITH_EFFECT.search(text[at : day.start]) is None:
        return ""
    return day.day.isoformat()


def _read_names(text: str, states: str = SUPERSEDES) -> Iterator[str]:
    """Yields the names of documents with which a text begins. "All earlier versions" and the like name none. What
    amends an agreement may name its parties, which are no part of the name.
    """
    text = leave_out_parties(text) if states == AMENDS else text
    end = _NAME_ENDS.search(text)
    named = text if end is None else text[: end.start()]
    if states == AMENDS and end is not None:
        named += _read_rest_with_day(text, end.start())
    for part in _AND.split(named.strip(" ,")):
        name = _LEADS.sub("", part.strip(" ,\"'“”„»«"), count=1).strip(" ,\"'“”„»«()")
        is_general = _PART.match(name) or _GENERAL.match(name) or _OWN.match(name) or not _TELLING.search(name)
        if 3 < len(name) <= _LONGEST_NAME and not is_general:
            yield name


def _read_rest_with_day(text: str, at: int) -> str:
    """Returns " dated 14 March 2022" if a name goes on behind its comma, with words of a place and a day."""
    place = _PLACE.match(text, at)
    day = (
        None
        if place is None
        else next((day for day in find_dates(text[: at + _LONGEST_NAME]) if day.start >= at), None)
    )
    is_next = day is not None and place is not None and day.start - place.end() <= len("dated the ")
    return f" dated {text[day.start : day.end]}" if day is not None and is_next else ""
