"""Files that are attached to a mail. `indexer.selection.attachments` decides which of them are documents."""

import re
from dataclasses import dataclass

from core.text.titles import one_line

_UNUSABLE = re.compile(r"[/\\\x00-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
_LONGEST_NAME = 150


@dataclass(frozen=True, kw_only=True, slots=True)
class AttachedFile:
    """A file of a mail. `name` and `media_type` are as the mail states them, '' if it does not.

    `content` is None if the mail has no bytes that can be read. `is_inline`: a part of the body, such as the picture of
    a signature. `title` is the subject of an attached mail, else ''.
    """

    name: str
    media_type: str
    content: bytes | None
    is_inline: bool = False
    title: str = ""

    @property
    def shown(self) -> str:
        """How the text of the mail names it."""
        return f"{self.name or self.title or 'without a name'} ({self.media_type or 'of no stated type'})"


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundFiles:
    """The files of a mail that are documents of their own, and what the mail states; '' for what it does not.

    `folder` is the part of the files' keys that names the mail within a mailbox, '' outside of a mailbox.
    """

    folder: str = ""
    subject: str = ""
    sender: str = ""
    date: str = ""
    files: tuple[AttachedFile, ...] = ()


def name_file(name: str) -> str:
    """Returns a name as the last part of a key: without separators, controls and steps, and not too long."""
    cleaned = one_line(_UNUSABLE.sub("_", name)).strip(". ")
    if len(cleaned) <= _LONGEST_NAME:
        return cleaned
    stem, dot, suffix = cleaned.rpartition(".")
    return f"{stem[: _LONGEST_NAME - 20]}{dot}{suffix}" if stem and len(suffix) < 15 else cleaned[:_LONGEST_NAME]
