"""Names as they are written: found in text by capitals, digits and quotes, without a model.

Both sides use it: the `pattern` extractor on passages, linking on questions (`retrieval.pagerank.name_linking`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["FUNCTION_WORDS", "NameSpan", "find_names"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MAX_WORDS = 10
"""A longer run of capitals is no name: it is the row of a table, or shouted."""

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts without capitals whose letters may stand right beside a Latin name (`我用C++写`)."""

_LETTER = rf"[^\W_{_SPACELESS}]"
_PART = rf"{_LETTER}(?:{_LETTER}|[\u0300-\u036f\u200c\u200d])*"
_TOKEN = re.compile(
    rf"(?:[^\W\d_{_SPACELESS}]\.){{2,}}(?:[^\W\d_{_SPACELESS}](?!{_LETTER}))?"  # U.S., J.R.R
    rf"|{_PART}(?:['’\-‐‑&./]{_PART})*(?:\+\+|[+#](?!\w))?"
)

_QUOTED = re.compile(
    r"\"([^\"\n]{1,100})\""
    r"|“([^“”\n]{1,100})”"
    r"|„([^„“”\n]{1,100})[“”]"
    r"|«\s?([^«»\n]{1,100}?)\s?»"
    r"|``([^`\n]{1,100}?)''"
    r"|《([^《》\n]{1,60})》"
    r"|〈([^〈〉\n]{1,60})〉"
    r"|「([^「」\n]{1,60})」"
    r"|『([^『』\n]{1,60})』"
    r"|(?<!\w)['‘](?=[^\W_])([^'‘’\n]{1,100})['’](?!\w)"
)
_SENTENCE_END = re.compile(r"[.!?…。！？,;:]$")

_CONNECTIVES = _words("""
    of de del della dei di da do dos das du des la le les el los las al ibn bin ben van von der den ter ten zu zum zur
    am auf the for af av på à
""")
"""Lower-case words that a name may hold between two capitalised ones, at most three in a row.

No "and": it joins two names more often than it stands in one (measured: 1.8 points R@5 on MuSiQue).
"""

_ABBREVIATIONS = _words("st dr mr mrs ms mt ft jr sr lt gen col prof rev sgt capt gov sen rep hon no vol")

_ARTICLES = _words("the a an")

FUNCTION_WORDS = _words("""
    a about above according across after again against all along also although am among amongst an and another any are
    around as at be because been before being below between both but by can could despite did do does doing down due
    during each either even ever every few first following for former formerly from further given had has have having
    he hence her here hers herself him himself his how however i if in including indeed initially instead into is it
    its itself just last later like list many may me meanwhile might moreover most much must my near neither never
    nevertheless no nor not now of off often on once one only or originally other our out over own per perhaps please
    prior rather recently same second see several shall she should similarly since so some sometimes soon still such
    tell than that the their them then there thereafter therefore these they third this those though three through
    throughout thus to today together too toward towards two under unless unlike until up upon us usually very via was
    we were what whatever when whence where whereas wherever whether which while who whoever whom whose why will with
    within without would yes yet you your name give find describe explain born founded located based known released
    written directed produced named called der die das dem den des ein eine einer eines einem einen er es sie und oder
    wer was wann warum welche welcher welches mit von zu im am nach bei für auf aus durch über unter vor wie wo le la
    les l un une des du il elle ils elles et ou où qui que quel quelle quels quelles dans par pour avec sur el los las
    lo uno una unos unas ella ellos ellas quién qué cuál cuándo dónde cómo con por para según il gli chi che quale
    dove quando come nel nella o os as um uma quem qual onde em no na het een de wie wat waar wanneer hoe welke en det
    den är vem vad när hur в во на и с со по за из от до к ко о об он она оно они это кто что где когда как какой
    какая какое какие ο η το οι τα στο στη στην στις ποιος ποια ποιο πού πότε και
""")
"""Words that are no names: where they have a capital, it is because a sentence begins. English first, then what else
we have met: German, French, Spanish, Italian, Portuguese, Dutch, Scandinavian, Russian, Greek.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class NameSpan:
    """A name as written, at `[start, end)` code points of the text."""

    start: int
    end: int
    form: str


def find_names(text: str) -> list[NameSpan]:
    """The names in `text`, in order, none overlapping another.

    Names are quoted strings and runs of capitalised words, with connectives between and digits behind. An article never
    leads a run, and no function word does at the beginning of a sentence: it has its capital from there.
    """
    spans: list[NameSpan] = []
    done = 0
    for quote in _QUOTED.finditer(text):
        name = _quoted_name(text, quote)
        if name is not None:
            spans.extend(_runs(text, done, quote.start()))
            spans.append(name)
            done = quote.end()
    spans.extend(_runs(text, done, len(text)))
    return spans


def _quoted_name(text: str, quote: re.Match[str]) -> NameSpan | None:
    group = quote.lastindex or 0
    start, end = quote.span(group)
    while end > start and (text[end - 1].isspace() or _SENTENCE_END.match(text[end - 1])):
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    form = text[start:end]
    if len(form.split()) > _MAX_WORDS or not any(c.isalnum() for c in form):
        return None
    return NameSpan(start=start, end=end, form=form)


def _runs(text: str, start: int, end: int) -> Iterator[NameSpan]:
    """The runs of capitalised words in `text[start:end]`."""
    run: list[re.Match[str]] = []
    pending: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text, start, end):
        word = token.group()
        previous = pending[-1] if pending else run[-1] if run else None
        if previous is not None and not _joined(text, previous, token):
            yield from _name(text, run)
            run, pending = [], []
        if any(map(str.isupper, word)) or (run and word[0].isdecimal() and not pending):
            run += [*pending, token]
            pending = []
        elif run and word in _CONNECTIVES and len(pending) < 3:
            pending.append(token)
        elif run:
            yield from _name(text, run)
            run, pending = [], []
    yield from _name(text, run)


def _joined(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    """Whether the two words may belong to one name, by what stands between them."""
    gap = text[left.end() : right.start()]
    if gap in (" ", "\u00a0", "  ", " & ", ""):
        return bool(gap)
    if gap in (". ", ".\u00a0"):
        word = left.group()
        return len(word) == 1 or word.casefold() in _ABBREVIATIONS
    # A line that was wrapped, not a heading or an item of a list.
    return gap == "\n" and left.end() - (text.rfind("\n", 0, left.end()) + 1) > 50


def _name(text: str, run: list[re.Match[str]]) -> Iterator[NameSpan]:
    """The run as a name, without the words that lead it for their sentence's sake."""
    first = 0
    while first < len(run) and _leads(run[first], begins=first > 0 or _begins_sentence(text, run[0].start())):
        first += 1
    kept = run[first:]
    if len(kept) > _MAX_WORDS:
        yield from _cells(kept)
        return
    if not kept or not any(map(str.isupper, "".join(t.group() for t in kept))):
        return
    start, end = kept[0].start(), kept[-1].end()
    if text.startswith(("'s", "’s"), end - 2):
        end -= 2
    if end - start > 1:
        yield NameSpan(start=start, end=end, form=text[start:end])


def _cells(run: list[re.Match[str]]) -> Iterator[NameSpan]:
    """Each capitalised word of a row that has lost its columns (`Montana Nebraska Nevada`), none of what is shouted."""
    for token in run:
        word = token.group()
        if len(word) > 2 and word[0].isupper() and not word.isupper() and word.casefold() not in FUNCTION_WORDS:
            yield NameSpan(start=token.start(), end=token.end(), form=word)


def _leads(token: re.Match[str], *, begins: bool) -> bool:
    word = token.group().casefold()
    return word in _ARTICLES or (begins and word in FUNCTION_WORDS)


def _begins_sentence(text: str, start: int) -> bool:
    before = text[max(start - 4, 0) : start].rstrip(" \t\u00a0\"'“‘(«„")
    return not before or before[-1] in ".!?:;…\n"
