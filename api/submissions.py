"""`parse_submissions`: the documents of a request body as submissions."""

from collections.abc import Sequence

from api.schemas.documents import DocumentIn
from core.documents import Submission
from core.errors import InvalidInput
from indexer import submission_from_json

__all__ = ["parse_submissions"]


def parse_submissions(documents: Sequence[DocumentIn]) -> list[Submission]:
    """Returns the submissions in order; raises `InvalidInput` with the index of the first wrong document."""
    submissions = []
    for index, document in enumerate(documents):
        try:
            submissions.append(submission_from_json(document.model_dump(exclude_unset=True)))
        except InvalidInput as error:
            raise InvalidInput(f"documents[{index}]: {error}") from error
    return submissions
