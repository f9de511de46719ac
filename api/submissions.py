"""`parse_submissions`: the documents of a request body as submissions."""

import base64
import binascii
from collections.abc import Sequence

from api.schemas.documents import DocumentIn
from core.documents import Submission
from core.errors import InvalidInput, UnsupportedMedia
from indexer import make_submission, submission_from_json

__all__ = ["parse_submissions"]


def parse_submissions(documents: Sequence[DocumentIn]) -> list[Submission]:
    """Returns the submissions in order.

    Raises `InvalidInput` or `UnsupportedMedia` with the index of the first wrong document.
    """
    submissions = []
    for index, document in enumerate(documents):
        try:
            submissions.append(_parse_submission(document))
        except InvalidInput as error:
            raise InvalidInput(f"documents[{index}]: {error}") from error
        except UnsupportedMedia as error:
            raise UnsupportedMedia(f"documents[{index}]: {error}") from error
    return submissions


def _parse_submission(document: DocumentIn) -> Submission:
    if document.media_type is None and document.content is None:
        return submission_from_json(document.model_dump(exclude_unset=True, exclude={"media_type", "content"}))
    if document.media_type is None:
        raise InvalidInput("a document with `content` needs a `media_type`, such as 'application/pdf'")
    if document.chunks is not None or document.entities or document.triples or document.embedding is not None:
        raise InvalidInput(
            "a document with `media_type` is loaded from `text` or `content`; leave `chunks`, `entities`, `triples` "
            "and `embedding` out, or leave `media_type` out"
        )
    return make_submission(
        _read_content(document),
        key=document.key,
        media_type=document.media_type,
        title=document.title,
        metadata=document.metadata,
    )


def _read_content(document: DocumentIn) -> bytes:
    if (document.text is None) == (document.content is None):
        found = "neither" if document.text is None else "both"
        raise InvalidInput(f"a document with `media_type` has either `text` or `content`; this one has {found}")
    if document.content is None:
        return _encode(document.text or "")
    try:
        return base64.b64decode(document.content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"`content` is not Base64: {error}") from error


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"`text` holds half of a surrogate pair at character {error.start}; remove it") from error
