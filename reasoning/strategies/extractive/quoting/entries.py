"""Entries of manuals and change logs that a question names: the paragraph of an option, what it says of its default or
of the version that brought it, and a release with its date.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from core.documents import HEADING_SEPARATOR, Span
from core.passage_context.named_parts import RELEASE_WORDS
from core.passage_context.tables import is_row
from core.ports.retrieval import Hit
from core.text.titles import stem_of
from core.text.value_kinds import ValueKind, find_digits, find_stems
from core.text.word_lists import SMALL_WORDS
from core.validity.written_dates import leave_out_dates
from reasoning.strategies.extractive.quoting.asked import Asked
from reasoning.strategies.extractive.quoting.evidence import find_head_stems
from reasoning.strategies.extractive.quoting.units import READ, Unit, split_spans
from reasoning.strategies.extractive.quoting.wording import chooses_nothing, find_condition

_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]{0,40}")
_LINE = re.compile(r"[^\n]+")
_TERM = re.compile(r"[ \t]*(--?[A-Za-z0-9][^\n]{0,100})")
"""How a line begins that may be the term of an entry."""
_BEHIND_TERM = re.compile(r" {2,}|\t|:\s")
"""What parts a term from its description in the same line."""
_TERM_WORDS = 8
_LONGEST_TERM = 70
_LONGEST = 700
_NEAR = 6
"""Units of which one may be of the entry that the best unit leads to."""
_IMPLIES = re.compile(
    r"\b(?:impl(?:y|ies|ied)|same as|short for|see|use|using|like|with|specify|enables?|turns on|entspricht|siehe"
    r"|impliziert|implique|voir)\s{1,20}(?:the\s{1,20})?(--[A-Za-z][\w-]{0,40})"
)
_RELEASED = find_stems(
    "released release published issued dated date happened occurred came out come take place "
    "erschienen erschien veröffentlicht Datum passiert publiée publié sortie sorti date Fassung "
    + " ".join(RELEASE_WORDS)
)
"""Words of a question for the date of something, which a heading with a name and a date need not have."""
_SIGN = re.compile(r"[^\W_][\w.-]*")
_WORD = re.compile(r"[^\W_]+")

_ASKS_DEFAULT = re.compile(
    r"\b(?:defaults?|default(?:ed|value)|standard(?:mäßig\w{0,2}|wert|einstellung)|Standard-\w{1,30}"
    r"|Vorgabe(?:wert)?|Voreinstellung|voreingestellt\w{0,2}|par défaut)\b",
    re.IGNORECASE,
)
_STATES_DEFAULT = re.compile(
    r"(?:(?<!\bon )(?<!\bupon )(?<!\bin )(?<!\bany )(?<!\bof a )(?<!\bon a )(?<!\bevent of )(?<!\bevents of )"
    r"(?<!\bcase of )\bdefaults?"
    r"(?:(?: (?!(?:is|are|to|of)\b)[\w`'-]{1,30}){0,3} ?(?:\b(?:is|are|to)\b|[:=(])"
    r"|(?: (?!(?:is|are|to|of|by|under)\b)[\w`'-]{1,30}){1,3} of\b"
    r"|(?:(?<=\bhas a default)|(?<=\bwith a default)) of\b"
    r"|(?<=\bthe default) of(?: (?!of\b)[\w.`'-]{1,30}){1,4} (?:is|are)\b"
    r"| of \W?(?:[\d`\"'/~]|(?:true|false|yes|no|on|off|none|null|nil|auto|empty|zero|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|unlimited|infinity)\b))"
    r"|\bby default\b(?! of\b)"
    r"|\b(?:the|its) default(?=\W{0,2}(?:\Z|[.,;)]))"
    r"|\b(?:standardmäßig|voreingestellt|par défaut)"
    r"|\b(?:Standard(?:wert|einstellung)?|Vorgabe(?:wert)?|Voreinstellung)(?: \w{1,20}){0,2} ?"
    r"(?:\b(?:ist|sind|beträgt)\b|[:=(]))",
    re.IGNORECASE,
)
"""How a sentence tells a default value. A debtor who does not pay is in default too: "in the event of default of …"."""
_ASKS_SINCE = re.compile(
    r"\b(?:since|(?:in|with|by|from) (?:which|what)|which|what) (?:version|release)\b"
    r"|\bwhen (?:was|were|did)\b.{0,80}\b(?:added|introduced|appear)\b"
    r"|\b(?:seit|ab|in|mit) welcher version\b|\b(?:depuis|à partir de|dans) quelle version\b",
    re.IGNORECASE,
)
_STATES_SINCE = re.compile(
    r"\b(?:since|added in|new in|introduced in|available (?:since|from)|seit|ab|depuis|ajoutée? (?:en|dans))"
    r"(?: (?:the|la|der))?(?: (?:version|release))?:? {0,2}v?\d",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;] ")
_MARKED = re.compile(r"`([^`\n]{1,80})`|(?<![\w-])(--?[A-Za-z][\w-]{0,40})")
"""Names of entries in a condition."""
_STATEMENTS = ((_ASKS_DEFAULT, _STATES_DEFAULT), (_ASKS_SINCE, _STATES_SINCE))
"""What a question asks of an entry, and how a sentence of the entry says it."""
_ASKS_MEANING = re.compile(
    r"\bwhat (?:does|do|is|are)\b.{1,100}\b(?:do|mean|for|control)\W{0,3}\Z"
    r"|\b(?:was (?:macht|bewirkt|bedeutet|steuert)|wozu|que (?:fait|signifie)|à quoi sert)\b",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(r"\A\S{1,80} \S{1,80} \S.*[.!:]\Z", re.DOTALL)
_BESIDE_NAME = find_stems(
    "default value setting option directive parameter property field flag argument version release since added "
    "introduced add introduce appear first new use uses used mean for control "
    "bewirkt macht bedeutet steuert fait signifie sert "
    "Standard standardmäßig Standardwert Vorgabe Vorgabewert Voreinstellung voreingestellt "
    "Wert Option Parameter Einstellung défaut valeur paramètre depuis"
)
"""Words of such a question that name no entry."""
_THIS_ENTRY = re.compile(
    r"\b(?:this|the) (?:option|directive|setting|parameter|property|flag|switch|keyword|command|subcommand)\b(?! of\b)"
    r"|\b(?:diese|dieser|dieses|mit dieser) (?:Option|Direktive|Einstellung|Parameter|Schalter|Befehl)\b"
    r"|\bcette (?:option|directive|commande)\b|\bce paramètre\b",
    re.IGNORECASE,
)
_THIS_READ = 200
"""Characters of a sentence in which it points to the entry that it stands in."""
_ITEM = re.compile(r"\s{0,40}[-*+•]\s")
_PARAGRAPH = re.compile(r"(?:\A|\n[ \t]*\n)[ \t]*")
_BLANK = 2
"""Ends of lines between two lines of which the second begins a paragraph."""
_GAP = re.compile(r"\S {2,40}\S")
_NAME_WORDS = 3
"""Words of a term with its description in the same line."""
_MOST_NAMED = 4
"""Words of a question that may be one name: "keep alive timeout" is `keepAliveTimeout`."""
_TOKEN = re.compile(r"[\w.$-]{1,80}")
_NAME = re.compile(r"(?:[-*+•] )?[`*\"'(\[]{0,3}(--?[A-Za-z][\w-]*|[^\W\d_][\w.$-]*)")
"""How a term or a heading begins: with the name of an entry."""
_CODE = re.compile(r"--?[A-Za-z]|[^\W\d_][\w.$-]{0,79}?(?:[\d_.$-]|(?<=[a-zß-ÿ])[A-Z])[\w.$-]{0,79}\Z")
"""A name that is no word of a language: `bodyLimit`, `max_size`."""


def list_options(text: str) -> frozenset[str]:
    """Returns the options of a command that a text names: `-s`, `--small`."""
    return frozenset(_OPTION.findall(text))


def find_entry(question: str, units: Sequence[Unit]) -> tuple[int, Unit] | None:
    """Returns the place and the words of the unit that describes the one option that a question names, with the term
    above it; None if the question names none or several, or no unit describes it. The units are the best first.
    """
    options = list_options(question)
    if len(options) != 1:
        return None
    for place, unit in enumerate(units):
        text = unit.hit.chunk.text[:READ]
        for start, end in _list_terms(text, options):
            is_first = unit.span.start <= start < unit.span.end or end <= unit.span.start == _find_next(text, end)
            if is_first and unit.span.end > end and not is_row(unit.text) and unit.span.end - start <= _LONGEST:
                span = Span(start=start, end=unit.span.end)
                return place, replace(unit, span=span, text=text[span.start : span.end])
    return None


def _list_terms(text: str, options: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yields where the terms begin and end that are one of the options."""
    for line in _LINE.finditer(text):
        found = _TERM.match(line[0])
        if found is None:
            continue
        start = line.start() + found.start(1)
        parted = _BEHIND_TERM.search(found[1])
        term = found[1][: parted.start()] if parted else found[1]
        is_term = parted is not None or len(found[1]) <= _LONGEST_TERM
        is_term &= len(term.split()) <= _TERM_WORDS and not term.endswith(".")
        if is_term and options & set(_OPTION.findall(term)):
            yield start, start + len(term)


def _find_next(text: str, end: int) -> int:
    """Returns where the first word behind a place begins."""
    return end + len(text[end:]) - len(text[end:].lstrip())


def has_entry(option: str, hit: Hit) -> bool:
    """Returns whether a passage has the entry of an option."""
    return any(True for _ in _list_terms(hit.chunk.text[:READ], frozenset({option})))


def find_implied_option(sentence: str) -> str:
    """Returns the option whose entry a sentence leads to: "The option implies --partial"; "" if it leads to none."""
    found = _IMPLIES.search(sentence)
    return found[1] if found else ""


def find_implied_entry(units: Sequence[Unit]) -> tuple[int, Unit] | None:
    """Returns the place and the best unit of the passage with the entry that the best unit leads to, if it is among the
    next ones; None if there is none.
    """
    option = find_implied_option(units[0].text) if units else ""
    if not option or has_entry(option, units[0].hit):
        return None
    near = ((place, unit) for place, unit in enumerate(units[1:_NEAR], start=1) if has_entry(option, unit.hit))
    return next(near, None)


def find_dated_entry(asked: Asked, units: Sequence[Unit]) -> tuple[Unit, str] | None:
    """Returns a unit below a heading that has only a name of the question and the date that is asked for, and this
    heading: `2.5.0 (2025-06-18)`. None if the question asks for no date, or has other words than the name of the
    document.
    """
    if asked.kind is not ValueKind.DATE:
        return None
    wanted = {word.stem for word in asked.words if not word.is_kind} - _RELEASED
    for unit in units:
        for part in unit.hit.chunk.heading.split(HEADING_SEPARATOR):
            named = {stem for stem in wanted & find_stems(part) if find_digits(stem)}
            if named and wanted <= find_head_stems(unit.hit) and _is_dated(part, named, wanted & _name(unit.hit)):
                return unit, part
    return None


def _name(hit: Hit) -> frozenset[str]:
    return find_stems(f"{hit.document.title}\n{hit.document.key}")


def _is_dated(heading: str, signs: Set[str], names: Set[str]) -> bool:
    """Returns whether a heading has one date, and nothing beside it but these stems of signs and of names: a version
    number is no date, and the date of `2.5.0 fixes the fault of 2019-01-01` is not the date of the version.
    """

    def leave_out(found: re.Match[str]) -> str:
        return " " if signs & find_stems(found[0]) else found[0]

    rest, dates = leave_out_dates(_SIGN.sub(leave_out, heading))
    words = [word for word in _WORD.findall(rest.casefold()) if word not in RELEASE_WORDS]
    return dates == 1 and all((stems := find_stems(word)) and stems <= names for word in words)


def find_stated(question: str, asked: Asked, units: Sequence[Unit]) -> tuple[int, Unit] | None:
    """Returns the sentence that states the default of an entry that a question names, or the version that brought it,
    and the place of the first unit of its passage; None if the question asks neither, or no entry states it.

    The entry with the longest name of the question counts, whether it states this or not. All other words of the
    question stand in the entry or in the title of its document, or, if the name is no word of a language, at least its
    other names do. What holds only on a condition that the question lacks is not stated.
    """
    says = next((says for asks, says in _STATEMENTS if asks.search(question)), None)
    return None if says is None else _find_said(question, asked, units, says)


def find_described(question: str, asked: Asked, units: Sequence[Unit]) -> tuple[int, Unit] | None:
    """Returns the first sentence below the term that a question asks the meaning of: "What does copytruncate do?"; and
    the place of the first unit of its passage. None if there is no such term, or for any other question.
    """
    return _find_said(question, asked, units, _DESCRIBES, by_term=True) if _ASKS_MEANING.search(question) else None


def _find_said(
    question: str, asked: Asked, units: Sequence[Unit], says: re.Pattern[str], *, by_term: bool = False
) -> tuple[int, Unit] | None:
    names = _list_names(question)
    found: dict[str, tuple[int, Unit] | None] = {}
    seen: set[str] = set()
    for place, unit in enumerate(units):
        if unit.hit.chunk.id in seen:
            continue
        seen.add(unit.hit.chunk.id)
        for name, entry in _list_named(unit.hit, names, by_term=by_term):
            if found.get(name) is None and _is_meant(asked, unit.hit, name, entry):
                own = None if by_term else (name, question)
                span = _find_sentence(unit.hit.chunk.text[:READ], entry, says, own)
                found[name] = None if span is None else (place, _cut(unit, span))
    return found[max(found, key=len)] if found else None


def _cut(unit: Unit, span: Span) -> Unit:
    text = unit.hit.chunk.text[span.start : span.end]
    return replace(unit, span=span, text=text, stems=find_stems(text), is_row=is_row(text))


def _list_names(question: str) -> frozenset[str]:
    """Returns what in a question may be the name of an entry, as `_squeeze` writes it."""
    words = [word for word in _TOKEN.findall(question) if _squeeze(word)]
    runs = (words[at : at + size] for size in range(1, _MOST_NAMED + 1) for at in range(len(words)))
    names = ["".join(run) for run in runs if not any(_is_beside(word) for word in run)]
    return frozenset(_squeeze(name) for whole in names for name in (whole, whole.rpartition(".")[2])) - {""}


def _is_beside(word: str) -> bool:
    return word.casefold() in SMALL_WORDS or bool(find_stems(word) & _BESIDE_NAME)


def _squeeze(name: str) -> str:
    """Returns the letters and digits of a name: `keepalivetimeout` of `keepAliveTimeout`."""
    return "".join(filter(str.isalnum, name.casefold()))


def _list_named(hit: Hit, names: Set[str], *, by_term: bool) -> Iterator[tuple[str, Span]]:
    """Yields the entries of a passage that have one of the names, unless it is the document's name: below a term, and
    unless that is wanted alone, below its heading, or paragraphs that begin with the name.
    """
    text = hit.chunk.text[:READ]
    names = names - {_squeeze(word) for word in _TOKEN.findall(f"{hit.document.title} {stem_of(hit.document.key)}")}
    heading = _NAME.match(hit.chunk.heading.rpartition(HEADING_SEPARATOR)[2])
    if heading and not by_term and _squeeze(heading[1]) in names:
        yield _squeeze(heading[1]), Span(start=0, end=len(text))
    for term, entry in (*_list_entries(text), *(() if by_term else _list_paragraphs(text))):
        name = _NAME.match(term)
        if name is None:
            continue
        own = next((own for own in (name[1], name[1].rpartition(".")[2]) if _squeeze(own) in names), "")
        if own:
            yield _squeeze(own), entry


def _list_paragraphs(text: str) -> Iterator[tuple[str, Span]]:
    """Yields the first word and the place of each paragraph that begins with a name, up to the next such paragraph."""
    starts = [found.end() for found in _PARAGRAPH.finditer(text)]
    named = [at for at in starts if (name := _NAME.match(text, at)) and _CODE.match(name[1])]
    for at, end in zip(named, [*named[1:], len(text)], strict=False):
        yield text[at:end].split(maxsplit=1)[0], Span(start=at, end=end)


def _list_entries(text: str) -> Iterator[tuple[str, Span]]:
    """Yields the term and the place of each entry of a text: a short line with deeper lines below it, or the beginning
    of a line with a description behind it. The first line of a passage has lost the space before it.
    """
    lines = [line for line in _LINE.finditer(text) if not line[0].isspace()]
    depths = [len(line[0]) - len(line[0].lstrip()) for line in lines]
    ends = [0, *(line.end() for line in lines[:-1])]
    begins = [text.count("\n", end, line.start()) >= _BLANK for end, line in zip(ends, lines, strict=True)]
    if len(lines) > 1 and depths[1]:
        depths[0] = min(depths[0], depths[1] - 1)
    for at, line in enumerate(lines):
        below = lines[at + 1][0].lstrip() if at + 1 < len(lines) else ""
        has_deeper = bool(below) and depths[at + 1] > depths[at] and not below[0].islower()
        goes_on = at > 0 and depths[at - 1] == depths[at] and not begins[at]
        term = _read_term(line[0].strip(), has_deeper=has_deeper)
        is_item = _ITEM.match(line[0]) is not None
        if term and (is_item or not goes_on):
            below_it = (n for n in range(at + 1, len(lines)) if depths[n] <= depths[at])
            last = next((n for n in below_it if not is_item or begins[n] or _ITEM.match(lines[n][0])), len(lines)) - 1
            yield term, Span(start=line.end() - len(line[0].lstrip()), end=lines[last].end())


def _read_term(line: str, *, has_deeper: bool) -> str:
    """Returns the term that a line is, or begins with; "" if there is none."""
    parted = _BEHIND_TERM.search(line)
    is_justified = parted is not None and parted[0].startswith("  ") and len(_GAP.findall(line)) > 1
    term = line if parted is None or is_justified else line[: parted.start()]
    name = _NAME.match(term)
    if name is None or _is_beside(name[1]):
        return ""
    is_short = len(term) <= _LONGEST_TERM and len(term.split()) <= (_TERM_WORDS if has_deeper else _NAME_WORDS)
    return term if is_short and (has_deeper or term != line) and not term.endswith((".", ":", ";")) else ""


def _find_sentence(text: str, entry: Span, says: re.Pattern[str], own: tuple[str, str] | None) -> Span | None:
    """Returns the first sentence of an entry that states what is asked for; None if no sentence does. With the name of
    the entry and the question, a sentence on another condition does not.
    """
    for span in split_spans(text):
        sentence = " ".join(text[span.start : span.end].split())
        if entry.start <= span.start < entry.end and (found := says.search(sentence)):
            begin = max((end.end() for end in _SENTENCE_END.finditer(sentence, 0, found.start())), default=0)
            if own is None or not _is_conditional(sentence[begin:], *own):
                return span
    return None


def _is_conditional(sentence: str, name: str, question: str) -> bool:
    """Returns whether a sentence begins with a condition that the question lacks, other than that nothing is chosen for
    the entry with this name: "If `timeout` is 0, the default is 1.".
    """
    clause = find_condition(sentence)
    marked = {_squeeze(first or second) for first, second in _MARKED.findall(clause)} - {"null", "undefined", "none"}
    is_usual = chooses_nothing(clause) and all(own.endswith(name) for own in marked)
    stems = find_stems(clause)
    return bool(clause) and not is_usual and not (stems and stems <= find_stems(question))


def _is_meant(asked: Asked, hit: Hit, name: str, entry: Span) -> bool:
    """Returns whether an entry with a name has the other words of the question."""
    own = hit.chunk.text[entry.start : entry.end]
    said = find_head_stems(hit) | _name(hit) | find_stems(own) | _BESIDE_NAME
    lacking = [word for word in asked.words if not word.is_kind and word.stem not in said]
    lacking = [word for word in lacking if _squeeze(word.written) not in name]
    written = (_NAME.match(part) for part in (own, hit.chunk.heading.rpartition(HEADING_SEPARATOR)[2]))
    is_code = any(found and _squeeze(found[1]).endswith(name) and _CODE.match(found[1]) for found in written)
    return not any(word.is_name or not is_code for word in lacking)


def name_entry(question: str, unit: Unit) -> str:
    """Returns the term of the entry that a sentence stands in, if it says "This option …", or states the default that
    is asked for, or a meaning is asked for, and lacks the name; "" for any other.
    """
    said = " ".join(unit.text.split())[:_THIS_READ]
    is_asked = _ASKS_DEFAULT.search(question) is not None and _STATES_DEFAULT.search(said) is not None
    is_asked |= _ASKS_MEANING.search(question) is not None
    if unit.is_row or not (is_asked or _THIS_ENTRY.search(said)):
        return ""
    text = unit.hit.chunk.text[:READ]
    above = [term for term, entry in _list_entries(text) if entry.start <= unit.span.start < entry.end]
    term = above[-1] if above else unit.hit.chunk.heading.rpartition(HEADING_SEPARATOR)[2]
    name = _NAME.match(term)
    is_word = name is not None and _CODE.match(name[1]) is None and _THIS_ENTRY.search(said) is not None
    is_named = name is None or (not is_word and _squeeze(name[1]) in _squeeze(said))
    return "" if is_named or len(term) > _LONGEST_TERM else term.strip("`*= ")
