"""The migrations of the record's schema. A version without a step to the next one can no longer be opened."""

from collections.abc import Mapping, Sequence

__all__ = ["SCHEMA_VERSION", "STEPS", "steps_from"]

SCHEMA_VERSION = 8

STEPS: Mapping[int, Sequence[str]] = {1: (), 2: (), 3: (), 4: (), 5: (), 6: (), 7: ()}
"""For each version, the names of the statements in `cypher/migrations.cypher` that lead to the next version.

A version that only adds constraints, indexes or properties that may be missing needs none: the constraints and indexes
of `cypher/schema.cypher`, the newest schema, are created whenever they are missing.
The file is there as soon as a version needs a statement."""


def steps_from(version: int, to: int) -> list[str] | None:
    """Returns the names of all statements between two versions, or None if there is no way."""
    if not 0 < version <= to or any(one not in STEPS for one in range(version, to)):
        return None
    return [statement for one in range(version, to) for statement in STEPS[one]]
