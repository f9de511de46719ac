"""What an examination found."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "Level"]


class Level(StrEnum):
    """A `note` asks for nothing; one `problem` makes the examination fail."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """`subject` is what was looked at, `remedy` what to do about a problem ('' where there is nothing to do)."""

    subject: str
    level: Level
    detail: str
    remedy: str = ""
