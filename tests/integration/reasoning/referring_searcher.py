"""A report that refers to another of its places, and a searcher that finds that place only if it looks there."""

from collections.abc import Sequence
from dataclasses import replace

from core.ports.retrieval import Hit, Query, SearchResult
from core.trace import Trace
from testing.word_search import RecordingSearcher, hit

__all__ = ["DEFINING", "REFERRING", "ReferringSearcher"]

REFERRING = (
    "Refer to Note 7 of the Notes for the legal proceedings of Norwick.",
    "Norwick has legal counsel.",
    "Note 7 - Contingencies",
    "Ada Lund sued over the bridge, due to the collapse of a pier.",
    "Legal proceedings of Norwick are reported each year.",
)
"""Three passages have words of a question for legal proceedings; what Note 7 says has none of them."""

DEFINING = (
    "The loan of Norwick is repaid in full on the Maturity Date.",
    "Interest on the loan of Norwick is paid until the Maturity Date.",
    "“Lender” means a bank.",
    "“Maturity Date” means 3 May 2031.",
)


class ReferringSearcher:
    """Finds all passages of the report if the search is restricted to it. `queries` are the other searches. `sought`:
    how the restricted search begins.
    """

    def __init__(self, passages: Sequence[str] = REFERRING, sought: str = "note 7: ") -> None:
        self._sought = sought
        first = hit("report", "Norwick", "")
        self.queries: list[tuple[str, Query]] = []
        self._passages: Sequence[Hit] = [
            replace(first, chunk=replace(first.chunk, id=f"report#{at}", position=at if at < 4 else 40, text=text))
            for at, text in enumerate(passages)
        ]
        self._searcher = RecordingSearcher("recording", list(self._passages), self.queries)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        if query.documents is None:
            return await self._searcher.search(query, trace)
        assert query.text.startswith(self._sought)
        assert query.k == 30
        return SearchResult(hits=tuple(self._passages), generation=1)
