"""The results of `ingest`, `estimate` and `delete_documents`."""

from dataclasses import dataclass

from hopweave._values.documents import Queued, Rejection
from hopweave._values.jobs import Failure, Job

__all__ = ["Deletion", "Estimate", "EstimateNote", "Ingestion", "ModelEstimate"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ingestion:
    """The jobs of an ingest (one for each call of at most 1,000 documents), the documents that were sent, and the files
    or lines that were not.
    """

    jobs: tuple[Job, ...]
    documents: tuple[Queued, ...]
    rejected: tuple[Rejection, ...]

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The documents that failed, up to as many of each job as the server names."""
        return tuple(failure for job in self.jobs for failure in job.failures)

    def count(self, state: str) -> int:
        """Returns how many documents of the jobs are in this state, such as `indexed`, `failed` or `unchanged`."""
        return sum(job.counts.get(state, 0) for job in self.jobs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """The job that deletes documents. `missing` are the keys that no document has."""

    job: Job
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelEstimate:
    """The calls of a language model. The numbers are as good as the `assumptions`."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EstimateNote:
    """What a loader tells of the document with a key."""

    key: str
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What an ingest would cost. `unchanged` documents are indexed already and cost nothing; `tokens` are those that
    the embedding model reads. `model` is None if the corpus' extractor calls no language model.
    """

    documents: int
    unchanged: int
    bytes: int
    chunks: int
    tokens: int
    model: ModelEstimate | None
    rejected: tuple[Rejection, ...]
    notes: tuple[EstimateNote, ...]
