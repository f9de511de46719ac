"""Principals: the users and groups that may see a document. Open it to change what a principal is, or who sees what.

A principal is a text, `user:anna` or `group:legal`. A document has a list of them, its *access*, or none: then everyone
sees it who sees the corpus. A caller with principals sees the documents without access, and the documents whose access
has one of them. A caller without principals sees all.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from core.errors import InvalidInput
from core.filters import DocumentFilter
from core.text.characters import check_text

DocumentAccess: TypeAlias = tuple[str, ...] | None
"""Who may see a document: its principals in order, each once. None: everyone who sees the corpus; (): nobody but
callers without principals.
"""

MAX_PRINCIPALS = 200
"""Principals of one document or one key."""
MAX_PRINCIPAL_LENGTH = 256
PRINCIPAL_PATTERN = r"^(user|group):[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$"
_PRINCIPAL = re.compile(PRINCIPAL_PATTERN)


def check_principals(given: object, place: str) -> tuple[str, ...]:
    """Returns principals in order, each once. Raises `InvalidInput`, which begins with `place`, for anything else."""
    if not isinstance(given, Sequence | frozenset | set) or isinstance(given, str):
        raise InvalidInput(f"{place} is a list of principals, such as ['group:legal', 'user:anna']")
    if len(given) > MAX_PRINCIPALS:
        raise InvalidInput(f"{place} has {len(given):,} principals; at most {MAX_PRINCIPALS} are allowed")
    for principal in given:
        if not isinstance(principal, str) or len(principal) > MAX_PRINCIPAL_LENGTH:
            raise InvalidInput(f"{place}: a principal is a text of at most {MAX_PRINCIPAL_LENGTH} characters")
        if _PRINCIPAL.fullmatch(principal) is None:
            raise InvalidInput(
                f"{place}: {principal!r} is no principal; write `user:NAME` or `group:NAME`, without spaces at the ends"
            )
        check_text(principal, place)
    return tuple(sorted(set(given)))


def check_access(given: object, place: str) -> DocumentAccess:
    """Returns the access of a document; None if none is given. Raises `InvalidInput` as `check_principals` does."""
    return None if given is None else check_principals(given, place)


def may_see(principals: Collection[str], access: DocumentAccess) -> bool:
    """Returns whether a caller with these principals sees a document with this access."""
    return access is None or not set(access).isdisjoint(principals)


def visible_to(principals: frozenset[str]) -> DocumentFilter:
    """Returns the filter of what a caller with these principals sees.

    It tests a field that no filter of a request can name, and that no metadata can set (`DocumentFilter.matches`).
    """

    def test(row: Mapping[str, object]) -> bool:
        access = row["$access"]
        return access is None or (isinstance(access, tuple) and may_see(principals, access))

    return DocumentFilter(source={"$access": sorted(principals)}, test=test)


def narrow(present: DocumentAccess, named: DocumentAccess) -> DocumentAccess:
    """Returns who sees a document that had the access `present` and is to have `named`, until its next revision is
    there: who is in both. So nobody sees the former content who could not see it before.
    """
    if named is None or present is None:
        return present if named is None else named
    return tuple(principal for principal in present if principal in named)
