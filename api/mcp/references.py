"""Names of passages and documents that are valid in all corpora: `people/chunks/ID`, `people/documents/ID`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import InvalidInput

__all__ = ["Reference", "link_to", "parse_reference"]

_REFERENCE = re.compile(r"([a-z0-9][a-z0-9_-]{0,62})/(chunks|documents)/([0-9a-f]{1,64})(?:/([1-9][0-9]{0,11}))?")
_HTTP = ("https://", "http://")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """`offset` is the first character that is wanted of a document's text."""

    corpus: str
    kind: Literal["chunks", "documents"]
    id: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.corpus}/{self.kind}/{self.id}" + (f"/{self.offset}" if self.offset else "")


def parse_reference(text: str) -> Reference:
    """Raises `InvalidInput` for a text that is no reference."""
    found = _REFERENCE.fullmatch(text.strip())
    if found is None or (found[2] == "chunks" and found[4]):
        raise InvalidInput(
            f"{text[:80]!r} is no id of this server; take the `id` of a result of `search`, or of a citation of `ask`, "
            "such as 'people/chunks/4b0d…'"
        )
    kind: Literal["chunks", "documents"] = "chunks" if found[2] == "chunks" else "documents"
    return Reference(corpus=found[1], kind=kind, id=found[3], offset=int(found[4] or 0))


def link_to(address: str, corpus: str, document_id: str, metadata: Mapping[str, Any], link: str | None) -> str:
    """Returns where readers of a document are led: its own `url`, where its metadata has one, else `link`, which is its
    address in the web page, else its original here.
    """
    own = metadata.get("url")
    if isinstance(own, str) and own.lower().startswith(_HTTP):
        return own
    return link or f"{address}/v1/corpora/{corpus}/documents/{document_id}/content"
