"""A section while its rows come in: each in its place, contradicting neither itself nor what was announced."""

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from app.archive.format.content import check_content, decoded
from app.archive.format.rows import ORDER, EndRow, OriginalRow, VectorRow
from app.archive.format.section import Section, as_spooled
from core.errors import LoadFailed
from stores.sqlite import SpooledRow

__all__ = ["Filling"]


@dataclass
class _Original:
    """Of which the next part is expected."""

    name: str
    parts: int
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    done: int = 0


class Filling:
    """Takes the rows of one corpus, of which `line` is the first. With `wanted` false they are only looked at."""

    def __init__(self, section: Section, line: bytes, *, wanted: bool) -> None:
        self.section = section
        self._wanted = wanted
        self._counts: Counter[str] = Counter()
        self._rank = 0
        self._digest = hashlib.sha256(line)
        self._original: _Original | None = None
        self._pending: defaultdict[str, list[SpooledRow]] = defaultdict(list)

    def take(self, row: Any, line: int, body: bytes) -> None:
        """Raises `LoadFailed` where the row cannot be what was written here."""
        rank = ORDER.index(row.kind)
        if rank < self._rank:
            raise LoadFailed(f"a {row.kind} row stands behind {ORDER[self._rank]} rows")
        self._rank = rank
        self._counts[row.kind] += 1
        self._digest.update(body)
        if self._original is not None or isinstance(row, OriginalRow):
            body = self._part(row)
        if not self._wanted:
            return
        check_content(row, self.section.settings.dimension)
        heap = self.section.heap(row.kind, row.of if isinstance(row, VectorRow) else "")
        self._pending[heap] += as_spooled(row, line, body)

    def flush(self) -> None:
        for heap, rows in self._pending.items():
            self.section.spool.add(heap, rows)
        self._pending.clear()

    def end(self, row: EndRow) -> Section:
        """The section, whole; raises `LoadFailed` where it is not what was written."""
        name = self.section.name
        if self._original is not None:
            raise LoadFailed(f"the original {self._original.name} is not whole")
        for kind in ORDER[:-1]:
            there, said = self._counts[kind], row.counts.get(kind, 0)
            if there != said:
                raise LoadFailed(f"corpus {name!r} has {there:,} {kind} rows, and {said:,} were written")
        if row.sha256 != self._digest.hexdigest():
            raise LoadFailed(f"corpus {name!r} is not as it was written: the digest of its lines differs")
        self.flush()
        return replace(self.section, sha256=row.sha256)

    @property
    def missing(self) -> str:
        """What a file lacks that ends here."""
        rest = ", ".join(f"{kind} rows" for kind in ORDER[self._rank : -1])
        return f"of corpus {self.section.name!r} the rest is missing, from {rest} to its end row"

    def _part(self, row: Any) -> bytes:
        """The bytes of an original's next part; raises `LoadFailed` where another row, or another part, comes."""
        if not isinstance(row, OriginalRow):
            raise LoadFailed(f"the original {self._original.name if self._original else ''} is not whole")
        if self._original is None:
            self._original = _Original(row.content_hash, row.parts)
        original = self._original
        if (row.content_hash, row.part, row.parts) != (original.name, original.done, original.parts):
            raise LoadFailed(f"part {original.done} of the original {original.name} should be here")
        data = decoded(row.data)
        original.digest.update(data)
        original.done += 1
        if original.done == original.parts:
            self._original = None
            if original.digest.hexdigest() != original.name:
                raise LoadFailed("this original has a name that does not belong to its content")
        return data
