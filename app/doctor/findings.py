"""The findings of the doctor."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How serious a finding is. A `note` needs no action; one `problem` makes the examination fail."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One finding. `subject` is what was examined, `remedy` what to do about a problem ('' if nothing)."""

    subject: str
    level: Level
    detail: str
    remedy: str = ""
