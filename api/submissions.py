"""Documents of a body as submissions."""

from collections.abc import Sequence

from api.schemas.documents import DocumentIn
from core.documents import Submission
from core.errors import InvalidInput
from indexer import submission_from_json

__all__ = ["submissions"]


def submissions(documents: Sequence[DocumentIn]) -> list[Submission]:
    """Raises `InvalidInput` naming the document that is wrong by its place in the list."""
    made = []
    for place, document in enumerate(documents):
        try:
            made.append(submission_from_json(document.model_dump(exclude_unset=True)))
        except InvalidInput as error:
            raise InvalidInput(f"documents[{place}]: {error}") from error
    return made
