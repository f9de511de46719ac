"""Uploads of files as `multipart/form-data`: receiving them on disk, and reading them as documents.

- `UploadRoute`: a route that only takes such bodies, beside a route of the same path that takes JSON.
- `receive_parts`: files on disk, fields as text, both within limits.
- `parse_upload` checks manifest and fields; the files become submissions when they are iterated.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from api.schemas.documents import ManifestFileIn, UploadIn
from api.transport.bodies import count_values
from core.documents import Submission
from core.errors import InvalidInput, TooLarge, Unavailable
from core.ids import digest
from core.settings import ApiSettings
from indexer import Rejection, UploadedFile, read_uploads

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks


class UploadRoute(APIRoute):
    """Matches only requests whose body is multipart. It has to come before the route of the JSON body."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        kind = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        return super().matches(scope) if kind == "multipart/form-data" else (Match.NONE, {})


def describe_upload() -> dict[str, object]:
    """Returns the multipart body, for the OpenAPI description of the route that takes JSON."""
    text = {"type": "string"}
    schema = {
        "type": "object",
        "required": ["file"],
        "additionalProperties": False,
        "properties": {
            "file": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string", "format": "binary"},
                "description": "Files, each a part of its own. The default key is the name of the file.",
            },
            "manifest": {
                "type": "object",
                "additionalProperties": ManifestFileIn.model_json_schema(),
                "description": "What is known of the files, by their names.",
            },
            "on_conflict": {**text, "enum": ["replace", "skip", "error"], "default": "replace"},
            "budget_tokens": {"type": "integer", "minimum": 1},
        },
    }
    example = {"manifest": {"reports/q3.pdf": {"title": "Third quarter", "metadata": {"year": 2024}}}}
    return {"requestBody": {"content": {"multipart/form-data": {"schema": schema, "example": example}}}}


_FILE = "file"
_FIELDS = frozenset({"manifest", "on_conflict", "budget_tokens"})
_FIELD_BYTES = 4_000_000
_MEGABYTE = 1_000_000
_SUFFIX = re.compile(r"\.[a-z0-9]{1,16}")


@dataclass(frozen=True, kw_only=True)
class ReceivedFile:
    """A file on disk, with its name and content type as the sender gave them. `path` has the suffix of the name."""

    name: str
    content_type: str
    path: Path


@dataclass
class Parts:
    """The files in their order, and the fields by name. `digest` is equal for equal parts, whatever their boundary."""

    digest: str = ""
    files: list[ReceivedFile] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)


@asynccontextmanager
async def receive_parts(request: Request, settings: ApiSettings) -> AsyncIterator[Parts]:
    """Receives the body. The files are deleted at the end of the block.

    Raises `HTTPException` (400) for a body that is not complete multipart, `InvalidInput` for a part that is not known,
    and `TooLarge`.
    """
    with TemporaryDirectory(prefix="hopweave-upload-") as folder:
        receiver = _Receiver(Path(folder), _read_boundary(request), settings)
        try:
            async for piece in request.stream():
                await asyncio.to_thread(receiver.write, piece)
            parts = receiver.finish()
        finally:
            receiver.close()
        yield parts


def _read_boundary(request: Request) -> bytes:
    _, options = parse_options_header(request.headers.get("content-type", ""))
    if boundary := options.get(b"boundary"):
        return boundary
    raise _malformed("its content type has no boundary")


def _malformed(why: str) -> HTTPException:
    detail = f"the body is not valid multipart/form-data: {why}"
    return HTTPException(HTTPStatus.BAD_REQUEST, detail, headers={"Connection": "close"})


class _Receiver:
    """Writes the parts of a body as they come."""

    def __init__(self, folder: Path, boundary: bytes, settings: ApiSettings) -> None:
        self._folder = folder
        self._max_files = settings.max_files
        self._max_file = int(settings.max_file_mb * _MEGABYTE)
        self._parts = Parts()
        self._complete = False
        self._hash = hashlib.sha256()
        self._header = (b"", b"")
        self._headers: dict[bytes, bytes] = {}
        self._name = ""
        self._size = 0
        self._field = bytearray()
        self._file: BinaryIO | None = None
        callbacks: MultipartCallbacks = {
            "on_part_begin": self._begin_part,
            "on_header_field": self._add_to_header_name,
            "on_header_value": self._add_to_header_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._open_part,
            "on_part_data": self._add_data,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }
        try:
            self._parser = MultipartParser(boundary, callbacks)
        except FormParserError as error:
            raise _malformed(str(error)) from error

    def write(self, piece: bytes) -> None:
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise _malformed(str(error)) from error
        except OSError as error:
            raise Unavailable(
                f"the upload cannot be stored in {self._folder.parent}: {error.strerror}; check its free space"
            ) from error

    def finish(self) -> Parts:
        if not self._complete:
            raise _malformed("it ends before its last boundary")
        self._parts.digest = self._hash.hexdigest()
        return self._parts

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin_part(self) -> None:
        self._headers = {}
        self._field = bytearray()
        self._size = 0

    def _add_to_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header = (self._header[0] + data[start:end], self._header[1])

    def _add_to_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header = (self._header[0], self._header[1] + data[start:end])

    def _end_header(self) -> None:
        name, value = self._header
        self._headers[name.lower()] = value
        self._header = (b"", b"")

    def _open_part(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._name = _decode(options.get(b"name", b""))
        described = [self._name, options.get(b"filename", b"").hex(), self._headers.get(b"content-type", b"").hex()]
        self._hash.update(digest("part", described).encode())
        if self._name == _FILE:
            self._open_file(_decode(options.get(b"filename", b"")))
        elif self._name not in _FIELDS:
            known = ", ".join((_FILE, *sorted(_FIELDS)))
            raise InvalidInput(f"the upload has a part {self._name!r}; the parts of an upload are {known}")
        elif self._name in self._parts.fields:
            raise InvalidInput(f"the upload has the part {self._name!r} more than once")

    def _open_file(self, name: str) -> None:
        number = len(self._parts.files)
        if number == self._max_files:
            raise TooLarge(
                f"the upload has more than {self._max_files:,} files; send them in several uploads, or raise "
                "HOPWEAVE_API__MAX_FILES (at most 1,000)"
            )
        if not name:
            raise InvalidInput(f"file {number + 1} of the upload has no name; give the part a `filename`")
        path = self._folder / f"{number}{_safe_suffix(name)}"
        content_type = self._headers.get(b"content-type", b"").decode("latin-1")
        self._parts.files.append(ReceivedFile(name=name, content_type=content_type, path=path))
        self._file = path.open("wb")

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        self._size += end - start
        self._hash.update(data[start:end])
        if self._file is None:
            if self._size > _FIELD_BYTES:
                raise TooLarge(f"the part {self._name!r} is larger than {_FIELD_BYTES // _MEGABYTE} MB")
            self._field += data[start:end]
            return
        if self._size > self._max_file:
            raise TooLarge(
                f"{self._parts.files[-1].name!r} is larger than {self._max_file / _MEGABYTE:g} MB; split it, or raise "
                "HOPWEAVE_API__MAX_FILE_MB"
            )
        self._file.write(data[start:end])

    def _end_part(self) -> None:
        self._hash.update(self._size.to_bytes(8, "big"))
        if self._file is None:
            self._parts.fields[self._name] = _decode(bytes(self._field))
        self.close()

    def _end(self) -> None:
        self._complete = True


def _safe_suffix(name: str) -> str:
    """Returns the suffix of a name in lower case, or nothing if it has characters that no file type has."""
    suffix = PurePosixPath(name).suffix.lower()
    return suffix if _SUFFIX.fullmatch(suffix) else ""


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _malformed(f"a name or a field is not UTF-8: {data[:80]!r}") from error


_MOST_VALUES = 50_000
_MOST_FAULTS = 100
_MANIFEST: TypeAdapter[dict[str, ManifestFileIn]] = TypeAdapter(dict[str, ManifestFileIn])


@dataclass(frozen=True, kw_only=True)
class UploadedDocuments:
    """The options of an upload, and `read`, which yields its documents; each call reads the files again."""

    options: UploadIn
    read: Callable[[], Iterator[Submission | Rejection]]


def parse_upload(parts: Parts) -> UploadedDocuments:
    """Raises `RequestValidationError` for a field that is wrong, and `InvalidInput` if there is no file, or none with a
    name that the manifest has.
    """
    if not parts.files:
        raise InvalidInput("the upload has no part `file`; send at least one file")
    manifest = _parse_manifest(parts.fields.get("manifest"))
    if missing := sorted(manifest.keys() - {file.name for file in parts.files}):
        raise InvalidInput(f"the manifest names {missing[0]!r}, and the upload has no file of this name")
    described = [(file, manifest.get(file.name, ManifestFileIn())) for file in parts.files]
    files = [
        UploadedFile(
            name=file.name,
            path=file.path,
            content_type=file.content_type,
            key=entry.key,
            title=entry.title,
            metadata=entry.metadata,
            media_type=entry.media_type,
            access=None if entry.access is None else tuple(entry.access),
        )
        for file, entry in described
    ]
    return UploadedDocuments(options=_parse_options(parts), read=lambda: read_uploads(files))


def _parse_manifest(text: str | None) -> dict[str, ManifestFileIn]:
    if text is None:
        return {}
    if count_values(text.encode("utf-8", "surrogatepass"), _MOST_VALUES) > _MOST_VALUES:
        raise TooLarge(f"the manifest has more than {_MOST_VALUES:,} values and names; send fewer files at once")
    try:
        return _MANIFEST.validate_json(text)
    except ValidationError as error:
        raise _invalid("manifest", error) from error


def _parse_options(parts: Parts) -> UploadIn:
    try:
        return UploadIn.model_validate({name: value for name, value in parts.fields.items() if name != "manifest"})
    except ValidationError as error:
        raise _invalid("", error) from error


def _invalid(part: str, error: ValidationError) -> RequestValidationError:
    """Returns the error with its places in the body; unparsable JSON has another kind than in a JSON body."""
    where = ("body", part) if part else ("body",)
    return RequestValidationError(
        [
            {**one, "loc": (*where, *one["loc"]), "type": one["type"].replace("json_invalid", "manifest_invalid")}
            for one in error.errors(include_context=False)[:_MOST_FAULTS]
        ]
    )
