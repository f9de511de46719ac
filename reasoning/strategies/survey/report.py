"""The answer of a survey: the count, the list with a passage for each document, and what the survey covers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.documents import Span
from core.ports.reasoning import Answer, Citation, Quote, Support, Unsupported
from core.ports.retrieval import Hit
from core.text.shortening import shorten
from reasoning.citations.markers import make_citation
from reasoning.strategies.survey.judging import Verdict
from reasoning.strategies.survey.plan import Plan
from reasoning.strategies.survey.rows import Copies, Row, Sums

__all__ = ["OTHERS", "describe_coverage", "write_answer"]

OTHERS = 20
"""Documents that are shown of each kind that does not count: undecided, or saying the opposite."""
_LONGEST_QUOTE = 300
_LONGEST_TITLE = 120
_SURE = 0.7
"""With a smaller share of decided documents, a request that wants only sure answers gets an abstention."""
_LABEL = "Surveyed by words: no language model read the passages."
_OPINIONS = {
    "yes": " (a language model says yes, and names no sentence that shows it)",
    "no": "",
    "unclear": " (a language model cannot tell)",
}
_DISPUTED = " (another passage of it says the opposite)"
_NOTHING_ASKED = "The question names neither words that documents could say nor a kind of documents."


@dataclass(kw_only=True)
class _Text:
    """The text while it is written, with its citations. A passage has one marker."""

    text: str = ""
    citations: list[Citation] = field(default_factory=list)
    _markers: dict[str, int] = field(default_factory=dict)

    def add(self, words: str) -> None:
        self.text += f"\n\n{words}" if self.text else words

    def add_row(self, head: str, row: Row, copies: str) -> None:
        title = shorten(row.document.title or row.document.key, _LONGEST_TITLE)
        self.add(f"{head} {title}{copies}")
        finding = row.finding
        if finding is None or not finding.quote.strip():
            return
        marker = self._markers.setdefault(finding.chunk.id, len(self._markers) + 1)
        self.text += ": “"
        start = len(self.text)
        self.text += shorten(finding.quote, _LONGEST_QUOTE)
        span = Span(start=start, end=len(self.text))
        self.text += f"” [{marker}]{_DISPUTED if finding.is_disputed else ''}"
        if row.verdict is Verdict.UNDECIDED:
            self.text += _OPINIONS.get(row.opinion, "")
        hit = Hit(chunk=finding.chunk, document=row.document, score=1.0, corpus=row.corpus.name)
        self.citations.append(make_citation(marker, Quote(hit=hit, text=finding.quote, span=finding.span), span))


def write_answer(
    plan: Plan,
    counted: Copies,
    rows: Mapping[Verdict, Sequence[Row]],
    sums: Sums,
    *,
    denied: Sequence[Row],
    most: int,
    unsupported: Unsupported,
) -> Answer:
    """Returns the answer. `denied` are the rows on which a language model said no. It abstains if no document counts.

    With `abstain` it also does so if the survey stopped early, decided on too few documents, left a part of the
    question out, or lists documents by what no passage states.
    """
    if plan.is_empty:
        return Answer(text=_NOTHING_ASKED, reasoner="survey", abstained=True)
    written = _Text()
    support = Support.INFERRED if plan.is_absence else Support.QUOTED
    doubtful = plan.is_absence or plan.unit or plan.unread or sums.stopped or sums.decided < _SURE
    is_withheld = unsupported is Unsupported.ABSTAIN and bool(doubtful)
    written.add(_count(plan, counted))
    listed = counted.rows[:most]
    for number, row in enumerate(listed, start=1):
        written.add_row(f"{number}.", row, _describe_copies(counted, row))
    if len(counted.rows) > len(listed):
        written.add(f"… and {len(counted.rows) - len(listed):,} more.")
    verdicts = sums.verdicts
    _add_others(
        written, "Not counted, because a passage says the opposite", rows[Verdict.OPPOSITE], verdicts[Verdict.OPPOSITE]
    )
    _add_others(written, "Not counted, because a language model says no", denied, sums.denied)
    _add_others(
        written,
        "Undecided, not counted: the words are there, and not surely in this sense",
        rows[Verdict.UNDECIDED],
        verdicts[Verdict.UNDECIDED],
    )
    written.add(describe_coverage(plan, sums, counted))
    abstained = not counted.rows or is_withheld
    return Answer(
        text=written.text,
        reasoner="survey",
        citations=tuple(written.citations),
        abstained=abstained,
        support=Support.NONE if abstained else support,
        note=_note(plan, sums),
        shown=None,
    )


def _add_others(written: _Text, title: str, rows: Sequence[Row], total: int) -> None:
    if not rows:
        return
    listed = rows[:OTHERS]
    written.add(f"{title} ({total:,}):")
    for row in listed:
        written.add_row("-", row, "")
    if total > len(listed):
        written.add(f"… and {total - len(listed):,} more.")


def _count(plan: Plan, counted: Copies) -> str:
    count = len(counted.rows)
    kind = f" of the kind “{plan.kind}”" if plan.kind else ""
    documents = f"{count:,} document{'' if count == 1 else 's'}{kind}"
    if not plan.sought and not plan.phrases:
        return f"{documents}:"
    says = ("lacks" if count == 1 else "lack") if plan.is_absence else ("says" if count == 1 else "say")
    return f"{documents} {says} this{':' if count else '.'}"


def _describe_copies(counted: Copies, row: Row) -> str:
    parts = [
        f"{number} {name if number == 1 else plural}"
        for number, name, plural in (
            (counted.copies.get(row.document.id, 0), "copy", "copies"),
            (counted.versions.get(row.document.id, 0), "older version", "older versions"),
        )
        if number
    ]
    return f" (and {', '.join(parts)})" if parts else ""


def describe_coverage(plan: Plan, sums: Sums, counted: Copies) -> str:
    """Returns one sentence on what was read, which holds whatever happened during the survey."""
    could = f"ead {sums.read:,} of {sums.candidates:,} documents that "
    if plan.is_absence:
        lacking = f"{sums.lacking:,} document{' lacks' if sums.lacking == 1 else 's lack'} a word of it"
        parts = [f"{lacking}; r{could}have all"]
    else:
        parts = [f"R{could}could match"]
    parts.append(f"{sums.verdicts[Verdict.UNDECIDED]:,} undecided")
    if sums.asked:
        parts.append(
            f"a language model read {sums.asked:,} that words leave undecided: {sums.confirmed:,} count, "
            f"{sums.denied:,} do not"
        )
    if sums.unasked:
        parts.append(f"it was not asked about all of them: {sums.unasked}")
    copies, versions = sum(counted.copies.values()), sum(counted.versions.values())
    if copies:
        parts.append(f"{copies:,} {'copy is' if copies == 1 else 'copies are'} counted with their document")
    if versions:
        parts.append(f"{versions:,} older version{' is' if versions == 1 else 's are'} counted with the newest")
    if sums.stopped:
        parts.append(f"the survey stopped early: {sums.stopped}")
    return f"{'; '.join(parts)}."


def _note(plan: Plan, sums: Sums) -> str:
    parts = [f"Surveyed by words; {sums.model} read the documents that words leave undecided."]
    if not sums.asked:
        parts = [_LABEL]
    if plan.unit:
        parts.append(f"It counts documents, not “{plan.unit}”.")
    if plan.unread:
        parts.append(f"Not taken into account: “{'”, “'.join(plan.unread)}”.")
    if sums.kind_unknown:
        parts.append(f"No title, heading, key or metadata says “{plan.kind}”, so documents of any kind count.")
    if sums.decided < 1:
        parts.append(f"It decided on {sums.decided:.0%} of the documents that could match.")
    return " ".join(parts)
