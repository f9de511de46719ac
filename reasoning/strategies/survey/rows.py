"""The rows of a survey: what was found in each document, which copies and versions count once, and the sums.

Only rows that are shown keep their passages, so the memory of a survey does not grow with the corpus.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.corpora import Corpus
from core.documents import Chunk, DocumentRef
from core.passage_context.tables import is_row
from core.text.titles import family_of, has_status, order_of_marks
from reasoning.strategies.extractive.quoting.units import is_record
from reasoning.strategies.survey.judging import READ, Finding, Verdict

_PERIOD = re.compile(r"(?:19|20)\d\d|[qmd]\d{1,2}")
"""Marks of years, quarters, months and days: the report of another quarter is another report."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A document with its verdict. `finding` is None for a document beyond the rows that are shown, and for a document
    that was replaced while it was read.

    `opinion` is what a language model said: "yes", "no" or "unclear", '' if it was not asked or did not say.

    `content` is equal for documents of equal text, b"" if the text was not read whole. `likeness` is equal for
    documents that may be of equal text.

    `had_rows` and `was_of_table` keep what the passage showed of a row that is not shown.
    """

    corpus: Corpus
    document: DocumentRef
    verdict: Verdict
    finding: Finding | None
    likeness: tuple[int, bytes] = (0, b"")
    content: bytes = b""
    opinion: str = ""
    had_rows: bool = False
    was_of_table: bool = False

    @property
    def is_of_table(self) -> bool:
        """Whether the document counts by a row of a table, which may have more such rows."""
        return self.was_of_table or (self.finding is not None and _is_row(self.finding.quote))

    @property
    def has_rows(self) -> bool:
        """Whether the passage has rows of a table."""
        return self.had_rows or (
            self.finding is not None and any(map(_is_row, self.finding.chunk.text[:READ].split("\n")))
        )

    def without_passage(self) -> "Row":
        """Returns the row of a document that is counted and not shown."""
        document = DocumentRef(id=self.document.id, key=self.document.key, title=self.document.title, metadata={})
        return replace(self, finding=None, document=document, had_rows=self.has_rows, was_of_table=self.is_of_table)


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Rows of which each document counts, and how many copies and older versions are counted with them, by row."""

    rows: tuple[Row, ...] = ()
    copies: Mapping[str, int] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=dict)


@dataclass(kw_only=True)
class Sums:
    """How many documents were read, by verdict, and how many lack words of the question (`lacking`).

    `unread` documents could match, and were left when the survey ended; `stopped` tells why, '' if it read all.
    `kind_unknown`: no document is of the kind that the question names, so that documents of any kind count.

    `model` is the name of the language model, '' without one. `asked` documents were shown to it, of which it
    `confirmed` some and `denied` others; `unasked` tells why it was not shown all undecided documents, '' if it was.
    """

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    lacking: int = 0
    unread: int = 0
    stopped: str = ""
    kind_unknown: bool = False
    model: str = ""
    asked: int = 0
    confirmed: int = 0
    denied: int = 0
    unasked: str = ""

    @property
    def read(self) -> int:
        return self.verdicts.total()

    @property
    def candidates(self) -> int:
        return self.read + self.unread

    @property
    def decided(self) -> float:
        """The share of the documents that could match on which the survey has decided; 1 if no document could."""
        if not self.candidates:
            return 1.0
        return (self.read - self.verdicts[Verdict.UNDECIDED]) / self.candidates


def _is_row(line: str) -> bool:
    return is_row(line) or is_record(line)


def fingerprint(chunks: Iterable[Chunk]) -> bytes:
    """Returns a number of the texts of passages in their order, equal for equal texts."""
    found = hashlib.blake2b(digest_size=16)
    for chunk in chunks:
        found.update(chunk.text.encode("utf-8", "surrogatepass"))
        found.update(b"\0")
    return found.digest()


def merge_versions(rows: Sequence[Row]) -> Copies:
    """Returns the rows without copies, and without older versions of a document that is among them, in their order.

    Of copies the first counts. Reports of several periods are no versions of one another.
    """
    first: dict[bytes, Row] = {}
    copies = Counter[str]()
    for row in rows:
        if row.content and row.content in first:
            copies[first[row.content].document.id] += 1
        else:
            first[row.content or row.document.id.encode()] = row
    families = defaultdict[tuple[str, frozenset[str]], list[tuple[Row, frozenset[str]]]](list)
    for row in first.values():
        family, marks = family_of(row.document.key, row.document.title)
        if family and marks:
            periods = frozenset(mark for mark in marks if _PERIOD.fullmatch(mark))
            families[f"{row.corpus.id}\0{family}", periods].append((row, marks - periods))
        elif family:
            families[f"{row.corpus.id}\0{family}", frozenset()].append((row, frozenset()))
    older = dict[str, str]()
    for members in families.values():
        if any(has_status(marks) for _, marks in members):
            versions = members
        else:
            versions = [member for member in members if member[1]]
        orders = {order_of_marks(marks) for _, marks in versions}
        if len(orders) > 1:
            newest = max(versions, key=lambda member: order_of_marks(member[1]))[0]
            older |= {row.document.id: newest.document.id for row, _ in versions if row is not newest}
    kept = tuple(row for row in first.values() if row.document.id not in older)
    return Copies(rows=kept, copies=copies, versions=Counter(older.values()))
