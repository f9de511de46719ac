"""Reads an upload: its manifest and fields are checked, and its files become submissions when they are iterated."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from api.schemas.uploads import ManifestFileIn, UploadIn
from api.transport.json_values import count_values
from api.uploads.parts import Parts
from core.documents import Submission
from core.errors import InvalidInput, TooLarge
from indexer import Rejection, UploadedFile, read_uploads

__all__ = ["UploadedDocuments", "parse_upload"]

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
