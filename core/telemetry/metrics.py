"""The metrics, and how they are counted. Open it to add a metric; `docs/watching.md` lists them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class MetricKind(StrEnum):
    COUNTER = "counter"
    HISTOGRAM = "histogram"
    SUMMED_GAUGE = "summed gauge"
    """A gauge whose value is the sum over all processes."""
    GREATEST_GAUGE = "greatest gauge"
    """A gauge whose value is the greatest of all processes."""
    STATE = "state"
    """A gauge that is read from the record when metrics are collected, and not counted by any process."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric. With `by_corpus` it has the label `corpus`, too, where the settings ask for it.

    `buckets` are the upper bounds of a histogram, in seconds.
    """

    name: str
    kind: MetricKind
    help: str
    labels: tuple[str, ...] = ()
    by_corpus: bool = False
    buckets: tuple[float, ...] = ()

    def record(self, value: float, **labels: str) -> None:
        """Adds to a counter, observes for a histogram, or sets a gauge. Does nothing in a process without a meter."""
        if _installed.meter is not None:
            _installed.meter.record(self, value, labels)


class Meter(Protocol):
    """Receives what is counted. Any thread may call it."""

    def record(self, metric: Metric, value: float, labels: dict[str, str]) -> None:
        """`labels` has all labels of the metric, and `corpus` if the metric is `by_corpus`."""
        ...


class _Installed:
    meter: Meter | None = None


_installed = _Installed()


def install_meter(meter: Meter | None) -> None:
    """Makes this process count with `meter`; with None it counts nothing."""
    _installed.meter = meter


_REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_STAGE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LAG_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

HTTP_SECONDS = Metric(
    name="hopweave_http_request_seconds",
    kind=MetricKind.HISTOGRAM,
    help="Seconds from a request to the end of its response.",
    labels=("route", "status"),
    buckets=_REQUEST_SECONDS,
)
RETRIEVAL_SECONDS = Metric(
    name="hopweave_retrieval_seconds",
    kind=MetricKind.HISTOGRAM,
    help="Seconds of the stages of a search; the stage total is all of it.",
    labels=("searcher", "stage"),
    by_corpus=True,
    buckets=_STAGE_SECONDS,
)
LLM_TOKENS = Metric(
    name="hopweave_llm_tokens_total",
    kind=MetricKind.COUNTER,
    help="Tokens of language models, of the types prompt and completion.",
    labels=("role", "model", "type"),
)
LLM_ERRORS = Metric(
    name="hopweave_llm_errors_total",
    kind=MetricKind.COUNTER,
    help="Calls of language models that failed after all retries.",
    labels=("role", "model"),
)
QUEUE_OLDEST = Metric(
    name="hopweave_queue_oldest_seconds",
    kind=MetricKind.STATE,
    help="Seconds for which the oldest queued revision has waited; 0 if none waits.",
    by_corpus=True,
)
DOCUMENTS = Metric(
    name="hopweave_documents",
    kind=MetricKind.STATE,
    help="Documents by the state of their newest revision.",
    labels=("state",),
    by_corpus=True,
)
LEASES_EXPIRED = Metric(
    name="hopweave_leases_expired_total",
    kind=MetricKind.COUNTER,
    help="Revisions that were taken over because the lease of their worker had expired, or the worker was gone.",
)
SNAPSHOT_BYTES = Metric(
    name="hopweave_snapshot_bytes",
    kind=MetricKind.SUMMED_GAUGE,
    help="Bytes of the graph snapshots in the own memory of processes, over all processes.",
)
SNAPSHOT_MAPPED_BYTES = Metric(
    name="hopweave_snapshot_mapped_bytes",
    kind=MetricKind.GREATEST_GAUGE,
    help="Bytes of the graph snapshots in mapped files, which processes share; the greatest of all processes.",
)
SNAPSHOT_AGE = Metric(
    name="hopweave_snapshot_age_seconds",
    kind=MetricKind.GREATEST_GAUGE,
    help="Seconds since the graph snapshot that was compared longest ago was compared with the record.",
)
ANSWERS = Metric(
    name="hopweave_answers_total",
    kind=MetricKind.COUNTER,
    help="Answers by what they stand on.",
    labels=("support",),
    by_corpus=True,
)
QUESTIONS = Metric(
    name="hopweave_questions_total",
    kind=MetricKind.COUNTER,
    help="Questions that were answered in the background, by how they ended: done, failed, or fenced.",
    labels=("state",),
    by_corpus=True,
)
EVENT_LOOP_LAG = Metric(
    name="hopweave_event_loop_lag_seconds",
    kind=MetricKind.HISTOGRAM,
    help="Seconds for which the event loop was late, by a timer that runs every 20 ms.",
    buckets=_LAG_SECONDS,
)

METRICS = (
    HTTP_SECONDS,
    RETRIEVAL_SECONDS,
    LLM_TOKENS,
    LLM_ERRORS,
    QUEUE_OLDEST,
    DOCUMENTS,
    LEASES_EXPIRED,
    SNAPSHOT_BYTES,
    SNAPSHOT_MAPPED_BYTES,
    SNAPSHOT_AGE,
    ANSWERS,
    QUESTIONS,
    EVENT_LOOP_LAG,
)
