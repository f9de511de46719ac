"""The port of staging: extractions that are stored before their revision is committed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.graph import Extraction
from core.ports.record.claims import Claim

__all__ = ["JobUsage", "StagedExtraction", "Staging"]


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedExtraction:
    """The extraction of one chunk's input, stored under (document id, `extract_hash`)."""

    claim: Claim
    extract_hash: str
    extraction: Extraction


@dataclass(frozen=True, kw_only=True)
class JobUsage:
    """The model calls and tokens that a job has spent since the last report."""

    job_id: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Staging(Protocol):
    """Extractions that are stored before their revision is committed, so that no model call is paid for twice."""

    async def stage(self, extractions: Sequence[StagedExtraction], spent: Sequence[JobUsage] = ()) -> list[Claim]:
        """Stores extractions. Returns the claims that are fenced; their extractions are not stored.

        `spent` is added to the usage of its jobs, also where the claims are fenced: the calls were paid for.
        """
        ...

    async def get_staged(
        self, corpus_id: str, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Extraction]:
        """Returns the stored extractions by (document id, extract hash), of current and unfinished revisions alike.

        Keys without an extraction are left out.
        """
        ...
