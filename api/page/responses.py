"""The responses of the web page: the document of its views, and its files.

`Assets` are the files, which one process reads, hashes and compresses once.
"""

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from http import HTTPStatus
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.page.modules import fill_modules
from core.errors import NotFound

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
        index = fill_modules(contents.pop(INDEX), contents).replace(b"/page/-/", f"/page/{hash}/".encode())
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


router = APIRouter(include_in_schema=False)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    # A browser without `Sec-Fetch-Site` names its page in `Referer`, by which the session's cookie is accepted.
    "Referrer-Policy": "same-origin",
    "Vary": "Accept-Encoding",
}
_FOR_EVER = "public, max-age=31536000, immutable"
_NOT_MODIFIED = 304


async def show_view(request: Request) -> Response:
    """Answers every address of a view with the same document, whose script reads the address."""
    assets = load_assets()
    tag = f'W/"{assets.hash}"'  # weak: the compressed form has the same
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if tag in (one.strip() for one in request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=_NOT_MODIFIED, headers={**_HEADERS, **headers})
    return _send(request, assets.index, headers)


def show_missing(request: Request) -> Response | None:
    """Returns the document of the views as a 404, for a browser that was led to an address that nothing has.

    It says so in words, with the way back. Returns None for programs, and for addresses of the API.
    """
    return _show_instead(request, HTTPStatus.NOT_FOUND, {})


def show_sign_in(request: Request, headers: Mapping[str, str]) -> Response | None:
    """Returns the document of the views as a 401, for a browser that shows no key: its script asks for one.

    Returns None for programs, which show a key or accept no HTML, and for addresses of the API.
    """
    if "authorization" in request.headers:
        return None
    return _show_instead(request, HTTPStatus.UNAUTHORIZED, headers)


def _show_instead(request: Request, status: HTTPStatus, headers: Mapping[str, str]) -> Response | None:
    is_page = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
    if not is_page or request.url.path.startswith(("/v1/", "/page/")):
        return None
    return _send(request, load_assets().index, {**headers, "Cache-Control": "no-store"}, status)


async def send_file(request: Request) -> Response:
    """Answers `/page/{hash}/{name}`. Another hash belongs to another version, whose files are not here."""
    assets = load_assets()
    asset = assets.files.get(request.path_params["name"])
    if asset is None or request.path_params["hash"] != assets.hash:
        raise NotFound("this version of the page has no such file; load the page again")
    return _send(request, asset, {"Cache-Control": _FOR_EVER})


for path in ("/", "/sign-in", "/help", "/c/{path:path}"):
    router.add_route(path, show_view, methods=["GET"])  # with HEAD; any parameter may be in the query
router.add_route("/page/{hash}/{name:path}", send_file, methods=["GET"])


def _send(request: Request, asset: Asset, headers: dict[str, str], status: int = HTTPStatus.OK) -> Response:
    content, more = asset.content, {**_HEADERS, **headers}
    if asset.compressed is not None and _accepts_gzip(request.headers.get("accept-encoding", "")):
        content = asset.compressed
        more["Content-Encoding"] = "gzip"
    more["Content-Length"] = str(len(content))
    body = b"" if request.method == "HEAD" else content
    return Response(body, status_code=status, media_type=asset.media_type, headers=more)


def _accepts_gzip(accepted: str) -> bool:
    for one in accepted.lower().split(","):
        name, _, weight = one.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
