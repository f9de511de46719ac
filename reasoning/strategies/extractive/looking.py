"""Searches for a question and reads what is found, also in the words of an agreement that defines the names.

Open it to change what is searched for a question besides its own words.
"""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from core.events import SearchEvent
from core.ports.reasoning import Question
from core.ports.retrieval import Hit, Query, SearchResult
from core.text.value_kinds import find_stems
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.parties import Reworded, list_parties, reword_parties
from reasoning.strategies.extractive.following import read_and_follow
from reasoning.strategies.extractive.over_periods.missing import find_owner, is_report, names_owner
from reasoning.strategies.extractive.quoting.answering import LEAST, is_answered
from reasoning.strategies.extractive.quoting.reading import Reading
from reasoning.strategies.extractive.quoting.units import READ
from reasoning.strategies.extractive.quoting.writing import write_unit

OPENINGS = 20
"""Passages among which the opening of an agreement is looked for: mails and tables have a rare name as well."""
_SURE = 0.7
"""An answer that is right as probably is not asked for again."""
_MARGIN = 0.1
"""An answer is better than another one if it is right by this more probably."""
_TIE = 0.02
"""The same, if it has more words of the question."""
_SEVERAL = 2
_NAMING = 10
"""Passages of a report among which its company's name is looked for."""
_SIGN = re.compile(r"(?<![\w-])(?!(?:Q[1-4]|[FC]Y)[-/])[A-Z][A-Z\d]{0,9}(?:[-/][A-Z\d]{1,10}){1,4}(?![\w-])")
"""What a contract, a device or a case is called by: `SC-2022-009`, and not `Q3-2023`."""
_FEWEST_DIGITS = 3
"""Digits of a sign; `UTF-8` and `B-52` are called so by everybody."""
_SEPARATORS = re.compile(r"[\W_]+")
_OPENING = (
    "agreement between parties: the Landlord, the Tenant, the Employer, the Employee, the Supplier, the Customer:"
)


@dataclass(frozen=True, kw_only=True)
class Look:
    """A search with a question, or with the question of one `side`, and what was read. `is_version`: the side is a
    version of a document, whose passages alone were searched. `note`: the question was asked in other words.
    """

    question: str
    side: str
    hits: tuple[Hit, ...]
    reading: Reading
    seconds: float
    is_version: bool = False
    note: str = ""

    def prefer_side(self) -> "Look":
        """Returns the look with the units of passages that have the side's name as their title first, and then units of
        passages that have it in title, headings, file name or the columns of a table: other passages only mention it.
        """
        name = find_stems(self.side)
        units, reading = self.reading.units, self.reading
        heads = [
            (
                find_stems(unit.hit.document.title) != name,
                not name <= find_stems(f"{find_heads(unit.hit)}\n{unit.columns}"),
            )
            for unit in units
        ]
        order = sorted(range(len(units)), key=heads.__getitem__)
        ordered = replace(reading, units=tuple(units[at] for at in order), features=reading.features[order])
        return replace(self, reading=ordered, side=self._name_side())

    def _name_side(self) -> str:
        """Returns the name of the side as the question and a title or heading write it: `Macy's`, and `Norwick` of
        "Norwick's sales".
        """
        name = f"{self.side}'s"
        at = self.question.replace("’", "'").find(name)
        heads = "\n".join(map(find_heads, self.hits)).replace("’", "'").casefold()
        return self.question[at : at + len(name)] if at >= 0 and name.casefold() in heads else self.side

    @property
    def answer(self) -> str:
        units = self.reading.units[:1]
        return write_unit(self.question, units[0]) if units else ""

    @property
    def is_about_side(self) -> bool:
        """Whether the passage of the best unit names the side, or is of it."""
        if self.is_version:
            return True
        hit = self.reading.units[0].hit
        return find_stems(self.side) <= find_stems(f"{find_heads(hit)}\n{hit.chunk.text[:READ]}")


async def search_and_read(
    backends: ReasoningBackends, query: Query, trace: Trace, *, step: str, side: str = ""
) -> Look:
    """Searches with the query and reads what is found, also where a passage refers to another place of its document."""
    began = time.monotonic()
    first = await backends.searcher.search(query, trace)
    trace.emit(SearchEvent(query=query.text, searcher=backends.searcher_name, hits=first.hits, step=step))

    async def read(found: SearchResult, query: Query) -> Searched:
        async def search(wanted: str, documents: frozenset[str], k: int) -> Sequence[Hit]:
            within = replace(query, text=wanted, documents=documents, k=k, private=True)  # words of a passage
            return (await backends.searcher.search(within, trace)).hits

        follow = None if query.parts else search
        read, reading = await read_and_follow(backends, query.corpus, query.text, found, trace, follow)
        return Searched(text=query.text, found=read, reading=reading)

    async def search_openings(text: str) -> Sequence[Hit]:
        wider = replace(query, text=text, k=OPENINGS, web=False)
        return (await backends.searcher.search(wider, trace)).hits

    async def search_again(reworded: Reworded) -> Searched:
        if query.parts:
            again = replace(query, text=reworded.text, private=True)
            return await read(await backends.searcher.search(again, trace), again)
        within = replace(query, text=reworded.rest, documents=reworded.documents, private=True)
        return await read(add_hits(await backends.searcher.search(within, trace), first, reworded), within)

    taken = await search_reworded(await read(first, query), search_openings, search_again, trace)
    hits = taken.found.hits
    if hits != first.hits:
        trace.emit(SearchEvent(query=taken.text, searcher=backends.searcher_name, hits=hits, step=step))
    seconds = time.monotonic() - began
    return Look(question=taken.text, side=side, hits=hits, reading=taken.reading, seconds=seconds, note=taken.note)


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The text of a question, what was found for it, what was read, and a note if it was asked in other words."""

    text: str
    found: SearchResult
    reading: Reading
    note: str = ""


async def search_reworded(
    first: Searched,
    search_openings: Callable[[str], Awaitable[Sequence[Hit]]],
    search: Callable[[Reworded], Awaitable[Searched]],
    trace: Trace,
) -> Searched:
    """Returns what is found and read for the question in the words of an agreement, followed by the first hits.

    Returns `first` if no agreement defines the names of the question, if two of them answer as probably, or if the
    first reading is better. `search_openings` finds `OPENINGS` passages. The words of an agreement are words of a
    passage, which `search` must not send to the web.
    """
    parties = list_parties(first.text) if first.reading.asked.is_question else ()
    agreements = reword_parties(first.text, first.found.hits) if parties else ()
    if parties and (agreements or first.reading.right < _SURE):
        openings = await search_openings(f"{_OPENING} {' and '.join(parties)}")
        agreements = reword_parties(first.text, (*first.found.hits, *openings))
    asked = [(reworded, await search(reworded)) for reworded in agreements]
    chosen = _choose_agreement(asked)
    if chosen is None or not _displaces(first, *chosen):
        return first
    reworded, again = chosen
    trace.note(reworded.note)
    hits = tuple({hit.chunk.id: hit for hit in (*again.found.hits, *first.found.hits)}.values())
    return replace(again, text=reworded.text, found=replace(again.found, hits=hits), note=reworded.note)


def add_hits(found: SearchResult, first: SearchResult, reworded: Reworded) -> SearchResult:
    """Returns what is found in an agreement, with its passages that were found first, for the question as it was."""
    of_agreement = [hit for hit in first.hits if hit.document.id in reworded.documents]
    return replace(found, hits=tuple({hit.chunk.id: hit for hit in (*found.hits, *of_agreement)}.values()))


def _choose_agreement(asked: Sequence[tuple[Reworded, Searched]]) -> tuple[Reworded, Searched] | None:
    """Returns the question in the words of the agreement that answers it; None if another one answers as probably."""
    if len(asked) < _SEVERAL:
        return next(iter(asked), None)
    best, second, *_ = sorted(asked, key=lambda item: -item[1].reading.right)
    is_clear = best[1].reading.right >= second[1].reading.right + _MARGIN
    return best if _answers(best[1]) and (is_clear or not _answers(second[1])) else None


def _displaces(first: Searched, reworded: Reworded, again: Searched) -> bool:
    """Returns whether the reading of an agreement is better than the first one.

    If the first one quotes another document, such as a report of a company that is a party as well, the agreement has
    to say more of what is asked, and tells nothing of what a single party did. If none of them answers, the agreement
    is nearer only if nothing read has the name, or if the question names both parties.
    """
    answers, right = _answers(again), again.reading.right
    units = first.reading.units
    is_of_others = bool(units) and units[0].hit.document.id not in reworded.documents
    if is_of_others and reworded.is_past and reworded.parties < _SEVERAL:
        return False
    if not _answers(first):
        lacking = {word.casefold() for word in first.reading.lacking}
        is_between = reworded.parties >= _SEVERAL or not reworded.names.isdisjoint(lacking)
        is_near = is_between or not is_of_others
        return is_near or (answers and _count_lacking(again, reworded) <= _count_lacking(first, reworded))
    if not answers or first.reading.right >= _SURE > right:
        return False
    if not is_of_others:
        return True
    if reworded.parties >= _SEVERAL:
        return right >= first.reading.right
    says_more = _count_lacking(again, reworded) < _count_lacking(first, reworded)
    return right >= first.reading.right + (_TIE if says_more else _MARGIN)


def _answers(searched: Searched) -> bool:
    return is_answered(searched.reading, LEAST, sure=False)


def _count_lacking(searched: Searched, reworded: Reworded) -> int:
    """Returns how many words of the question no quote has, apart from the names."""
    return sum(word.casefold() not in reworded.names for word in searched.reading.lacking)


def find_heads(hit: Hit) -> str:
    return f"{hit.document.title}\n{hit.chunk.heading}\n{hit.document.key}"


async def find_unnamed(backends: ReasoningBackends, question: Question, look: Look, trace: Trace) -> str:
    """Returns the company whose figures a question asks for, if the best unit is of a report without its name."""
    owner, units = find_owner(question.text), look.reading.units
    best = units[0].hit if units else None
    if not owner or best is None or best.url or question.parts or not is_report(best.document):
        return ""
    if names_owner(owner, look.hits):
        return ""
    of_report = frozenset({best.document.id})
    query = Query(corpus=question.corpus, text=owner, k=_NAMING, documents=of_report, private=False)
    return "" if names_owner(owner, (await backends.searcher.search(query, trace)).hits) else owner


async def find_missing_sign(backends: ReasoningBackends, question: Question, look: Look, trace: Trace) -> str:
    """Returns the first sign of the question, such as the number of a contract, that nothing has; '' if there is none.
    What has it may be below the hits of the question, so the sign is searched for alone.
    """
    sign = find_sign_without(question.text, look.hits)
    if not sign:
        return ""
    query = Query(
        corpus=question.corpus,
        text=sign,
        k=_NAMING,
        documents=question.documents,
        parts=question.parts,
        masked=question.masked,
        private=False,
    )
    return sign if find_sign_without(sign, (await backends.searcher.search(query, trace)).hits) else ""


def find_sign_without(question: str, hits: Sequence[Hit]) -> str:
    """Returns the first sign of the question that no hit has, however it is separated; '' if there is none."""
    texts = [_SEPARATORS.sub("", f"{find_heads(hit)} {hit.chunk.text}").casefold() for hit in hits]
    for sign in _SIGN.findall(question):
        is_sign = sum(map(str.isdigit, sign)) >= _FEWEST_DIGITS
        if is_sign and not any(_SEPARATORS.sub("", sign).casefold() in text for text in texts):
            return str(sign)
    return ""
