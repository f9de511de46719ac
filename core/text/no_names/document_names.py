"""The names of a text, by how the whole document writes its words. The extractor `pattern` uses it on passages."""

import re
from functools import lru_cache
from itertools import pairwise

from core.text.name_evidence import NameEvidence
from core.text.name_spans import NameSpan, begins_sentence, find_names
from core.text.no_names.columns import hide_columns
from core.text.no_names.context import (
    begins_item,
    begins_line,
    fills_cell,
    fills_line,
    has_address,
    has_title_before,
    heads_column,
    hide_code,
    is_defined,
    is_in_heading,
    is_label,
    is_title_of_part,
    is_titled,
    stands_in_code,
)
from core.text.no_names.forms import (
    behind_place,
    is_adjective,
    is_calendar,
    is_command,
    is_common,
    is_enumerator,
    is_in_small_letters,
    is_inflected,
    is_institution,
    is_message,
    is_part_of_text,
    is_place_or_time,
    is_plain,
    is_role,
    is_sentence,
    is_shouted,
    is_term,
    without_place,
)
from core.text.no_names.german import is_common_run, split_compounds, split_run
from core.text.word_lists import ARTICLES, FUNCTION_WORDS, SENTENCE_OPENERS

_RUN_WORD = re.compile(r"\S+")
_OPENING = ("ing", "ed", "ly")
_ELISION = re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’]", re.IGNORECASE)
_HEAD = re.compile(r"(?P<noun>[A-Z]\w*(?:\s[A-Z]\w*)?)\s+of\s+(?:the\s+)?(?=[A-Z])")
_LEAST_CHARACTERS = 2
_LAST_NOUNS = frozenset(("List", "Name"))
"""Small words of questions that are nouns at the end of a name."""
_GENITIVES = ("'s", "’s")
_JOINT = re.compile(r"(?<!\s)\s++(?P<word>for|the)\s++(?:the\s++)?")
_PAIR_END = re.compile(r"(?<=\w\w)/(?P<noun>[a-z]++)$")
"""A common noun behind a slash: `Redis/database`."""
_POSTAL_CODE = re.compile(r"(?<=[a-z]{3})\s+\d{5}(?:-\d{4})?$")


def find_document_names(text: str, evidence: NameEvidence) -> list[NameSpan]:
    """Returns the names that `find_names` sees in a text of the document, without words that are no names.

    These are months and days, first words of sentences, German nouns, headings, terms that a document defines, places
    in the text itself, names of columns, and parts of code.
    """
    evidence = evidence.for_text(text)
    text = hide_columns(hide_code(text), evidence.columns)
    spans = find_names(text)
    spans = [span for span in spans if span.quoted or not _is_heading(text, span, evidence)]
    if evidence.language == "fr":
        spans = [_without_article(span) for span in spans]
    if evidence.tells_articles:
        spans = [_without_head(span, evidence) for span in spans]
    if evidence.language == "de":
        spans = [part for span in spans for part in split_compounds(span, evidence.is_name, evidence.is_german_noun)]
        spans = [part for span in spans for part in split_run(span, evidence.is_name)]
    else:
        spans = [span if span.quoted else _without_ends(text, span, evidence) for span in spans]
    spans = [part for span in spans for part in _split(span, evidence)]
    return [span for span in spans if has_address(text, span.end) or _is_kept(text, span, evidence)]


def _is_heading(text: str, span: NameSpan, evidence: NameEvidence) -> bool:
    """Whether a run of common words begins a sentence, a cell or a line: `Return of Materials`.

    In a short document, which may have its names nowhere else, it is the whole line or cell, or has a number.
    """
    if has_address(text, span.end):
        return False
    form = without_place(span.form)
    ends_line = text[span.end : span.end + 1] in ("", "\n")
    if evidence.is_only_shouted(form) and begins_item(text, span.start) and ends_line:
        return True
    if not (evidence.is_common_run(form) or (form != span.form and (is_common(form) or is_inflected(form.casefold())))):
        return False
    if form == span.form and not begins_sentence(text, span.start):
        return is_titled(text, span.start) or (evidence.is_long and is_in_heading(text, span.start, span.end))
    return evidence.is_long or fills_line(text, span.start, span.end) or begins_item(text, span.start)


def _without_ends(text: str, span: NameSpan, evidence: NameEvidence) -> NameSpan:
    """Returns a run without small words and postal codes at its end, and without what it begins with by its place: the
    letter of an item (`B. Security`), or the first word of a sentence.
    """
    words = list(_RUN_WORD.finditer(_POSTAL_CODE.sub("", span.form)))
    while len(words) > 1 and words[-1].group().casefold() in FUNCTION_WORDS and words[-1].group() not in _LAST_NOUNS:
        words.pop()
    if not words:
        return span
    end = words[-1].end()
    pair = _PAIR_END.search(span.form, words[-1].start(), end)
    if pair is not None and is_common(pair["noun"]):
        end = pair.start()
    if len(words) < 2 or not begins_sentence(text, span.start):
        return NameSpan(start=span.start, end=span.start + end, form=span.form[:end])
    first = words[0].group()
    second = next((word.group() for word in words[1:] if _may_begin(word.group())), words[1].group()).rstrip(".")
    is_item = (
        first.endswith(".")
        and is_enumerator(first.rstrip("."))
        and (is_common(second) or is_inflected(second.casefold()))
    )
    opens = _opens_sentence(first.rstrip("."), second, evidence)
    start = 0
    if opens or (is_item and begins_line(text, span.start)):
        start = next((word for word in words[1:] if _may_begin(word.group())), words[-1]).start()
    return NameSpan(start=span.start + start, end=span.start + end, form=span.form[start:end])


def _split(span: NameSpan, evidence: NameEvidence) -> list[NameSpan]:
    """Returns the names of a run: two that `for` or `the` joins, an institution and what belongs to it, what belongs to
    a common noun (`Participant's RSUs`), and a name before a defined term (`Eskom Data Recipient`).
    """
    if span.quoted:
        return [span]
    for joint in _JOINT.finditer(span.form):
        if _joins_two(span.form, joint, evidence):
            parts = [_part(span, 0, joint.start()), _part(span, joint.end(), len(span.form))]
            return [name for part in parts for name in _split(part, evidence)]
    words = list(_RUN_WORD.finditer(span.form))
    for word, following in pairwise(words):
        if word.start() > 0 and word.group().endswith(_GENITIVES) and is_institution(span.form[: word.end() - 2]):
            parts = [_part(span, 0, word.end() - 2), _part(span, following.start(), len(span.form))]
            return [name for part in parts for name in _split(part, evidence)]
    first = words[0].group()
    if len(words) > 1 and first.endswith(_GENITIVES) and evidence.is_common_owner(first[: -len(_GENITIVES[0])]):
        return _split(_part(span, words[1].start(), len(span.form)), evidence)
    for word in words[1:] if not is_common(first) else ():
        if is_common(word.group()):
            is_term = evidence.defines(span.form[word.start() :]) and not is_institution(span.form[word.start() :])
            return [_part(span, 0, word.start()) if is_term else span]
    return [span]


def _joins_two(form: str, joint: re.Match[str], evidence: NameEvidence) -> bool:
    """Whether `for` or `the` joins two names: an acronym or another proper noun that also stands alone and what it is
    for (`TLS for MQTT`), or a name and a common noun (`Contoso the Services`).
    """
    left, right = form[: joint.start()].rsplit(maxsplit=1)[-1], form[joint.end() :].split(maxsplit=1)[0]
    if not left[0].isupper():
        return False
    if joint["word"] == "the":
        return evidence.is_noun(right)
    if is_plain(left) and not (evidence.is_long and not is_common(left) and evidence.stands_apart(right)):
        return False
    return evidence.stands_apart(left)


def _part(span: NameSpan, start: int, end: int) -> NameSpan:
    form = span.form[start:end].rstrip()
    return NameSpan(start=span.start + start, end=span.start + start + len(form), form=form)


def _without_head(span: NameSpan, evidence: NameEvidence) -> NameSpan:
    """Returns the name of what a common noun belongs to: `Ann Lee` of `Certification of Ann Lee`."""
    head = _HEAD.match(span.form)
    if head is None or span.quoted or is_institution(head["noun"]):
        return span
    noun, rest = head["noun"], span.form[head.end() :]
    is_noun = evidence.is_common_run(noun) if " " in noun else is_common(noun)
    if not is_noun or evidence.is_common_run(rest) or is_common(rest):
        return span
    return NameSpan(start=span.start + head.end(), end=span.end, form=rest)


def _may_begin(word: str) -> bool:
    return word[0].isupper() and word.casefold() not in ARTICLES


def _opens_sentence(word: str, second: str, evidence: NameEvidence) -> bool:
    """Whether a word begins a sentence before a name more often than it begins a name: `Using`, `Formerly`."""
    if word.casefold() in SENTENCE_OPENERS:
        return True
    is_plain_word = is_common(word) or is_inflected(word.casefold())
    if word.endswith(_OPENING) and is_plain_word and evidence.lower[word.casefold()] > evidence.within[word]:
        return True
    if is_common(second):
        return False
    if evidence.is_seldom_capital(word) or evidence.is_qualifier(word, second):
        return True
    return evidence.is_imperative(word, before_plain=is_plain(second))


@lru_cache(maxsize=1 << 14)
def _is_never_name(form: str, *, quoted: bool) -> bool:
    """Whether a form is no name in any document."""
    if is_place_or_time(form) or is_role(form):
        return True
    return not quoted and (is_shouted(form) or is_part_of_text(form))


def _is_kept(text: str, span: NameSpan, evidence: NameEvidence) -> bool:
    form = span.form
    if len(form.rstrip(".")) < _LEAST_CHARACTERS or evidence.is_defined(form):
        return False
    if _is_never_name(form, quoted=span.quoted) or stands_in_code(text, span.start, span.end):
        return False
    if text.startswith("](#", span.end):
        return False  # a heading, in a list of contents
    if " " not in form and (is_common(form) or is_inflected(form.casefold())) and is_label(text, span.start, span.end):
        return False
    if span.quoted:
        return not _is_plain_quote(text, span, evidence)
    if evidence.is_term(form) or (evidence.is_long and _is_column(text, span, evidence)):
        return False
    rest = behind_place(form)
    if rest != form and (evidence.is_term(rest) or (" " not in rest and not evidence.is_name(rest))):
        return False
    words = [word for word in form.split() if not is_calendar(word)]
    if len(words) > 1:
        return (
            not _repeats(words)
            and not all(map(_is_symbol, words))
            and not _is_german_phrase(text, span, words, evidence)
        )
    return len(words) == 1 and evidence.is_name(words[0])


def _repeats(words: list[str]) -> bool:
    """Whether a run has one word with a capital, more than once: `Plattform zu Plattform`."""
    return len(words) - sum(map(str.islower, words)) > 1 and len({word for word in words if not word.islower()}) == 1


def _is_german_phrase(text: str, span: NameSpan, words: list[str], evidence: NameEvidence) -> bool:
    if evidence.language != "de":
        return False
    begins = begins_sentence(text, span.start)
    return is_common_run(words, evidence.is_name, evidence.is_german_noun, begins=begins)


def _is_column(text: str, span: NameSpan, evidence: NameEvidence) -> bool:
    """Whether a form is the name of a column, or a value in a row of a table, which no sentence of the document has."""
    if not fills_cell(text, span.start, span.end):
        return False
    words = span.form.split()
    if span.form[0].isdecimal():
        return len(words) == 1
    if not heads_column(text, span.start):
        return False
    if len(words) == 1:
        return is_plain(span.form) and not evidence.within[span.form]
    return 2 * sum(is_common(word) for word in words) > len(words)


def _is_symbol(word: str) -> bool:
    """Whether a word is a letter or a sign with a common word behind it, as in `K NW-bit`."""
    return (len(word) == 1 and word.isalpha()) or is_adjective(word)


def _is_plain_quote(text: str, span: NameSpan, evidence: NameEvidence) -> bool:
    """Whether what is quoted is code, a sentence, or common words of which the document only says what they mean."""
    form = without_place(span.form)
    if text[max(span.start - 3, 0) : span.start] == '"""' or (
        form.isupper() and FUNCTION_WORDS.issuperset(form.casefold().split())
    ):
        return True
    if (
        is_command(form)
        or is_term(form)
        or is_sentence(form)
        or (form.isupper() and " " not in form and is_shouted(form))
    ):
        return True
    if evidence.is_long and form[0].islower() and (" " in form) and (form.islower() or is_common(form.split()[0])):
        return True
    if len(form) == 1 or (evidence.is_long and form.islower() and form.replace("-", "").isalpha() and form.isascii()):
        return True
    if evidence.has_code and form.islower() and any(map(str.isdigit, form)):
        return True
    if (evidence.is_long and is_message(form)) or (evidence.tells_articles and _is_told(form, evidence)):
        return True
    if evidence.defined and evidence.is_common_run(form) and not is_institution(form):
        return True
    is_plain = is_common(form) if " " not in form else evidence.is_common_run(form)
    if is_title_of_part(text, span.start, span.end):
        return is_plain or is_in_small_letters(form) or has_title_before(text, span.start)
    return is_plain and (is_defined(text, span.start, span.end) and (" " not in form or evidence.is_term(form)))


def _is_told(form: str, evidence: NameEvidence) -> bool:
    """Whether what a long document quotes is a common word, or common words of which only the first has a capital."""
    if " " not in form:
        return is_common(form) and not evidence.is_name(form)
    return form[0].isupper() and form[1:].islower() and evidence.is_common_run(form)


def _without_article(span: NameSpan) -> NameSpan:
    """Returns a French name without an article that is joined to it (`l’Europe`)."""
    elided = _ELISION.match(span.form)
    if elided is None or span.quoted:
        return span
    return NameSpan(start=span.start + elided.end(), end=span.end, form=span.form[elided.end() :])
