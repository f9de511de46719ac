"""A document that is cut into chunks, with the extractions that it has so far.

`find_shortfall` says why a document cannot be indexed: chunks without an extraction, or nothing found in any of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import BudgetExhausted, ModelFailed, ModelRefused
from core.execution.limits import WorkLimit
from core.graph import Extraction
from core.ports.indexing import DraftChunk, LoadedDocument
from core.ports.record import Claim
from core.trace import Trace


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


_MIN_TEXT = 200  # characters; a shorter document may well name nothing
_SHOWN = 10
_KEPT = "what was paid for is kept: `hopweave documents retry` asks only for the rest"


def find_shortfall(document: ChunkedDocument, *, calls_model: bool) -> str:
    """Returns the reason with its remedy, or '' if the document can be indexed. `calls_model`: the extractor does."""
    if document.failed:
        return _describe_missing(document)
    if calls_model and document.chunks and not any(one.entities or one.triples for one in document.found.values()):
        return _describe_empty(document)
    return ""


def _describe_missing(document: ChunkedDocument) -> str:
    positions = sorted(n for n, hash in enumerate(document.hashes) if hash not in document.found)
    shown = ", ".join(map(str, positions[:_SHOWN])) + (", …" if len(positions) > _SHOWN else "")
    last = document.failed[max(document.failed)]
    return (
        f"{len(positions)} of {len(document.chunks)} passages could not be extracted (position {shown}, from 0): "
        f"{last}; {_KEPT}"
    )


def _describe_empty(document: ChunkedDocument) -> str:
    if sum(len(chunk.text.strip()) for chunk in document.chunks) <= _MIN_TEXT:
        return ""
    return (
        f"the model found no entity in any of its {len(document.chunks)} passages: set a model that does by "
        "HOPWEAVE_LLM__ROLES__EXTRACT__MODEL and retry the document, or use the extractor 'pattern+llm' in a new corpus"
    )
