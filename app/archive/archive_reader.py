"""Reads an archive into a spool. Stores are written only after the whole archive was read and checked."""

from collections.abc import Callable, Iterable
from typing import Any

from app.archive.format.lines import Line
from app.archive.format.rows import (
    FORMAT,
    ArchiveBackupEndRow,
    ArchiveBackupRow,
    ArchiveCorpusRow,
    ArchiveEndRow,
    parse_row,
)
from app.archive.format.section import ArchiveSection
from app.archive.section_reader import SectionReader
from core.corpora import check_corpus_name
from core.errors import InvalidInput, LoadFailed
from stores.sqlite import Spool

__all__ = ["ArchiveReader"]

_NO_CORPUS = "no exported corpus begins with this line; a canonical export, or a part of an export, cannot be read"


class ArchiveReader:
    """Reads one archive. `source` names it in messages: the path of a file, or the body of a request.

    `wanted` says by name which corpora are stored in the spool; the others are only checked. `sections` are the stored
    corpora, `names` the names of all.
    """

    def __init__(self, source: str, spool: Spool, wanted: Callable[[str], bool] = lambda _: True) -> None:
        self.source = source
        self.sections: list[ArchiveSection] = []
        self.names: list[str] = []
        self.line = 0
        self._spool = spool
        self._wanted = wanted
        self._open: SectionReader | None = None
        self._backup: ArchiveBackupRow | None = None
        self._ended = False

    def add(self, lines: Iterable[Line]) -> None:
        """Adds the next lines. Raises `LoadFailed`, with the number of the line, if one is damaged."""
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
        self._open = SectionReader(section, body, wanted=self._wanted(row.name))


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
