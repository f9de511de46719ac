"""Reads and checks an archive in threads, before anything of it is used.

The rows of each section are read into a spool, and their order, their content and their number are checked. Stores are
written only after the whole archive was read and checked.
"""

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from app.archive.lines import Line, LineDecoder, read_batches
from app.archive.rows import (
    FORMAT,
    ORDER,
    ArchiveBackupEndRow,
    ArchiveBackupRow,
    ArchiveCorpusRow,
    ArchiveEndRow,
    ArchiveOriginalRow,
    ArchiveVectorRow,
    parse_row,
)
from app.archive.section import ArchiveSection, assemble_documents, check_content, decode_base64, make_spooled_rows
from core.corpora import check_corpus_name
from core.errors import InvalidInput, LoadFailed
from core.ports.views import VectorKind
from stores.sqlite import Spool, SpooledRow

T = TypeVar("T")

Report = Callable[[str, int, int | None], None]
"""Called with the current activity, how much of it is done, and the total (None: unknown)."""

_PIECE = 1 << 20
_ONCE = (
    *(("document", ""), ("entity", ""), ("merge", ""), ("rejection", ""), ("threshold", ""), ("schema", "")),
    ("question", ""),
    *(("vector", kind.value) for kind in VectorKind),
)
_ONCE_BY_ID = (("extraction", ""), ("original", ""))  # several rows of a document, and several parts of an original


@dataclass(frozen=True, kw_only=True)
class ArchiveSource:
    """The lines of an archive in batches, which can be read once. `name` is how messages call the archive."""

    name: str
    batches: AsyncGenerator[list[Line]]


def open_file(path: Path) -> ArchiveSource:
    return ArchiveSource(name=str(path), batches=_run_in_threads(read_batches(path)))


def open_stream(pieces: AsyncIterator[bytes], name: str, *, max_bytes: int) -> ArchiveSource:
    """Returns the archive that comes in pieces, plain or compressed. `max_bytes` limits it, decompressed."""
    return ArchiveSource(name=name, batches=_decode(pieces, LineDecoder(name, max_bytes=max_bytes)))


class ArchiveReader:
    """Reads one archive. `source` names it in messages: the path of a file, or the body of a request.

    `wanted` says by name which corpora are stored in the spool; the others are only checked. `sections` are the stored
    corpora, `names` the names of all corpora.
    """

    def __init__(self, source: str, spool: Spool, wanted: Callable[[str], bool] = lambda _: True) -> None:
        self.source = source
        self.sections: list[ArchiveSection] = []
        self.names: list[str] = []
        self.line = 0
        self._spool = spool
        self._wanted = wanted
        self._open: _SectionReader | None = None
        self._backup: ArchiveBackupRow | None = None
        self._ended = False

    def add(self, lines: Iterable[Line]) -> None:
        """Adds the next lines. Raises `LoadFailed`, with the number of the line, if a line is damaged."""
        for self.line, body in lines:
            try:
                self._add(self.line, body)
            except LoadFailed as error:
                cut = "" if body.endswith(b"\n") else "; the file ends here, so it seems to have been cut"
                raise LoadFailed(f"{self.source} line {self.line}: {error}{cut}") from error
        if self._open is not None:
            self._open.flush()

    def finish(self) -> None:
        """Raises `LoadFailed` if the archive is not complete, with what is missing."""
        if self._open is not None:
            missing = self._open.describe_missing()
        elif self._backup is not None and not self._ended:
            names = [name for name in self._backup.corpora if name not in self.names]
            missing = (f"the corpora {', '.join(names)}" if names else "the last row") + " and the end are missing"
        elif not self.names and self._backup is None:
            raise LoadFailed(f"{self.source} is empty; it contains no corpus")
        else:
            self._spool.seal()
            return
        raise LoadFailed(f"{self.source} was cut after line {self.line:,}: {missing}; write, copy or send it again")

    def _add(self, line: int, body: bytes) -> None:
        row = _parse_first_row(body) if line == 1 else parse_row(body)
        if isinstance(row, ArchiveCorpusRow | ArchiveBackupRow | ArchiveBackupEndRow):
            self._add_outside(row, body)
        elif self._open is None:
            raise LoadFailed(f"a {row.kind} row is outside of any corpus")
        elif isinstance(row, ArchiveEndRow):
            section = self._open.finish(row)
            self._open = None
            self.names.append(section.name)
            if self._wanted(section.name):
                self.sections.append(section)
        else:
            self._open.add(row, line, body)

    def _add_outside(self, row: ArchiveCorpusRow | ArchiveBackupRow | ArchiveBackupEndRow, body: bytes) -> None:
        if self._open is not None:
            raise LoadFailed(f"a {row.kind} row is within corpus {self._open.section.name!r}")
        if self._ended or (self.names and self._backup is None):
            raise LoadFailed("a row follows the end of the archive")
        if isinstance(row, ArchiveBackupEndRow):
            if row.corpora != self.names or self._backup is None:
                raise LoadFailed(f"corpora are missing: {', '.join(row.corpora)} should be here")
            self._ended = True
            return
        if row.format != FORMAT:
            raise LoadFailed(f"this is format {row.format}, and this release reads {FORMAT}; use a newer release")
        if isinstance(row, ArchiveCorpusRow):
            self._begin(row, body)
        elif self._backup is not None:
            raise LoadFailed("a second backup begins here; restore one file at a time")
        else:
            self._backup = row

    def _begin(self, row: ArchiveCorpusRow, body: bytes) -> None:
        try:
            check_corpus_name(row.name)
        except InvalidInput as error:
            raise LoadFailed(str(error)) from error
        if row.name in self.names:
            raise LoadFailed(f"corpus {row.name!r} is in the file twice")
        section = ArchiveSection(
            source=self.source,
            number=len(self.names),
            name=row.name,
            settings=row.corpus_settings,
            generation=row.generation,
            sha256="",
            spool=self._spool,
        )
        self._open = _SectionReader(section, body, wanted=self._wanted(row.name))


@asynccontextmanager
async def read_sections(
    source: ArchiveSource, report: Report, wanted: Callable[[str], bool]
) -> AsyncIterator[ArchiveReader]:
    """Yields a reader of an archive whose wanted corpora are all checked. The spooled rows last as long as the block.

    Raises `LoadFailed` with the line of the error, or with what is missing.
    """
    spool = Spool()
    try:
        reader = ArchiveReader(source.name, spool, wanted)
        async with aclosing(source.batches) as batches:
            async for batch in batches:
                await asyncio.to_thread(reader.add, batch)
                report(f"reading {source.name}, line", reader.line, None)
        await asyncio.to_thread(reader.finish)
        for section in reader.sections:
            total = section.count("document")
            async with aclosing(_run_in_threads(_check_section(section))) as steps:
                async for done in steps:
                    report(f"checking {section.name}, document", done, total)
        yield reader
    finally:
        await asyncio.to_thread(spool.close)


async def _decode(pieces: AsyncIterator[bytes], decoder: LineDecoder) -> AsyncGenerator[list[Line]]:
    waiting, size = list[bytes](), 0
    async for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE:
            async for batch in _run_in_threads(decoder.feed(b"".join(waiting))):
                yield batch
            waiting, size = [], 0
    async for batch in _run_in_threads(decoder.feed(b"".join(waiting))):
        yield batch
    if last := decoder.finish():
        yield last


def _check_section(section: ArchiveSection) -> Iterator[int]:
    """Yields how many documents are checked. Raises `LoadFailed` for rows that are repeated or belong to nothing."""
    for kind, of in (*_ONCE, *_ONCE_BY_ID):
        repeated = section.spool.find_repeated(section.heap(kind, of), by_id=(kind, of) in _ONCE_BY_ID)
        if repeated is not None:
            raise section.make_error(repeated[1], f"this {of or kind} {'vector ' if of else ''}is in the file twice")
    done = 0
    seen = {"chunk": 0, "mention": 0, "fact": 0}
    for batch in section.read_batches():
        for one in assemble_documents(section, batch):
            seen["chunk"] += len(one.chunks)
            seen["mention"] += len(one.mentions)
            seen["fact"] += len(one.facts)
        done += len(batch)
        yield done
    for kind, count in seen.items():
        if section.count(kind) != count:
            raise LoadFailed(
                f"{section.source}: {section.count(kind) - count:,} {kind} rows of corpus {section.name!r} belong to "
                "nothing in the file; it was damaged, or changed after it was written"
            )


async def _run_in_threads(steps: Iterator[T]) -> AsyncGenerator[T]:
    """Runs each step in a thread, so that an interruption takes effect between two steps."""
    while (step := await asyncio.to_thread(next, steps, None)) is not None:
        yield step


_NO_CORPUS = "no exported corpus begins with this line; a canonical export, or a part of an export, cannot be read"


def _parse_first_row(body: bytes) -> Any:
    """Returns the row of the first line. Raises `LoadFailed`."""
    try:
        row = parse_row(body)
    except LoadFailed as error:
        if body.lstrip().startswith(b'{"'):
            raise LoadFailed(f"{_NO_CORPUS} ({error})") from error
        raise
    if not isinstance(row, ArchiveCorpusRow | ArchiveBackupRow):
        raise LoadFailed(_NO_CORPUS)
    return row


@dataclass
class _OriginalParts:
    """An original of which some parts were read; the next part must follow."""

    name: str
    parts: int
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    done: int = 0


class _SectionReader:
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
