"""What an ingest says when it is over, for people and as JSON."""

from collections.abc import Iterable
from typing import Any

from app.services.estimates import Estimate
from cli.ingesting import Summary
from cli.output.console import say, show
from core.jobs import JobState
from indexer import Rejected

__all__ = ["dry_object", "show_dry", "show_summary", "summary_object"]

_SHOWN = 20


def summary_object(summary: Summary) -> dict[str, Any]:
    counts = summary.job.counts
    return {
        "corpus": summary.corpus.name,
        "job": {"id": summary.job.id, "state": summary.job.state},
        "handed_in": summary.handed_in,
        "documents": {
            name: counts.get(name, 0) for name in ("indexed", "unchanged", "skipped", "failed", "cancelled", "paused")
        },
        "rejected": [{"source": one.source, "reason": one.reason} for one in summary.rejected],
        "failures": [{"key": key, "reason": reason} for key, reason in summary.job.failures],
        "malformed_triples": summary.job.malformed_triples,
        "usage": {
            "calls": summary.job.calls,
            "prompt_tokens": summary.job.prompt_tokens,
            "completion_tokens": summary.job.completion_tokens,
        },
        "chunks": summary.chunks,
        "seconds": round(summary.seconds, 3),
        "chunks_per_second": _rate(summary),
        "pruned": summary.pruned,
    }


def show_summary(summary: Summary) -> None:
    counts = summary.job.counts
    shown = [f"{counts.get('indexed', 0):,} indexed"]
    shown += [
        f"{counts[name]:,} {name}"
        for name in ("unchanged", "skipped", "failed", "cancelled", "paused")
        if counts.get(name)
    ]
    shown += [f"{len(summary.rejected):,} rejected"] if summary.rejected else []
    shown += [f"{summary.pruned:,} pruned"] if summary.pruned is not None else []
    show(f"corpus {summary.corpus.name}: {', '.join(shown)}")
    if summary.chunks:
        rate = _rate(summary)
        show(f"{summary.chunks:,} passages in {summary.seconds:.1f} s" + (f", {rate:.1f} a second" if rate else ""))
    if summary.job.malformed_triples:
        show(f"{summary.job.malformed_triples:,} malformed triples were left out")
    if summary.job.calls:
        show(f"{summary.job.calls:,} calls of the model, {summary.job.tokens:,} tokens")
    if summary.job.state is JobState.PAUSED:
        say(f"paused: {summary.paused}; what was paid for is kept. Go on with `hopweave jobs resume {summary.job.id}`")
    for key, reason in summary.job.failures:
        say(f"failed: {key}: {reason}")
    _show_rejected(summary.rejected)
    more = counts.get("failed", 0) - len(summary.job.failures)
    if more > 0:
        say(f"and {more:,} more failed: `hopweave documents list --corpus {summary.corpus.name} --state failed`")


def dry_object(corpus: str, estimate: Estimate) -> dict[str, Any]:
    return {
        "corpus": corpus,
        "dry_run": True,
        "documents": estimate.documents,
        "unchanged": estimate.unchanged,
        "bytes": estimate.bytes,
        "chunks": estimate.chunks,
        "tokens": estimate.tokens,
        "model": estimate.model,
        "rejected": [{"source": one.source, "reason": one.reason} for one in estimate.rejected],
    }


def show_dry(estimate: Estimate) -> None:
    show(
        f"{estimate.documents:,} documents, {estimate.bytes:,} bytes, {estimate.chunks:,} passages, "
        f"{estimate.tokens:,} tokens; nothing was written"
    )
    if estimate.unchanged:
        show(f"{estimate.unchanged:,} of them are indexed as they are")
    if estimate.model:
        model = estimate.model
        show(
            f"the language model: {model.calls:,} calls, {model.prompt_tokens:,} prompt tokens, "
            f"{model.completion_tokens:,} completion tokens, about {model.seconds:,.0f} s"
        )
        for assumption in model.assumptions:
            show(f"  assumed: {assumption}")
    _show_rejected(estimate.rejected)


def _show_rejected(rejected: Iterable[Rejected]) -> None:
    listed = list(rejected)
    for one in listed[:_SHOWN]:
        say(f"rejected: {one.source}: {one.reason}")
    if len(listed) > _SHOWN:
        say(f"and {len(listed) - _SHOWN:,} more were rejected; --json lists them all")


def _rate(summary: Summary) -> float | None:
    return round(summary.chunks / summary.seconds, 1) if summary.seconds and summary.chunks else None
