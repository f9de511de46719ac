"""Which clauses an amendment changes: "In Section 2.1 the words “three years” are replaced by “five years”".

A change names its clause, and may quote the words that go or name what it sets anew. So a passage is changed if it is
of this clause and has these words. Wordings are read in English, German and French.

`says_more` says whether an amendment may change more than was read: whether any other sentence is not known to
change nothing. Known are headings, the opening with its parties and days, and that all else remains as it was. Open it
to teach such sentences; whatever is not known here may be a change.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.documents import Span
from core.text.sentences import split_sentences
from core.text.value_kinds import find_stems
from core.validity.headed import find_ended, find_name, find_title, is_below, sets_instead, skip_heading
from core.validity.parts import NamedParts, find_named_parts, is_in_part
from core.validity.written_dates import leave_out_dates

_LONGEST = 1200
"""Characters of a sentence with what it quotes."""
_LONGEST_QUOTED = 900
_LONGEST_SUBJECT = 120
_PAIRS = {"“": "”", "„": "“”", "«": "»", "»": "«", '"': '"'}
"""Quotation marks, and those that close what they open."""
_DONE = re.compile(
    r"\b(?:is|are|shall be|be) (?:hereby )?(?:deleted|replaced|amended|restated|substituted|revised|modified|struck"
    r"|repealed|increased|reduced|extended|changed)\b"
    r"|\b(?:deleting|replacing|striking|substituting|inserting)\b"
    r"|\b(?:ersetzt|gestrichen|geändert|neu gefasst|aufgehoben|ergänzt)\b"
    r"|\b(?:erhält|erhalten) (?:die )?folgende (?:neue )?fassung\b"
    r"|\blaute(?:t|n) (?:nun|nunmehr|künftig|neu|jetzt|wie folgt)\b|\bwird wie folgt\b"
    r"|\b(?:est|sont) (?:remplacée?s?|supprimée?s?|modifiée?s?|abrogée?s?)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|unless|if|(?-i:may)|would|could|except|nicht|kein|keine|falls|sofern|wenn|soweit|ne|pas|sauf|si)\b",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\b(?:by|with|durch|par|inserting|substituting|as follows|to read|wie folgt|folgende|comme suit)\b", re.IGNORECASE
)
"""Between the words that go and the words that come."""
_OWN_CLAUSE = re.compile(
    r" (?:(?:of|to|in|du|de la) )?(?:this|the present|dieser|dieses|diesem|présente?) (?:\w{1,20} )?"
    r"(?:amendment|addendum|letter|(?:\w{0,20})vereinbarung|nachtrag|avenant)",
    re.IGNORECASE,
)
_SETS = re.compile(
    r" (?:of the \w{1,20} )?(?:is|are|shall be|will be|becomes?|beträgt|betragen|est de|sont de) (?=[^\W_]|\d)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:\A|[,;:.] |\b(?:and|und|et) )(?:the|die|der|das|le|la|les) (?P<subject>[^,;:.\d\"“„«]{3,80}?)"
    r" (?:(?:set out|specified|stated|set forth|referred to|provided) )?(?:in|under|nach|gemäß|à|dans|de) \Z",
    re.IGNORECASE,
)
_TERM = r"(?-i:[A-ZÄÖÜ])[\w’'-]{1,30}(?: (?-i:[A-ZÄÖÜ])[\w’'-]{1,30}){0,3}"
_OF_TERM = re.compile(
    rf"(?:\A|[,;:] |\d )(?:the|die|der|das) (?P<term>{_TERM})"
    r" (?:is|are|shall be|will be|becomes?|beträgt|wird|lautet)\b",
    re.IGNORECASE,
)
"""A term at the beginning of what is said of it: "With effect from 1 May 2024 the Rent is £500"."""
_DEFINITION_OF = re.compile(
    rf"\b(?:definitions?|meaning|begriffs?|definition) (?:of|des|der|de) (?:the )?(?:term )?[\"“„«]?(?P<term>{_TERM})",
    re.IGNORECASE,
)
_SETS_ANEW = re.compile(
    r"\b(?:with effect from|as from|from|with effect on|effective|ab(?: dem)?|mit wirkung vom|à compter du)"
    r" (?:and including )?\d|\b(?:in place of|instead of|rather than|anstelle von|(?:an)?statt|au lieu de)\b",
    re.IGNORECASE,
)
_IN_PLACE_OF = re.compile(
    r"\b(?:in place of|instead of|rather than|anstelle von|(?:an)?statt|au lieu de)\s"
    r"(?P<old>(?:[A-Z]{3}\s)?[€$£]?\s?\d[^\s;]{0,30})",
    re.IGNORECASE,
)
_DEFINES = re.compile(r"[\"”“»*_]{0,3}\s?(?:[:|]|means?\b|shall mean\b|bedeutet\b|désigne\b)", re.IGNORECASE)
"""What follows a term in the line that defines it."""
_MARKS = ' \t#*_|-–•"“„«'
_LINE_END = re.compile(r"[.!?][\"“”»]?\n")
_PARAGRAPH = re.compile(r" (?:abs\.|absatz|satz|nr\.|paragraph|alinéa) ?\d.*\Z", re.IGNORECASE)
"""A paragraph of a clause, which headings and lines do not name."""


@dataclass(frozen=True, kw_only=True)
class ClauseChange:
    """`text` is the sentence with the words that it quotes, verbatim at `start` in its passage. `part` names the
    clause. The clause has all `words` that go, and all of the stems of `subject`, what is set anew or ends. With
    `is_title`, `part` is the heading of the clause, under which the amendment changes it; with `is_term`, a term that
    is set anew where it is defined: `THE RENT: £500`.
    """

    part: str
    text: str
    start: int
    words: tuple[str, ...] = ()
    subject: frozenset[str] = frozenset()
    is_title: bool = False
    is_term: bool = False


def find_clause_changes(text: str, heading: str = "") -> Iterator[ClauseChange]:
    """Yields the changes that a passage of an amendment with these headings makes, in order."""
    sentences = list(_list_sentences(text))
    at = 0
    for number, (start, end) in enumerate(sentences):
        if start < at or end - start > _LONGEST:
            continue
        following = sentences[number + 1][1] if number + 1 < len(sentences) else end
        stop = _find_end(text, start, end, following)
        said = text[start:stop].rstrip()
        own = said[: end - start]
        quotes = list(_find_quotes(said))
        plain = _mask(own, quotes)
        change = _read_change(said, plain, quotes, start) or _read_setting(said, plain, start)
        change = change or _read_term(said, plain, quotes, start)
        if change is not None and not _DENIED.search(plain):
            at = stop
            yield change
        elif not quotes and (ending := _read_ending(text, heading, sentences[number : number + 2])) is not None:
            at = ending.start + len(ending.text)
            yield ending


def _list_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yields the sentences, each of them of one paragraph at most."""
    for start, end in split_sentences(text):
        at = start
        for line in _LINE_END.finditer(text, start, end):
            yield at, line.end()
            at = line.end()
        if at < end:
            yield at, end


def _find_end(text: str, start: int, end: int, following: int) -> int:
    """Returns where a sentence ends with what it announces: the words that it quotes, or those behind its colon."""
    opened = _find_open(text[start:end])
    if opened is not None:
        closing = _PAIRS[text[start + opened]]
        ends = [at for at in range(end, min(len(text), end + _LONGEST_QUOTED)) if text[at] in closing]
        return ends[0] + 1 if ends else end
    if text[start:end].rstrip().endswith(":") and following - end <= _LONGEST_QUOTED:
        inner = _find_open(text[end:following])
        return following if inner is None else _find_end(text, end, following, following)
    return end


def _find_open(text: str) -> int | None:
    """Returns where a quotation begins that does not end in the text; None if none does."""
    closing, opened = "", 0
    for at, letter in enumerate(text):
        if closing:
            closing = "" if letter in closing else closing
        elif letter in _PAIRS:
            closing, opened = _PAIRS[letter], at
    return opened if closing else None


def _find_quotes(text: str) -> Iterator[tuple[int, int]]:
    """Yields where quotations begin and end, without their marks."""
    closing, opened = "", 0
    for at, letter in enumerate(text):
        if closing:
            if letter in closing:
                yield opened + 1, at
                closing = ""
        elif letter in _PAIRS:
            closing, opened = _PAIRS[letter], at


def _mask(text: str, quotes: Sequence[tuple[int, int]]) -> str:
    """Returns the text with spaces in the place of what it quotes, so that places stay."""
    for start, end in quotes:
        text = text[:start] + " " * (min(end, len(text)) - min(start, len(text))) + text[end:]
    return text


def _read_change(said: str, plain: str, quotes: Sequence[tuple[int, int]], start: int) -> ClauseChange | None:
    verb = _DONE.search(plain)
    parts = [part for part in find_named_parts(plain) if not _OWN_CLAUSE.match(plain, part.end)]
    if verb is None or not parts:
        return None
    part = next((part for part in parts if part.end <= verb.end()), parts[0])
    words = [said[begin:end] for begin, end in quotes if end <= _find_border(plain, quotes, verb)]
    subject = frozenset[str]() if quotes else _find_subject(plain, part)
    return ClauseChange(part=_name(part), text=said, start=start, words=tuple(words), subject=subject)


def _name(part: NamedParts) -> str:
    return _PARAGRAPH.sub("", part.text)


def _find_border(plain: str, quotes: Sequence[tuple[int, int]], verb: re.Match[str]) -> int:
    """Returns where the words that come begin: behind the last "by", "with" or "durch" that a quotation follows."""
    first = quotes[0][1] if quotes else 0
    borders = [by.start() for by in _BY.finditer(plain) if by.start() > first or not quotes]
    if borders:
        return borders[0]
    introduced = [by.start() for by in _BY.finditer(plain)]
    if introduced and quotes and introduced[-1] < quotes[0][0] and introduced[-1] > verb.start():
        return introduced[-1]
    is_set_anew = verb.end() < first and verb[0].casefold() not in ("deleting", "replacing", "striking")
    return verb.start() if is_set_anew else len(plain)


def _read_setting(said: str, plain: str, start: int) -> ClauseChange | None:
    """Returns the change of "the annual fee in Section 5.1 and Schedule C is USD 536,000"."""
    for part in find_named_parts(plain):
        is_set = _SETS.match(plain, part.end) is not None and not _OWN_CLAUSE.match(plain, part.end)
        if is_set and (subject := _find_subject(plain, part)):
            return ClauseChange(part=_name(part), text=said, start=start, subject=subject)
    return None


def _read_term(said: str, plain: str, quotes: Sequence[tuple[int, int]], start: int) -> ClauseChange | None:
    """Returns the change of "the Rent is £91,500 in place of £84,000", "The Break Date is deleted, and “…” is
    substituted" and "In the definition of “Rent”, “£500” is replaced by “£600”".
    """
    verb = _DONE.search(plain)
    defined = _DEFINITION_OF.search(said)
    found = defined or _OF_TERM.search(plain)
    if found is None or (verb is None and (defined or not _SETS_ANEW.search(plain))):
        return None
    quotes = [(begin, end) for begin, end in quotes if begin >= found.end()]
    border = _find_border(plain, quotes, verb) if verb and defined else 0
    words = [said[begin:end] for begin, end in quotes if end <= border]
    words += [old["old"].rstrip(".,;") for old in _IN_PLACE_OF.finditer(plain)]
    term = found["term"]
    return ClauseChange(part=term, text=said, start=start, words=tuple(words), subject=find_stems(term), is_term=True)


def _read_ending(text: str, heading: str, sentences: Sequence[tuple[int, int]]) -> ClauseChange | None:
    """Returns the change of "The review of 1 May does not take place. The rent is reviewed on 1 June instead.", which
    names its clause by the heading above it; None if the first sentence ends nothing, or names a clause itself.
    """
    (begun, end), *after = sentences
    start = skip_heading(text, begun, end)
    subject = find_ended(text[start:end])
    title = find_title(text, start, heading) if subject and not _names_part(text[start:end]) else ""
    if not title:
        return None
    is_continued = bool(after) and "\n\n" not in text[end - 1 : after[0][0] + 1]
    if is_continued and sets_instead(text[slice(*after[0])]) and not _names_part(text[slice(*after[0])]):
        end = after[0][1]
    return ClauseChange(part=title, text=text[start:end].rstrip(), start=start, subject=subject, is_title=True)


def _names_part(text: str) -> bool:
    return next(find_named_parts(text), None) is not None


def _find_subject(plain: str, part: NamedParts) -> frozenset[str]:
    """Returns the stems of "the annual fee" before "in Section 5.1"; none if nothing is named so."""
    found = _SUBJECT.search(plain[: part.start][-_LONGEST_SUBJECT:])
    return frozenset() if found is None else frozenset(find_stems(found["subject"]))


def is_changed(change: ClauseChange, heading: str, text: str, span: Span, replaced: str = "") -> bool:
    """Returns whether the words at `span` of a passage with this text and these headings are of the clause that is
    changed, and their lines have what the change says of it. The words may be in `replaced`, too, what other
    amendments say of the clause.
    """
    start, end = span.start, span.end
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    lines = text[first : last if last >= 0 else len(text)]
    place = first
    for line in lines.splitlines(keepends=True):
        place += len(line)
        if _has_words(change, f"{line} {replaced}") and _is_in(change, heading, text[:place], line):
            return True
    return False


def _is_in(change: ClauseChange, heading: str, before: str, line: str) -> bool:
    if change.is_term:
        return bool(change.words) or _defines(change.part, line)
    if change.is_title:
        return is_below(change.part, heading, before, line)
    return is_in_part(change.part, heading, before)


def _defines(term: str, line: str) -> bool:
    """Returns whether a line defines a term: `THE RENT: £500 a month`, `“Rent” means …`, `| Rent | £500 |`."""
    plain = line.strip(_MARKS)
    plain = plain[4:].lstrip(_MARKS) if plain[:4].casefold() == "the " else plain
    return plain[: len(term)].casefold() == term.casefold() and _DEFINES.match(plain, len(term)) is not None


def _has_words(change: ClauseChange, line: str) -> bool:
    plain = _plain(line)
    return all(_plain(word) in plain for word in change.words) and change.subject <= find_stems(line)


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split()).rstrip(".,;")


_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|shall|will|must|(?-i:may)|pays?|wird|werden|ist|sind|hat|muss|soll|zahlt|est|sont"
    r"|doit|paie|(?:set|raise|lower|replace|delete|add|extend|waive|reduce|increase|grant|change|end|double)s)\b|[€$£%]",
    re.IGNORECASE,
)
"""What headings have not, and the opening of an amendment once: "is entered into"."""
_TITLE = re.compile(
    r"[#*_ ]{0,6}(?:\w{1,20} )?(?:amendment|addendum|deed of variation|nachtrag|avenant)\b[^.!?;:\n]{0,100}",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:this|dieser|diese|dieses|le présent|cet) (?:\w{1,20} )?(?:amendment|addendum|nachtrag|\w{0,20}vereinbarung"
    r"|avenant)\b.{1,200}?\b(?:made|entered into|between|zwischen|geschlossen|conclu|entre)\b",
    re.IGNORECASE,
)
_ALL_ELSE = re.compile(
    r"(?:(?:except|save) as|otherwise|all (?:of the )?other|the (?:other|remaining|rest)|im übrigen"
    r"|(?:alle|die) übrigen|(?:toutes )?les autres)\b(?P<between>[^;:\d]{1,200})\b(?:unchanged"
    r"|in (?:full )?force(?: and effect)?|unverändert|unberührt|bestehen|in kraft|inchangée?s|en vigueur)[\s.*_]{0,8}",
    re.IGNORECASE,
)
_REMAINS = re.compile(r"\b(?:remains?|continues?|bleib(?:t|en)|rest(?:e|ent)|demeurent)\b", re.IGNORECASE)
_SHALL = re.compile(r"\bshall (?=remain|continue)", re.IGNORECASE)
_NUMBER = re.compile(r"\b(?:no\.?|nr\.?|n°) ?\d{1,3}\b", re.IGNORECASE)
"""Of an amendment, whose title has no other full stop, and whose opening has other numbers in its dates alone."""
_WORDS_OF_HEADING = 4
_WORDS_BEFORE_SENTENCE = 3


def says_more(text: str, changes: Sequence[ClauseChange]) -> bool:
    """Returns whether a passage of an amendment has a sentence that may change something, beside those of the changes
    that were read in it.
    """
    return any(not _is_formal(text, start, end) for start, end in _leave_out(text, changes))


def _leave_out(text: str, changes: Sequence[ClauseChange]) -> Iterator[tuple[int, int]]:
    """Yields where the sentences, or what is left of them, begin and end that are of no change."""
    spans = sorted((change.start, change.start + len(change.text)) for change in changes)
    for start, end in _list_sentences(text):
        at = start
        for begun, ended in spans:
            if begun < end and ended > at:
                yield at, max(at, begun)
                at = ended
        yield at, max(at, end)


def _is_formal(text: str, start: int, end: int) -> bool:
    said = " ".join(text[start:end].split())
    if not any(letter.isalnum() for letter in said) or _is_title(said) or _is_heading(text, start, end):
        return True
    all_else = _ALL_ELSE.fullmatch(said)
    if all_else is not None:
        between = _SHALL.sub("", all_else["between"])
        return _REMAINS.search(between) is not None and _VERB.search(between) is None
    if _OPENING.match(said) is None or len(_VERB.findall(said)) > 1:
        return False
    return not any(letter.isdigit() for letter in leave_out_dates(_NUMBER.sub("", said))[0])


def _is_heading(text: str, start: int, end: int) -> bool:
    """Returns whether a line is the heading of what follows, or is such a heading before a sentence in its line."""
    line, following = text[start:end], text[end:].lstrip().partition("\n")[0].strip()
    is_before_sentence = "\n" not in line and line.endswith(" ")
    name = find_name(line if is_before_sentence else line.strip())
    most = _WORDS_BEFORE_SENTENCE if is_before_sentence else _WORDS_OF_HEADING
    is_short = 0 < len(name.split()) <= most and not any(letter.isdigit() for letter in name)
    return is_short and not _VERB.search(name) and bool(following) and not find_name(following)


def _is_title(line: str) -> bool:
    return _TITLE.fullmatch(_NUMBER.sub("", line)) is not None and _VERB.search(line) is None
