"""Submissions of uploaded files, read as the command line reads the files of a folder; and `read_within`.

`read_within` reads files by name, from one folder only.
"""

import codecs
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.documents import Metadata, Submission, check_key
from core.errors import InvalidInput, NotFound, UnsupportedMedia
from core.ids import content_hash
from core.principals import DocumentAccess
from indexer.selection.loaders import known_suffixes, loader_for, media_type_of_file
from indexer.submission.document_json import DOCUMENT_MEDIA_TYPE, check_document, parse_json
from indexer.submission.json_lines import LocatedSubmission, Rejection
from indexer.submission.reading import read_file, read_paths, without_duplicates
from indexer.submission.submissions import access_of, submission_from_json
from indexer.submission.walking import Selection, is_hidden, printable, walk


def read_within(root: Path, paths: Sequence[str]) -> Iterator[Submission | Rejection]:
    """Yields the documents of files and folders in `root`. The key of a file is its path in `root`.

    Hidden files are not read, and links that lead out of `root` are not followed. Raises `InvalidInput` at once for a
    path outside of `root` or to something hidden, and `NotFound` for a path that does not exist.
    """
    real = root.resolve()
    starts = [_check(real, path) for path in paths]
    return without_duplicates(found for start in starts for found in _read(real, start))


def _check(root: Path, path: str) -> Path:
    if "\0" in path:
        raise InvalidInput("a path holds a NUL character; remove it")
    real = Path(os.path.realpath(root / path))  # `resolve` raises for a circle of links
    if not real.is_relative_to(root):
        raise InvalidInput(f"the path {printable(path)!r} is outside of the folder that may be read; use one within it")
    if is_hidden(real.relative_to(root)):
        raise InvalidInput(f"the path {printable(path)!r} is hidden, and hidden files are not read; use another one")
    if not real.exists():
        raise NotFound(f"there is no file or folder {printable(path)!r} in the folder that may be read")
    return real


def _read(root: Path, start: Path) -> Iterable[LocatedSubmission | Rejection]:
    selection = Selection(within=root)
    for path in walk(start, selection) if start.is_dir() else (start,):
        if isinstance(path, Rejection):
            yield path
        else:
            yield from read_file(path, path.relative_to(root).as_posix(), with_given=False)


_LINES = ".jsonl"
_JSON = frozenset({DOCUMENT_MEDIA_TYPE, "application/json"})


@dataclass(frozen=True, kw_only=True)
class UploadedFile:
    """A file at `path`, and what its sender says of it: `name` and `content_type` in the part of the file, the other
    fields in the manifest. The path has the suffix of the name, in lower case, if a file can have it.
    """

    name: str
    path: Path
    content_type: str = ""
    key: str | None = None
    title: str | None = None
    metadata: Metadata = field(default_factory=dict)
    media_type: str | None = None
    access: DocumentAccess = None

    @property
    def shown(self) -> str:
        """The name of the file in messages."""
        return self.key or self.name


def read_uploads(files: Iterable[UploadedFile]) -> Iterator[Submission | Rejection]:
    """Yields the documents of the files in order, and a `Rejection`, with the key or name of its file, for each that is
    unusable. A file in JSON lines has a document in each line; of two documents with one key, the first is used.
    """
    sources: dict[str, str] = {}
    for file in files:
        for found in _read_upload(file):
            if isinstance(found, Submission) and found.key in sources:
                reason = f"key {found.key!r} was taken already by {sources[found.key]!r}; give each document its own"
                yield Rejection(source=file.shown, reason=reason)
                continue
            if isinstance(found, Submission):
                sources[found.key] = file.shown
            yield found


def make_submission(
    content: bytes,
    *,
    key: str | None,
    media_type: str,
    title: str | None,
    metadata: Metadata,
    access: DocumentAccess = None,
) -> Submission:
    """Returns the submission of bytes of a media type. Without a key, it is the hash of the content.

    A document in the JSON form has its own title and metadata, which `title` and `metadata` replace field by field, and
    its own access, which `access` replaces.
    Raises `UnsupportedMedia`, or `InvalidInput` for JSON that is not a document.
    """
    plain = media_type.partition(";")[0].strip().lower()
    loader_for(plain)  # raises for what no loader reads
    if plain in _JSON:
        parsed = parse_json(content.removeprefix(codecs.BOM_UTF8))
        document = check_document(parsed)
        named = submission_from_json({**document, "access": access_of(parsed)}, key=key)
        return _describe(named, title, metadata, access)
    own = content_hash(content) if key is None else check_key(key)
    return Submission(key=own, content=content, media_type=plain, title=title, metadata=metadata, access=access)


def _read_upload(file: UploadedFile) -> Iterator[Submission | Rejection]:
    try:
        if file.media_type is None and file.path.suffix in (*known_suffixes(), _LINES):
            yield from _read_as_file(file)
        else:
            yield make_submission(
                file.path.read_bytes(),
                key=file.shown,
                media_type=file.media_type or _read_content_type(file),
                title=file.title,
                metadata=file.metadata,
                access=file.access,
            )
    except (InvalidInput, UnsupportedMedia) as error:
        yield Rejection(source=file.shown, reason=str(error))


def _read_as_file(file: UploadedFile) -> Iterator[Submission | Rejection]:
    """Yields what the command line reads from this file. `file.path` has the suffix of its name."""
    stored = file.path.name
    for found in read_paths([file.path], with_given=False):
        if isinstance(found, Rejection):
            source = file.shown + found.source.removeprefix(stored)
            yield Rejection(source=source, reason=found.reason.replace(repr(stored), repr(file.shown)))
        elif found.key == stored:
            named = replace(found, key=check_key(file.shown))
            yield _describe(named, file.title, file.metadata, file.access)
        else:
            yield _describe(found, None, file.metadata, file.access)


def _read_content_type(file: UploadedFile) -> str:
    """Returns the content type of the part if a loader reads it, else raises `UnsupportedMedia` about the name."""
    try:
        loader_for(file.content_type)
    except UnsupportedMedia:
        return media_type_of_file(file.path, file.name)
    return file.content_type


def _describe(submission: Submission, title: str | None, metadata: Metadata, access: DocumentAccess) -> Submission:
    return replace(
        submission,
        title=submission.title if title is None else title,
        metadata={**submission.metadata, **metadata},
        access=submission.access if access is None else access,
    )
