"""Lays out a folder: fetches its files from their packages, and renders manual pages as text."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.benchmarks.long_documents.fetching import DocumentsMissing, fetch
from tests.benchmarks.materials.folders.documents import read_documents

__all__ = ["lay"]

_MAN = ("man", "--local-file", "--no-hyphenation", "--no-justification", "--encoding=UTF-8")
_WIDTH = "100"


def lay(name: str, materials: Path) -> Path:
    """Returns the folder `materials/folder-NAME`, which then holds the files of the folder `name` and no others.

    Packages are downloaded only for files that `materials/packaged-NAME` lacks. Raises `DocumentsMissing`.
    """
    documents = read_documents(name)
    packaged, folder = materials / f"packaged-{name}", materials / f"folder-{name}"
    fetch(documents, packaged)
    shutil.rmtree(folder, ignore_errors=True)
    for one in documents:
        target = folder / one.file
        target.parent.mkdir(parents=True, exist_ok=True)
        if one.rendered:
            target.write_text(_render(packaged / one.file), encoding="utf-8")
        else:
            shutil.copyfile(packaged / one.file, target)
    return folder


def _render(page: Path) -> str:
    """Returns the text of a manual page, lines of a fixed width that are neither justified nor hyphenated."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": _WIDTH}
    try:
        done = subprocess.run([*_MAN, str(page)], check=True, capture_output=True, env=environment)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"") or str(error).encode()
        raise DocumentsMissing(f"{page.name} cannot be rendered: {said.decode()}; install man-db and groff") from error
    return done.stdout.decode()
