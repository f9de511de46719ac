"""A document that is cut into chunks, with the extractions that it has so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import BudgetExhausted, ModelFailed, ModelRefused
from core.execution.limits import WorkLimit
from core.graph import Extraction
from core.ports.indexing import DraftChunk, LoadedDocument
from core.ports.record import Claim
from core.trace import Trace

__all__ = ["ChunkedDocument"]


@dataclass(kw_only=True)
class ChunkedDocument:
    """The chunks of a claimed document. `hashes[i]` is the extract hash of `chunks[i]`.

    `found` holds the extractions by extract hash, `failed` the errors by the index of the chunk. `stopped` is the error
    that stops the whole job: its budget is used up, or the model refuses every call. `fenced` tells whether the claim
    is fenced. `limit` bounds the time of the work.
    """

    claim: Claim
    document: LoadedDocument
    chunks: Sequence[DraftChunk]
    hashes: Sequence[str]
    trace: Trace
    limit: WorkLimit
    found: dict[str, Extraction] = field(default_factory=dict)
    failed: dict[int, ModelFailed] = field(default_factory=dict)
    stopped: BudgetExhausted | ModelRefused | None = None
    fenced: bool = False

    def count_extracted(self) -> int:
        """Returns the number of chunks that have their extraction."""
        return sum(hash in self.found for hash in self.hashes)

    @property
    def missing(self) -> list[int]:
        """One chunk for each extraction that is missing. Chunks with the same input share an extraction."""
        return self.missing_in(range(len(self.hashes)))

    def missing_in(self, part: range) -> list[int]:
        """Returns `missing` among some chunks."""
        first = {self.hashes[n]: n for n in reversed(part)}
        return sorted(n for hash, n in first.items() if hash not in self.found)
