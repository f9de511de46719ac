"""`log_event`: a line of the log with fields, such as the seconds that something took."""

import logging

__all__ = ["FIELDS", "log_event"]

FIELDS = "hopweave_fields"
"""The attribute of a log record that has the fields."""


def log_event(log: logging.Logger, level: int, message: str, **fields: object) -> None:
    """Logs a message with fields. Neither may hold a question, a passage or an answer. Empty fields are left out."""
    if log.isEnabledFor(level):
        known = {name: value for name, value in fields.items() if value not in ("", None)}
        log.log(level, message, extra={FIELDS: known})
