"""Reads the rows of one section into a spool, and checks their order, their content and their number."""

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from app.archive.format.content import check_content, decode_base64
from app.archive.format.rows import ORDER, ArchiveEndRow, ArchiveOriginalRow, ArchiveVectorRow
from app.archive.format.section import ArchiveSection, make_spooled_rows
from core.errors import LoadFailed
from stores.sqlite import SpooledRow

__all__ = ["SectionReader"]


@dataclass
class _OriginalParts:
    """An original of which some parts were read; the next part must follow."""

    name: str
    parts: int
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    done: int = 0


class SectionReader:
    """Reads the rows of one corpus, whose first line is `line`. Unless `wanted`, rows are checked and not stored."""

    def __init__(self, section: ArchiveSection, line: bytes, *, wanted: bool) -> None:
        self.section = section
        self._wanted = wanted
        self._counts: Counter[str] = Counter()
        self._rank = 0
        self._digest = hashlib.sha256(line)
        self._original: _OriginalParts | None = None
        self._pending: defaultdict[str, list[SpooledRow]] = defaultdict(list)

    def add(self, row: Any, line: int, body: bytes) -> None:
        """Adds a row. Raises `LoadFailed` if it is out of order or contradicts itself."""
        rank = ORDER.index(row.kind)
        if rank < self._rank:
            raise LoadFailed(f"a {row.kind} row follows {ORDER[self._rank]} rows")
        self._rank = rank
        self._counts[row.kind] += 1
        self._digest.update(body)
        if self._original is not None or isinstance(row, ArchiveOriginalRow):
            body = self._decode_part(row)
        if not self._wanted:
            return
        check_content(row, self.section.settings.dimension)
        heap = self.section.heap(row.kind, row.of if isinstance(row, ArchiveVectorRow) else "")
        self._pending[heap] += make_spooled_rows(row, line, body)

    def flush(self) -> None:
        """Writes the rows that were added to the spool."""
        for heap, rows in self._pending.items():
            self.section.spool.add(heap, rows)
        self._pending.clear()

    def finish(self, row: ArchiveEndRow) -> ArchiveSection:
        """Returns the complete section. Raises `LoadFailed` if rows are missing or were changed."""
        name = self.section.name
        if self._original is not None:
            raise LoadFailed(f"the original {self._original.name} is not complete")
        for kind in ORDER[:-1]:
            there, said = self._counts[kind], row.counts.get(kind, 0)
            if there != said:
                raise LoadFailed(f"corpus {name!r} has {there:,} {kind} rows, and {said:,} were written")
        if row.sha256 != self._digest.hexdigest():
            raise LoadFailed(f"corpus {name!r} is not as it was written: the digest of its lines differs")
        self.flush()
        return replace(self.section, sha256=row.sha256)

    def describe_missing(self) -> str:
        """Returns a message about the rows that are missing if the file ends here."""
        rest = ", ".join(f"{kind} rows" for kind in ORDER[self._rank : -1])
        return f"of corpus {self.section.name!r} the rest is missing, from {rest} to its end row"

    def _decode_part(self, row: Any) -> bytes:
        """Returns the bytes of the next part of an original. Raises `LoadFailed` if another row follows."""
        if not isinstance(row, ArchiveOriginalRow):
            raise LoadFailed(f"the original {self._original.name if self._original else ''} is not complete")
        if self._original is None:
            self._original = _OriginalParts(row.content_hash, row.parts)
        original = self._original
        if (row.content_hash, row.part, row.parts) != (original.name, original.done, original.parts):
            raise LoadFailed(f"part {original.done} of the original {original.name} should be here")
        data = decode_base64(row.data)
        original.digest.update(data)
        original.done += 1
        if original.done == original.parts:
            self._original = None
            if original.digest.hexdigest() != original.name:
                raise LoadFailed("this original has a name that does not belong to its content")
        return data
