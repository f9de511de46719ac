"""A file read to its end and put aside: nothing is written anywhere before all of it is known to be whole."""

from collections.abc import Callable, Iterator
from pathlib import Path

from app.archive.filling import Filling
from app.archive.format.lines import read_lines
from app.archive.format.rows import FORMAT, BackupEndRow, BackupRow, CorpusRow, EndRow, parse_row
from app.archive.format.section import Section
from core.corpora import check_corpus_name
from core.errors import InvalidInput, LoadFailed
from stores.sqlite import Spool

__all__ = ["Gathering"]

_STEP = 2000
_STEP_BYTES = 16 * 1024 * 1024


class Gathering:
    """Reads one file. `wanted` tells by name which corpora are put aside; the others are only looked at.
    `names` are those of all.
    """

    def __init__(self, path: Path, spool: Spool, wanted: Callable[[str], bool] = lambda _: True) -> None:
        self.path = path
        self.sections: list[Section] = []
        self.names: list[str] = []
        self._spool = spool
        self._wanted = wanted
        self._open: Filling | None = None
        self._backup: BackupRow | None = None
        self._ended = False

    def steps(self) -> Iterator[int]:
        """Read on; gives the number of the last line now and then. Raises `LoadFailed` where something is wrong."""
        size, line = 0, 0
        for line, body in read_lines(self.path):
            try:
                self._take(line, body)
            except LoadFailed as error:
                cut = "" if body.endswith(b"\n") else "; the file ends here, so it seems to have been cut"
                raise LoadFailed(f"{self.path} line {line}: {error}{cut}") from error
            size += len(body)
            if line % _STEP == 0 or size > _STEP_BYTES:
                if self._open is not None:
                    self._open.flush()
                size = 0
                yield line
        self._check_whole(line)
        self._spool.seal()
        yield line

    def _take(self, line: int, body: bytes) -> None:
        row = parse_row(body)
        if isinstance(row, CorpusRow | BackupRow | BackupEndRow):
            self._outside(row, body)
        elif self._open is None:
            raise LoadFailed(f"a {row.kind} row stands outside of any corpus")
        elif isinstance(row, EndRow):
            whole = self._open.end(row)
            self._open = None
            self.names.append(whole.name)
            if self._wanted(whole.name):
                self.sections.append(whole)
        else:
            self._open.take(row, line, body)

    def _outside(self, row: CorpusRow | BackupRow | BackupEndRow, body: bytes) -> None:
        if self._open is not None:
            raise LoadFailed(f"a {row.kind} row stands within corpus {self._open.section.name!r}")
        if self._ended or (self.names and self._backup is None):
            raise LoadFailed("something follows the end")
        if isinstance(row, BackupEndRow):
            if row.corpora != self.names or self._backup is None:
                raise LoadFailed(f"corpora are missing: {', '.join(row.corpora)} should be here")
            self._ended = True
            return
        if row.format != FORMAT:
            raise LoadFailed(f"this is format {row.format}, and this release reads {FORMAT}; use a newer release")
        if isinstance(row, CorpusRow):
            self._begin(row, body)
        elif self._backup is not None:
            raise LoadFailed("a second backup begins here; restore one file at a time")
        else:
            self._backup = row

    def _begin(self, row: CorpusRow, body: bytes) -> None:
        try:
            check_corpus_name(row.name)
        except InvalidInput as error:
            raise LoadFailed(str(error)) from error
        if row.name in self.names:
            raise LoadFailed(f"corpus {row.name!r} is here twice")
        section = Section(
            path=self.path,
            number=len(self.names),
            name=row.name,
            settings=row.corpus_settings,
            generation=row.generation,
            sha256="",
            spool=self._spool,
        )
        self._open = Filling(section, body, wanted=self._wanted(row.name))

    def _check_whole(self, line: int) -> None:
        """At the end of the file: what is missing is named."""
        if self._open is not None:
            missing = self._open.missing
        elif self._backup is not None and not self._ended:
            names = [name for name in self._backup.corpora if name not in self.names]
            missing = (f"the corpora {', '.join(names)}" if names else "the last row") + " and the end are missing"
        elif not self.names and self._backup is None:
            raise LoadFailed(f"{self.path} is empty; it holds no corpus")
        else:
            return
        raise LoadFailed(f"{self.path} was cut after line {line:,}: {missing}; write or copy the file again")
