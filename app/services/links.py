"""`Links`: the addresses of passages and documents in the web page, for answers that are read elsewhere."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import quote

from core.settings import Settings


@dataclass(frozen=True)
class Links:
    """`public_url` is the address at which users reach the server, without a slash at the end; empty: no links."""

    public_url: str

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(settings.api.public_url)

    def to(self, corpus: str, document_id: str, chunk_id: str | None = None) -> str | None:
        """Returns the address of a document, or of a chunk in it. None without a public address, and for a passage of
        the web, which is in no corpus.
        """
        if not self.public_url or not corpus:
            return None
        at = "" if chunk_id is None else f"?chunk={quote(chunk_id, safe='')}"
        return f"{self.public_url}/c/{quote(corpus, safe='')}/documents/{quote(document_id, safe='')}{at}"
