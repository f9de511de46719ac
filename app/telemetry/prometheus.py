"""Metrics for Prometheus, by its client library: counted here, shared between processes, and served.

The processes of one server write what they count into files of one folder (the library's multiprocess mode), so that
any of them serves the sums of all.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from core.errors import Conflict
from core.ports.record.commits import DocumentCount
from core.settings import MetricsSettings
from core.telemetry.metrics import DOCUMENTS, METRICS, QUEUE_OLDEST, Metric, MetricKind, install_meter

if TYPE_CHECKING:
    from prometheus_client import Counter, Gauge, Histogram
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.registry import CollectorRegistry

    _Instrument: TypeAlias = Counter | Gauge | Histogram


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The library reads this variable when it is imported."""
_QUEUED = "queued"


@contextmanager
def shared_metrics() -> Iterator[Path]:
    """Makes this process and its children count in one folder, for the length of the block."""
    given = os.environ.get(_FOLDER)
    if given:
        yield Path(given)
        return
    with tempfile.TemporaryDirectory(prefix="hopweave-metrics-") as folder:
        os.environ[_FOLDER] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[_FOLDER]


def shared_folder() -> Path | None:
    """Returns the folder that the processes of this server share while it runs; None outside `shared_metrics`."""
    folder = os.environ.get(_FOLDER)
    return Path(folder) if folder else None


def is_alive(pid: int) -> bool:
    """Returns whether a process with this id runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def start_metrics(settings: MetricsSettings) -> "PrometheusMeter | None":
    """Makes this process count, if `shared_metrics` holds in a parent process. Otherwise nobody reads the counts."""
    if not os.environ.get(_FOLDER):
        return None
    meter = PrometheusMeter(by_corpus=settings.corpora)
    install_meter(meter)
    return meter


@contextmanager
def serve_worker_metrics(settings: MetricsSettings) -> Iterator[None]:
    """Serves the metrics of worker processes, which this process starts, if the settings name an address.

    Raises `Conflict` if the address is in use.
    """
    if not settings.worker_address:
        yield
        return
    host, _, port = settings.worker_address.rpartition(":")
    with shared_metrics():
        from prometheus_client import start_http_server

        try:
            server, thread = start_http_server(int(port), addr=host.strip("[]"), registry=_shared_registry())
        except OSError as error:
            raise Conflict(
                f"cannot serve metrics at {settings.worker_address}: {(error.strerror or str(error)).lower()}; stop "
                "what listens there, or choose another HOPWEAVE_METRICS__WORKER_ADDRESS"
            ) from error
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class PrometheusMeter:
    """Implements `core.telemetry.metrics.Meter`. `render` returns the text for Prometheus."""

    def __init__(self, *, by_corpus: bool = False) -> None:
        from prometheus_client.registry import CollectorRegistry

        self._by_corpus = by_corpus
        self._registry = CollectorRegistry()
        counted = [metric for metric in METRICS if metric.kind is not MetricKind.STATE]
        self._instruments = {metric.name: self._make(metric) for metric in counted}

    def record(self, metric: Metric, value: float, labels: dict[str, str]) -> None:
        instrument: Any = self._instruments[metric.name]
        names = self._labels(metric)
        child = instrument.labels(*(labels[name] for name in names)) if names else instrument
        if metric.kind is MetricKind.COUNTER:
            child.inc(value)
        elif metric.kind is MetricKind.HISTOGRAM:
            child.observe(value)
        else:
            child.set(value)

    def render(self, documents: Sequence[DocumentCount]) -> bytes:
        """Returns all metrics. `documents` are the counts of the record."""
        from prometheus_client import CollectorRegistry, generate_latest

        states = CollectorRegistry()
        states.register(_RecordState(documents, by_corpus=self._by_corpus))
        shared = os.environ.get(_FOLDER)
        return generate_latest(_shared_registry() if shared else self._registry) + generate_latest(states)

    def _labels(self, metric: Metric) -> tuple[str, ...]:
        return (*metric.labels, "corpus") if metric.by_corpus and self._by_corpus else metric.labels

    def _make(self, metric: Metric) -> "_Instrument":
        from prometheus_client import Counter, Gauge, Histogram

        names = self._labels(metric)
        if metric.kind is MetricKind.COUNTER:
            return Counter(metric.name, metric.help, names, registry=self._registry)
        if metric.kind is MetricKind.HISTOGRAM:
            return Histogram(metric.name, metric.help, names, registry=self._registry, buckets=metric.buckets)
        mode: Literal["livesum", "livemax"] = "livesum" if metric.kind is MetricKind.SUMMED_GAUGE else "livemax"
        return Gauge(metric.name, metric.help, names, registry=self._registry, multiprocess_mode=mode)


class _RecordState:
    """Collects the metrics that are read from the record."""

    def __init__(self, documents: Sequence[DocumentCount], *, by_corpus: bool) -> None:
        self._documents = documents
        self._by_corpus = by_corpus

    def collect(self) -> Iterable["Family"]:
        from prometheus_client.metrics_core import GaugeMetricFamily

        more = ("corpus",) if self._by_corpus else ()
        counts = GaugeMetricFamily(DOCUMENTS.name, DOCUMENTS.help, labels=("state", *more))
        oldest = GaugeMetricFamily(QUEUE_OLDEST.name, QUEUE_OLDEST.help, labels=more)
        for labels, number in self._count().items():
            counts.add_metric(labels, number)
        for corpus, seconds in self._wait().items():
            oldest.add_metric(corpus, seconds)
        return [counts, oldest]

    def _count(self) -> dict[tuple[str, ...], int]:
        counts: dict[tuple[str, ...], int] = {}
        for document in self._documents:
            labels = (document.state, document.corpus) if self._by_corpus else (document.state,)
            counts[labels] = counts.get(labels, 0) + document.documents
        return counts

    def _wait(self) -> dict[tuple[str, ...], float]:
        waits: dict[tuple[str, ...], float] = {} if self._by_corpus else {(): 0.0}
        for document in self._documents:
            labels = (document.corpus,) if self._by_corpus else ()
            seconds = document.waiting_seconds if document.state == _QUEUED else 0.0
            waits[labels] = max(waits.get(labels, 0.0), seconds)
        return waits


def _shared_registry() -> "CollectorRegistry":
    """Returns a registry of what all processes count. The gauges of processes that have ended are left out."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    collector: Any = MultiProcessCollector
    registry.register(_Living(collector(None, path=os.environ[_FOLDER])))
    return registry


class _Living:
    """Collects from the shared folder, after the gauges of ended processes were deleted there."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def collect(self) -> Iterable["Family"]:
        from prometheus_client import multiprocess

        mark_process_dead: Any = multiprocess.mark_process_dead
        folder = Path(os.environ[_FOLDER])
        for pid in {path.stem.rpartition("_")[2] for path in folder.glob("gauge_live*_*.db")}:
            if not is_alive(int(pid)):
                mark_process_dead(int(pid), path=str(folder))
        families: Iterable[Family] = self._inner.collect()
        return families
