"""`Assets`: the files of the web page, which one process reads, hashes and compresses once.

A file has the address `/page/{hash}/{name}`. The hash covers all files, so that a browser keeps each address for ever,
and a page never mixes files of two versions.
"""

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

__all__ = ["INDEX", "Asset", "Assets", "load_assets"]

INDEX = "index.html"
"""The document of every view. It names files as `/page/-/main.js`, and `-` is replaced by the hash."""

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".license": "text/plain; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
    "": "text/plain; charset=utf-8",  # LICENSE
}
_UNKNOWN = "application/octet-stream"
_HASH_LENGTH = 16
_LEVEL = 9
_WORTH = 0.9
"""A compressed form that is not smaller than this part of the file is not kept: fonts and images are compressed."""


@dataclass(frozen=True)
class Asset:
    """One file as it is sent."""

    media_type: str
    content: bytes

    @cached_property
    def compressed(self) -> bytes | None:
        """The content with gzip; None where that saves nothing."""
        packed = gzip.compress(self.content, _LEVEL, mtime=0)
        return packed if len(packed) < _WORTH * len(self.content) else None


@dataclass(frozen=True)
class Assets:
    """`files` has the files by their path, without the index."""

    hash: str
    index: Asset
    files: Mapping[str, Asset]

    @classmethod
    def read(cls, folder: Traversable) -> "Assets":
        """Reads all files of a folder except hidden files. Raises `FileNotFoundError` if it has no index."""
        contents = dict(sorted(_walk(folder, "")))
        if INDEX not in contents:
            raise FileNotFoundError(f"the web page has no {INDEX}")
        summed = hashlib.sha256()
        for name, content in contents.items():
            for part in (name.encode(), content):
                summed.update(len(part).to_bytes(8, "big") + part)
        hash = summed.hexdigest()[:_HASH_LENGTH]
        index = contents.pop(INDEX).replace(b"/page/-/", f"/page/{hash}/".encode())
        files = {name: Asset(_type_of(name), content) for name, content in contents.items()}
        return cls(hash, Asset(_type_of(INDEX), index), files)


@lru_cache(maxsize=1)
def load_assets() -> Assets:
    """Returns the files of the page."""
    return Assets.read(resources.files(__package__).joinpath("files"))


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_bytes()


def _type_of(name: str) -> str:
    return _TYPES.get(PurePosixPath(name).suffix.lower(), _UNKNOWN)
