"""Recognition of text in images of pages, by the program `tesseract` where it is installed."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import LoadFailed

if TYPE_CHECKING:
    from pypdfium2 import PdfPage


_POINTS_PER_INCH = 72
_MAX_PIXELS = 6000  # of a side


@dataclass(frozen=True, kw_only=True)
class Tesseract:
    """The program at `path`. It reads an image from standard input and writes text, and stores nothing."""

    path: str
    languages: str
    dpi: int

    def read(self, page: "PdfPage", key: str, number: int) -> list[str]:
        """Returns the lines of a page. Raises `LoadFailed` if the program fails."""
        command = [self.path, "stdin", "stdout", "-l", self.languages, "--dpi", str(self.dpi)]
        done = subprocess.run(  # noqa: S603 - a program of the system, in the confinement of this process
            command,
            input=self._render(page),
            capture_output=True,
            check=False,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
        if done.returncode:
            message = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
            raise LoadFailed(f"{key!r}: tesseract cannot read page {number} (exit code {done.returncode}): {message}")
        return [line.strip() for line in done.stdout.decode("utf-8", "replace").splitlines()]

    def _render(self, page: "PdfPage") -> bytes:
        """Returns the page as an image in grey, in the format PGM."""
        width, height = page.get_size()
        scale = min(self.dpi / _POINTS_PER_INCH, _MAX_PIXELS / max(width, height, 1.0))
        bitmap = page.render(scale=scale, grayscale=True)
        rows = bytes(bitmap.buffer)
        if bitmap.stride != bitmap.width:
            starts = range(0, bitmap.stride * bitmap.height, bitmap.stride)
            rows = b"".join(rows[start : start + bitmap.width] for start in starts)
        header = b"P5\n%d %d\n255\n" % (bitmap.width, bitmap.height)
        bitmap.close()
        return header + rows


def find_tesseract(languages: str, dpi: int) -> Tesseract | None:
    """Returns None if the program is not installed."""
    path = shutil.which("tesseract")
    return Tesseract(path=path, languages=languages, dpi=dpi) if path else None
