"""The errors of the record that several of its ports raise, with their messages."""

from collections.abc import Sequence

from core.errors import Conflict, Forbidden, NotFound

_SHOWN = 200
"""Characters of what a client has sent, of any length, that its error repeats."""


def corpus_missing(corpus_id: str) -> NotFound:
    return NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")


def corpus_name_missing(name: str, names: Sequence[str]) -> NotFound:
    """`names` are the first names that exist."""
    remedy = f"there are: {', '.join(names)}" if names else "there is none yet"
    return NotFound(f"there is no corpus {name[:_SHOWN]!r}; {remedy}")


def corpus_exists(name: str) -> Conflict:
    return Conflict(f"corpus {name!r} exists already; choose another name, or delete it first")


def name_taken(name: str) -> Conflict:
    return Conflict(f"corpus {name!r} exists already; choose another name")


def document_missing(document_id: str) -> NotFound:
    return NotFound(f"there is no document with the id {document_id[:_SHOWN]!r} in this corpus")


def document_outside(key: str) -> Forbidden:
    return Forbidden(
        f"this key may not write the document {key!r}: its filter does not match; give it the metadata that the "
        "filter asks for, or another key"
    )


def no_document(corpus: str, name: str) -> NotFound:
    """`corpus` is the corpus' name, and `name` a key or an id."""
    return NotFound(f"corpus {corpus!r} has no document with the key or id {name!r}")


def job_missing(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id[:_SHOWN]!r}; `hopweave jobs list` shows those that there are")


def key_missing(key_id: str) -> NotFound:
    return NotFound(f"there is no key with the id {key_id!r}; `hopweave keys list` shows the ids")
