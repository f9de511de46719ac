"""Dates and times as texts in ISO 8601, such as `2024-05-01` and `2024-05-01T10:00:00+02:00`."""

import re
from datetime import UTC, datetime

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)


def is_date_like(text: str) -> bool:
    """Returns whether a text has the form of a date, or of a date with a time."""
    return len(text) <= len("2024-05-01T10:00:00.123456789+02:00") and _DATE.fullmatch(text) is not None


def parse_date(text: str) -> datetime | None:
    """Returns the moment that a text names; None if it names none.

    A date is its midnight. Without a zone, the time is UTC.
    """
    if not is_date_like(text):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:  # a day or an hour that does not exist
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
