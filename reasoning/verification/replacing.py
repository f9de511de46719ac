"""Which documents replace a masked one, and the groups of documents that are masked together because of it."""

from collections.abc import Iterable, Mapping, Sequence

from core.verification import Located
from reasoning.verification.given import CitedDocument

__all__ = ["Key", "find_replacements", "form_groups"]

Key = tuple[str, str]
"""A corpus' name and a document's id."""


def find_replacements(
    document: CitedDocument, before: Sequence[CitedDocument], after: Sequence[CitedDocument]
) -> tuple[Located, ...]:
    """Returns the documents that an answer cites for what a masked document stood for.

    `before` are the documents of the answer, `after` those of the same answer without the document. These are the ones
    that are new and in one of its places; else those that are new; else those in one of its places; else all.
    """
    known = {one.located.key for one in before}
    new = [one for one in after if one.located.key not in known]
    choices = (
        [one for one in new if one.places & document.places],
        new,
        [one for one in after if one.places & document.places],
        list(after),
    )
    return tuple(one.located for one in next(filter(None, choices), []))


def form_groups(replaced_by: Mapping[Key, Sequence[Located]], others: Iterable[Key]) -> list[frozenset[Key]]:
    """Returns the groups of documents that replace each other, of two documents or more.

    `replaced_by` are the replacements of each redundant document. `others` are documents that are not redundant: none
    of them is in a group, since masking it says nothing about the rest.
    """
    left_out = set(others)
    groups: list[frozenset[Key]] = []
    for key, replacements in replaced_by.items():
        group = frozenset({key, *(one.key for one in replacements)} - left_out)
        apart = [one for one in groups if not one & group]
        joined = group.union(*(one for one in groups if one & group))
        groups = [*apart, joined]
    return [group for group in groups if len(group) > 1]
