"""What `extractive` may quote: the sentences and rows of tables of the hits, except units that answer nothing.

A question, a heading, the header of a table, and a sentence that only repeats the question are no answers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.documents import Span
from core.passage_context import find_headed_tables, split_units
from core.passage_context.named_parts import find_release
from core.passage_context.other_words import write_out
from core.passage_context.tables import BAR, is_date, is_row, split_cells
from core.ports.retrieval import Hit
from core.text.titles import find_name_words
from core.text.value_kinds import find_digits, find_stems
from core.text.word_lists import SMALL_WORDS
from reasoning.strategies.extractive.quoting.asked import Asked
from reasoning.strategies.extractive.quoting.feet import OF_FIRM, is_foot_of_letter, is_foot_of_page, names_periods
from reasoning.strategies.extractive.quoting.wording import explains_last

_ENDS_ASKING = re.compile(
    r"[?？؟՞⁇⁈⁉‽፧\u037e](?:\[\d{1,3}\]|</\w{1,10}>|[⁰¹²³⁴-⁹]|\W)*+\Z|か\W{0,3}\Z"
    r"|[?？؟][\"'”’»]{0,2},?\s(?:\w{1,20}\s){0,2}(?:ask(?:s|ed)|wonder(?:s|ed)|fragte?n?|demanda?)\b.{0,40}\Z"
)
"""A question mark with only signs, a footnote or the end of an element behind it; or a question that somebody asked."""
_TAIL = 120
"""Characters at the end of a unit in which a question is looked for."""
_BESIDE = 2
READ = 20_000
"""Characters of a passage that are read; only passages that came with ready embeddings are longer."""
_LONGEST_HEADING = 120
_SECTION = re.compile(
    r"(?:§{1,2}|Art(?:icle|ikel)?\.?|Section|Chapter|Kapitel|Abschnitt|Chapitre|Annex|Anhang|Annexe|Exhibit|Schedule|Note)"
    r"\s{0,2}(?:\d{1,4}|[IVXLC]{1,6}|[A-Z])\b[.:–—-]?(?:\s[^\s.]{1,30}){0,7}",
    re.IGNORECASE,
)
_WRITER = re.compile(r"\b(?:I|me|we|us|ich|mir|mich|wir|uns|je|moi|nous)\b")
_LONGEST_LABEL = 60
_FIELDS = r"(?:From|To|Cc|Date|Sent|Subject|Reply-To|Von|An|Datum|Gesendet|Betreff|De|À|Date|Envoyé|Objet|Expéditeur)"
_HEAD_READ = 300
_MAIL_FIELD = re.compile(rf"(?:> ?){{0,3}}[*]{{0,2}}{_FIELDS}[*]{{0,2}}\s?: ")
_MAIL_HEAD = re.compile(
    r"(?:> ?){0,3}(?:-{2,12}\s?[^\n-]{5,40}?(?:message|Nachricht|messaggio)[^\n-]{0,20}-{2,12}\s*(?:> ?){0,3}"
    r"|[*]{0,2}(?:From|Von|De)[*]{0,2}\s?: \S"
    r"|(?:On|Am|Le)\s[^\n]{6,160}\s(?:wrote|schrieb(?:\s[^\n:]{1,80})?|a écrit)\s?:\s*\Z)",
    re.IGNORECASE,
)
"""How the head of a mail begins, also within a mail that forwards or answers it; or the line that tells who wrote."""
_GREETING = re.compile(
    r"(?:hi|hello|dear|good (?:morning|afternoon)|hallo|guten (?:tag|morgen)|liebe[rs]?|sehr geehrte[rs]?|bonjour"
    r"|chère?s?|madame|monsieur)\b[^.!?:\n]{0,60},",
    re.IGNORECASE,
)
_SENDING = frozenset(
    find_stems(
        "mail mails email message sender recipient send sent sends wrote write written writes reply replied received "
        "Absender Empfänger schreibt schrieb geschrieben gesendet schickte geschickt Nachricht "
        "expéditeur destinataire envoyé envoie écrit message courriel"
    )
)
"""Words of questions about what the head of a mail tells."""
_ANCHOR = re.compile(r"<a (?:id|name)=[^<>\n]{1,200}>(?:</a>)?\s{0,8}")
"""A place in Markdown that links lead to; it is no text."""
_CERTIFIES = re.compile(
    r"\b(?:I|we), [^;\n]{1,80}?, (?:hereby )?certify|\bhereby certif(?:y|ies)\b|\bversicher[en] (?:hiermit|an Eides)"
    r"|\b(?:je|nous),? soussignée?s?\b",
    re.IGNORECASE,
)
_PART_LABEL = re.compile(
    r"(?:\| ?)?(?:(?:%|(?:in|as a) %|(?:as a )?percentage|percent) of (?:total )?(?:net )?(?:sales|revenues?)|% change)"
    r"\s?\|",
    re.IGNORECASE,
)
"""The label of a row that tells how much of the row above is of something else, which only that row names."""
_OF_PARTS = find_stems("% percent percentage share proportion fraction ratio margin Prozent Anteil Quote part taux")
_OF_OFFICERS = re.compile(
    r"\bregistrant['’]s other certifying officer|\bI have reviewed this (?:quarterly |annual )?report on Form\b"
    r"|\b18 U\.S\.C\. Section 1350\b|\bwritten statement required by Section 906\b",
    re.IGNORECASE,
)
"""What the certificates of the officers behind a quarterly or annual report say: nothing of its business."""
_OF_CERTIFICATE = find_stems("certify certified certificate certification sign signed versichern soussigné certifie")
"""Words of questions about what the writer of a text certifies of it."""
_NUMBERED = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,3}\.?\s{1,3}[^\W\d_a-z][^\s.!?:;|]{0,30}(?:\s[^\s.!?:;|]{1,30}){0,5}")
_TEXT_BELOW = re.compile(r"\s{0,3}\n\s{0,3}(?!\W{0,3}\d{1,3}[.)])[^\W\d_a-z][^\n]{60}")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CAPTION = re.compile(
    r"(?:table|figure|fig\.|exhibit|chart|tabelle|abbildung|abb\.|tableau|tabla|figura|tabella)"
    r"\s[0-9]{1,3}(?:[.-][0-9]{1,3})?[a-z]?\s?[:.–—]\s",
    re.IGNORECASE,
)
_STATEMENT = re.compile(r"[^a-z()]{10,200}(?:\([^()]{1,120}\)\s{0,3}){1,4}")
"""The caption of a statement: capitals, and behind them `(In millions, except per share data) (Unaudited)`."""
ITEM = re.compile(r"[-*+•–·▪◦](?=\s)|\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s")
"""How an item of a list begins."""
_DEEPER = re.compile(r"[ \t]*\n[ \t]{1,40}")
"""What stands before a line that goes on with an item of a list."""
_LONGEST_ANNOUNCEMENT = _LONGEST_CAPTION = 250
_LONGEST_LIST = 800
"""Characters of a list that is quoted whole with the sentence that announces it."""
_WRAPPED = 100
"""Characters of a line at whose end a sentence may go on, although the next line begins with a capital letter."""
_SHORT = frozenset({*"abcdefghijklmnopqrstuvwxyzäöü+-✓✔✗✘×", "off", "on", "no", "yes", "n/a"})
"""Cells that are values, although they have no word that a question could lack."""
_LONGEST_ROW = 2000
_LONGEST_NAME = 60
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_COMPANY = re.compile(r"\b(?:Inc|Corp|Co|Ltd|LLC|L\.L\.C|L\.P|N\.V|B\.V|S\.A|S\.p\.A|Cie)\.\Z")
"""How the name of a company ends, and no sentence."""
_ENDS = (".", "!", "。", "！", ":", ";", "…", ",")
_ASKS = re.compile(
    r"\W{0,8}(?:(?:hi|hello|dear|hallo|bonjour)\b.{0,30}?[,:]\s{0,3})?(?:and |but |also |so )?"
    r"(?:(?:please|kindly|could|can|would|will)\b.{0,40}?\b(?:tell|let|confirm|clarify|remind|explain|advise)\b"
    r"|(?:i|we)(?: am| are| would|['’](?:m|re|d))? ?"
    r"(?:wonder|wondering|asking|(?:would like|like|want|need) to know|do(?: not|n['’]t) know)\b|any (?:idea|clue)\b"
    r"|(?:does|do) (?:any|some)(?:one|body)\b.{0,20}?\bknow\b"
    r"|bitte (?:teil|sag|lass|geb|klär|schreib)\w{1,3}\b|weiß (?:jemand|man)\b|können sie\b"
    r"|pou(?:vez|rriez|vons)[- ]vous\b|merci de (?:me|nous)\b|je (?:voudrais|veux) savoir\b|je me demande\b)"
    r".{0,40}?\b(?:who|whom|whose|when|where|how|what|which|whether|if|wer|wem|wann|wo|wie|was|welche[rsmn]?|ob"
    r"|qui|quand|où|comment|combien|quel(?:le)?s?|si)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A sentence or a row of a hit that may be quoted. `rank` is the place of the hit, from 0.

    `beside` are the stems of the two sentences before it and the two after it; `columns` names its table's columns, and
    `caption` is the line above its table.
    """

    hit: Hit
    rank: int
    span: Span
    text: str
    stems: frozenset[str]
    beside: frozenset[str]
    is_row: bool
    columns: str = ""
    caption: str = ""


def list_units(asked: Asked, hits: Sequence[Hit], most: int) -> list[Unit]:
    """Returns the units of the hits that may answer the question, in their order.

    Of more than `most`, the units with the most words of the question are kept. Words that are typed into a search box
    ask for a place, so a heading counts for them.
    """
    units = [unit for rank, hit in enumerate(hits) for unit in _list_of_hit(asked, hit, rank)]
    words = {word.stem for word in asked.words}
    having = sorted(range(len(units)), key=lambda at: -len(units[at].stems & words))
    return [units[at] for at in sorted(having[:most])]


def _list_of_hit(asked: Asked, hit: Hit, rank: int) -> Iterator[Unit]:
    text = hit.chunk.text[:READ]
    spans = list(split_spans(text))
    stems = [_read_stems(text[span.start : span.end]) for span in spans]
    _join_lists(asked, text, spans, stems)
    if asked.wanted.reason:
        _join_reasons(text, spans, stems)
    heads = find_stems(f"{hit.document.title}\n{hit.chunk.heading}")
    tables = list(find_headed_tables(hit.chunk.heading, text))
    at = 0
    is_below_header = True
    for place, span in enumerate(spans):
        while at < len(tables) and tables[at].end <= span.start:
            at += 1
        table = tables[at] if at < len(tables) and tables[at].start <= span.start else None
        words = text[span.start : span.end]
        unit = Unit(
            hit=hit,
            rank=rank,
            span=span,
            text=words,
            stems=stems[place],
            beside=frozenset[str]().union(
                *stems[max(0, place - _BESIDE) : place], *stems[place + 1 : place + 1 + _BESIDE]
            ),
            is_row=is_row(words) or is_record(words),
            columns=table.header if table else "",
            caption=_find_caption(text, table.start) if table else "",
        )
        is_below_header = is_below_header and (not unit.is_row or _names_columns(words))
        is_header = unit.is_row and (
            is_below_header
            or (table is not None and span.start < table.body)
            or _heads_records(unit)
            or names_periods(words)
        )
        is_below_header |= not unit.is_row
        if not is_header and _may_answer(asked, unit, heads):
            yield unit


def _find_caption(text: str, start: int) -> str:
    """Returns the line above a table, with nothing but space between them; '' for a row of another table."""
    line = text[max(0, start - _LONGEST_CAPTION) : start].rstrip().rpartition("\n")[2]
    return "" if is_row(line) or is_record(line) else line


def _heads_records(unit: Unit) -> bool:
    """Returns whether a row names the columns of the row below it, which has these names itself."""
    names = split_cells(unit.text)
    below = split_cells(unit.hit.chunk.text[unit.span.end : READ].lstrip().partition("\n")[0])
    return (
        len(names) > 1
        and all(cell.startswith(f"{name}: ") for name, cell in zip(names, below, strict=False))
        and len(below) == len(names)
    )


def _names_columns(row: str) -> bool:
    """Returns whether a row without a label has only names and dates."""
    label, *cells = split_cells(row)
    return not label and all(is_date(cell) or not any(map(str.isdigit, cell)) for cell in cells)


def _join_lists(asked: Asked, text: str, spans: list[Span], stems: list[frozenset[str]]) -> None:
    """Joins each announcement that has most of its list's words of the question with the list. The items stay spans of
    their own, too.
    """
    words = {word.stem for word in asked.words}
    for place, span in enumerate(spans):
        announces = text.find(":\n", span.start, span.end) >= 0 or text.endswith(":", span.start, span.end)
        if not announces or span.end - span.start > _LONGEST_ANNOUNCEMENT:
            continue
        end, last = span.end, place
        for item in spans[place + 1 :]:
            between = text[end : item.start]
            goes_on = end > span.end and ("\n" not in between or _DEEPER.fullmatch(between) is not None)
            if item.end > span.start + _LONGEST_LIST or not (goes_on or ITEM.match(text, item.start)):
                break
            end, last = item.end, last + 1
        joined = frozenset[str]().union(*stems[place : last + 1])
        if 2 * len(stems[place] & words) > len(joined & words):
            spans[place], stems[place] = Span(start=span.start, end=end), joined


def _join_reasons(text: str, spans: list[Span], stems: list[frozenset[str]]) -> None:
    """Joins each sentence that gives the reason of what the sentence before it says with that sentence, which stays a
    span of its own, too.
    """
    for place in range(len(spans) - 1, 0, -1):
        last, span = spans[place - 1 : place + 1]
        said = text[last.start : last.end]
        is_next = said.endswith(".") and "\n\n" not in text[last.end : span.start]
        if is_next and not is_row(said) and explains_last(text[span.start : span.end]):
            spans[place] = Span(start=last.start, end=span.end)
            stems[place] |= stems[place - 1]


def _read_stems(text: str) -> frozenset[str]:
    stems = find_stems(write_out(text))
    return stems | _SENDING if is_mail_head(text) else stems


def _may_answer(asked: Asked, unit: Unit, heads: frozenset[str]) -> bool:
    if not any(map(str.isalnum, _ANCHOR.sub("", unit.text))):
        return False
    if is_question(unit.text) or _GREETING.fullmatch(unit.text) or is_foot_of_page(unit.text):
        return False
    if asked.is_question and not unit.is_row and (_is_heading(unit, heads) or unit.text.endswith(":")):
        return False  # what it announces follows
    if is_mail_head(unit.text) and not asked.stems & _SENDING:
        return False
    if not asked.stems & OF_FIRM and is_foot_of_letter(unit.text):
        return False
    if asked.is_question and not asked.stems & _OF_CERTIFICATE and _is_certificate(unit):
        return False
    if unit.is_row and not asked.stems & _OF_PARTS and _PART_LABEL.match(unit.text):
        return False
    return not asked.is_open or _says_more(asked, unit) or (asked.asks_for_release and _is_of_release(unit))


def _is_of_release(unit: Unit) -> bool:
    """Returns whether the heading of a unit names a release, which the unit need not say."""
    document = unit.hit.document
    return find_release(unit.hit.chunk.heading, find_name_words(document.key, document.title))[0] != ""


def _is_certificate(unit: Unit) -> bool:
    """Returns whether a unit certifies something, or is of the officers' certificate behind a report."""
    certifies = _CERTIFIES.search(unit.text[:_TAIL]) is not None
    return certifies or _OF_OFFICERS.search(unit.hit.chunk.text[:READ]) is not None


def _says_more(asked: Asked, unit: Unit) -> bool:
    """Returns whether a unit says more than the question: it has another word or number, or names its writer."""
    has_more = not unit.stems <= asked.stems or not find_digits(unit.text) <= asked.digits
    has_cell = unit.is_row and any(cell.strip().casefold() in _SHORT for cell in unit.text.split(BAR))
    return has_more or has_cell or names_writer(unit.text)


def names_writer(text: str) -> bool:
    """Returns whether the writer of a text names himself in it: "I", "me"."""
    return _WRITER.search(text) is not None


def is_question(text: str) -> bool:
    """Returns whether a sentence asks something, with a question mark or as in "Please tell me who signed it."."""
    return _ENDS_ASKING.search(text[-_TAIL:]) is not None or _ASKS.match(text) is not None


def _is_heading(unit: Unit, heads: frozenset[str]) -> bool:
    """Returns whether a unit repeats the title or headings of its passage, is typed as a heading of Markdown, is a
    section with its name (`§ 10 Applicable law`), or the caption of a table, figure or statement, which is no sentence.

    A line that begins with `#` and has a colon may be a row of a table with a column `#`.
    """
    text = unit.text
    if _STATEMENT.fullmatch(text):
        return True
    if len(text) > _LONGEST_HEADING:
        return False
    if text.endswith(_ENDS) and not _COMPANY.search(text):
        return all(map(str.istitle, _LONG_WORD.findall(text))) and _heads_clause(unit)
    if _SECTION.fullmatch(text) or _CAPTION.match(text) or _heads_clause(unit):
        return True
    return unit.stems <= heads or (text.startswith("#") and text.lstrip("#").startswith(" ") and ":" not in text)


def _heads_clause(unit: Unit) -> bool:
    """Returns whether a line is the numbered heading of the sentences below it, and no item of a numbered list."""
    below = unit.hit.chunk.text[unit.span.end : unit.span.end + _TAIL]
    return _NUMBERED.fullmatch(unit.text.removesuffix(".")) is not None and _TEXT_BELOW.match(below) is not None


def split_spans(text: str) -> Iterator[Span]:
    """Yields the sentences and rows of a text. A label, such as `Solution:`, is joined with what it stands above, and
    the head of a mail is one unit.
    """
    last: Span | None = None
    for span in _split_lines(text):
        if last is not None and _is_one(text, last, span):
            last = Span(start=last.start, end=span.end)
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last


def _is_one(text: str, first: Span, second: Span) -> bool:
    """Returns whether two units are joined: a label and what it stands above, or fields of the head of a mail."""
    between, above, below = (
        text[first.end : second.start],
        text[first.start : first.end],
        text[second.start : second.end],
    )
    if between.count("\n") > 1 or is_row(below) or is_record(below):
        return False
    if is_mail_head(above) and "\n" in between:
        return _MAIL_FIELD.match(below) is not None
    if "\n" in between and _is_wrapped(text, first) and not ITEM.match(below):
        return True
    return above.endswith(":") and len(above) <= _LONGEST_LABEL and not is_row(above) and not is_record(above)


def _is_wrapped(text: str, span: Span) -> bool:
    """Returns whether a sentence goes on in the next line: no sign ends it, and its line is long, or its last word is a
    small word.
    """
    words = text[span.start : span.end]
    is_long = span.end - text.rfind("\n", 0, span.end) > _WRAPPED
    is_long |= words[words.rfind(" ") + 1 :] in SMALL_WORDS
    return is_long and (words[-1].isalnum() or words[-1] in ",(-–&") and not is_row(words) and not is_record(words)


def is_mail_head(text: str) -> bool:
    """Returns whether a unit tells who sent a mail, to whom and when, as the loader writes it before the text, or as
    programs write it before a mail that is forwarded or answered.
    """
    return _MAIL_HEAD.match(text[:_HEAD_READ]) is not None


def _split_lines(text: str) -> Iterator[Span]:
    """Yields the sentences and rows of a text. A line of named fields, `Country: Japan; Volts: 100`, is a row."""
    for start, end in split_units(text):
        at = start
        for line in _LINE.finditer(text, start, end):
            if is_record(line[0]):
                if text[at : line.start()].strip():
                    yield _strip(text, at, line.start())
                yield _strip(text, *line.span())
                at = line.end()
        if text[at:end].strip():
            yield _strip(text, at, end)


def is_record(line: str) -> bool:
    """Returns whether a line is a row whose cells have their names."""
    fields = line[:_LONGEST_ROW].split("; ")
    return len(fields) > 1 and 2 * sum(map(_is_field, fields)) >= len(fields) + 1


def _is_field(field: str) -> bool:
    name, colon, _ = field.partition(": ")
    return bool(colon) and 0 < len(name.strip()) <= _LONGEST_NAME


def _strip(text: str, start: int, end: int) -> Span:
    """Returns the span without the space around it, and without anchors before a sentence."""
    words = text[start:end]
    begin = start + len(words) - len(words.lstrip())
    while (anchor := _ANCHOR.match(text, begin, end)) and text[anchor.end() : end].strip():
        begin = anchor.end()
    return Span(start=begin, end=begin + len(text[begin:end].strip()))
