"""Steps from an older schema of the record to the next; a version without a step cannot be read any more."""

from collections.abc import Mapping, Sequence

__all__ = ["SCHEMA_VERSION", "STEPS", "steps_from"]

SCHEMA_VERSION = 1

STEPS: Mapping[int, Sequence[str]] = {}
"""What leads from the version that is the key to the one after it: names of statements in `cypher/migrations.cypher`.
`cypher/schema.cypher` is the newest."""


def steps_from(version: int, to: int) -> list[str] | None:
    """All statements on the way; None where there is none."""
    if not 0 < version <= to or any(one not in STEPS for one in range(version, to)):
        return None
    return [statement for one in range(version, to) for statement in STEPS[one]]
