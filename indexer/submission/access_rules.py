"""`AccessRules`: who may see the documents of an ingest, by patterns of their keys.

The file is TOML. Each line has a pattern, as in a .gitignore file, and the principals of the documents whose keys it
matches; of several patterns the last one counts:

    "*" = ["group:staff"]
    "legal/" = ["group:legal", "user:anna"]
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from core.documents import Submission
from core.errors import InvalidInput, NotFound
from core.principals import DocumentAccess, check_principals
from indexer.submission.json_lines import Rejection

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


_MAX_RULES = 10_000


@dataclass(frozen=True, kw_only=True)
class AccessRules:
    """`rules` are patterns with principals; `others` is for documents that no pattern matches (None: they name
    none).
    """

    rules: tuple[tuple[str, tuple[str, ...]], ...] = ()
    others: DocumentAccess = None

    def find(self, key: str) -> DocumentAccess:
        """Returns the access of the document with this key; None if no rule is for it."""
        fitting = (access for spec, access in reversed(self._specs) if spec.match_file(key))
        return next(fitting, self.others)

    def apply(self, found: Iterable[Submission | Rejection]) -> Iterator[Submission | Rejection]:
        """Yields the stream, with the access of the rules in place of what a document names itself."""
        for one in found:
            if isinstance(one, Submission) and (access := self.find(one.key)) is not None:
                yield replace(one, access=access)
            else:
                yield one

    @cached_property
    def _specs(self) -> "list[tuple[GitIgnoreSpec, tuple[str, ...]]]":
        from pathspec import GitIgnoreSpec

        return [(GitIgnoreSpec.from_lines([pattern]), access) for pattern, access in self.rules]


NO_RULES = AccessRules()


def read_access_rules(path: Path | None, others: Sequence[str] | None) -> AccessRules:
    """Returns the rules of a file, and `others` for what they leave over.

    Raises `NotFound` if there is no such file, and `InvalidInput`, which names the pattern, for what is no rule.
    """
    rest = None if others is None else check_principals(others, "--access")
    if path is None:
        return AccessRules(others=rest)
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path} of rules") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as rules in TOML: {error}") from error
    if len(found) > _MAX_RULES:
        raise InvalidInput(f"{path} has {len(found):,} rules; at most {_MAX_RULES:,} are allowed")
    rules = AccessRules(
        rules=tuple((pattern, check_principals(given, f"{path}: {pattern!r}")) for pattern, given in found.items()),
        others=rest,
    )
    _check_patterns(path, rules)
    return rules


def _check_patterns(path: Path, rules: AccessRules) -> None:
    from pathspec import GitIgnoreSpec

    for pattern, _ in rules.rules:
        try:
            is_usable = [one.include for one in GitIgnoreSpec.from_lines([pattern]).patterns] == [True]
        except ValueError:
            is_usable = False
        if not is_usable:
            raise InvalidInput(f"{path}: {pattern!r} is no pattern; write it as in a .gitignore file, without `!`")
