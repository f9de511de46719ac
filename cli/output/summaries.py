"""Prints the outcome of an ingest or of a dry run for people, and converts it to JSON."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from app.services.estimates import Estimate
from app.services.summary_tree import BuiltTree
from cli.flows.ingest import Summary
from cli.output.console import counted, print_result, print_status
from core.jobs import JobState
from indexer import Rejection

_SHOWN = 20
_SHOWN_PRUNED = 5


def summary_to_dict(summary: Summary) -> dict[str, Any]:
    counts = summary.job.counts
    return {
        "corpus": summary.corpus.name,
        "job": {"id": summary.job.id, "state": summary.job.state},
        "handed_in": summary.handed_in,
        "documents": {
            name: counts.get(name, 0) for name in ("indexed", "unchanged", "skipped", "failed", "cancelled", "paused")
        },
        "rejected": [{"source": rejection.source, "reason": rejection.reason} for rejection in summary.rejected],
        "failures": [{"key": key, "reason": reason} for key, reason in summary.job.failures],
        "malformed_triples": summary.job.malformed_triples,
        "fits": asdict(summary.job.fits) if summary.job.fits else None,
        "usage": {
            "calls": summary.job.calls,
            "prompt_tokens": summary.job.prompt_tokens,
            "completion_tokens": summary.job.completion_tokens,
        },
        "chunks": summary.chunks,
        "seconds": round(summary.seconds, 3),
        "chunks_per_second": _compute_rate(summary),
        "pruned": summary.pruned,
        "prune_refused": summary.prune_refused or None,
        "notes": [{"key": key, "note": note} for key, note in summary.notes],
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
    print_result(f"corpus {summary.corpus.name}: {', '.join(shown)}")
    if summary.chunks:
        rate = _compute_rate(summary)
        speed = f", {rate:.1f} a second" if rate else ""
        print_result(f"{counted(summary.chunks, 'passage')} in {summary.seconds:.1f} s{speed}")
    if summary.job.malformed_triples:
        print_result(f"{summary.job.malformed_triples:,} malformed triples were left out")
    if summary.job.fits:
        print_result(summary.job.fits.describe())
    if summary.job.calls:
        print_result(f"{summary.job.calls:,} calls of the model, {summary.job.tokens:,} tokens")
    _show_pause(summary)
    _show_pruned(summary.deleted or ())
    if summary.prune_refused:
        print_status(f"nothing was pruned: documents may be hidden in {summary.prune_refused}")
    _show_notes(summary.notes)
    _show_failures(summary)
    _show_rejected(summary.rejected[summary.shown_rejected :])


def _show_pause(summary: Summary) -> None:
    if summary.job.state is JobState.PAUSED:
        print_status(f"paused: {summary.paused}; what was paid for is kept. Go on with `{summary.resume_with}`")


def _show_pruned(keys: Sequence[str]) -> None:
    if keys:
        more = f" and {len(keys) - _SHOWN_PRUNED:,} more" if len(keys) > _SHOWN_PRUNED else ""
        print_status(f"pruned: {', '.join(keys[:_SHOWN_PRUNED])}{more}")


def _show_failures(summary: Summary) -> None:
    failures = [(key, reason) for key, reason in summary.job.failures if key not in summary.shown]
    for key, reason in failures:
        print_status(f"failed: {key}: {reason}")
    more = summary.job.counts.get("failed", 0) - len(summary.job.failures)
    if failures and more > 0:
        print_status(
            f"and {more:,} more failed: `hopweave documents list --corpus {summary.corpus.name} --state failed`"
        )


def show_changes(summary: Summary, before: Collection[str]) -> None:
    """Shows an ingest of changes, a line for each. `before` are the keys of the documents that were there before."""
    for key, chunks in summary.indexed:
        print_result(f"{'changed' if key in before else 'new'}: {key}: {counted(chunks, 'passage')}")
    more = summary.job.counts.get("indexed", 0) - len(summary.indexed)
    if more > 0:
        print_result(f"and {more:,} more documents are new or changed")
    for key in summary.deleted or ():
        print_result(f"deleted: {key}")
    _show_pause(summary)
    _show_notes(summary.notes)
    _show_failures(summary)
    _show_rejected(summary.rejected[summary.shown_rejected :])


def estimate_to_dict(corpus: str, estimate: Estimate) -> dict[str, Any]:
    return {
        "corpus": corpus,
        "dry_run": True,
        "documents": estimate.documents,
        "unchanged": estimate.unchanged,
        "bytes": estimate.bytes,
        "chunks": estimate.chunks,
        "tokens": estimate.tokens,
        "model": estimate.model,
        "rejected": [{"source": rejection.source, "reason": rejection.reason} for rejection in estimate.rejected],
        "notes": [{"key": key, "note": note} for key, note in estimate.notes],
    }


def show_estimate(estimate: Estimate) -> None:
    print_result(
        f"{counted(estimate.documents, 'document')}, {counted(estimate.bytes, 'byte')}, "
        f"{counted(estimate.chunks, 'passage')}, {counted(estimate.tokens, 'token')}; nothing was written"
    )
    if estimate.unchanged:
        print_result(f"{estimate.unchanged:,} of them are indexed as they are")
    if estimate.model:
        model = estimate.model
        print_result(
            f"the language model: {model.calls:,} calls, {model.prompt_tokens:,} prompt tokens, "
            f"{model.completion_tokens:,} completion tokens, about {model.seconds:,.0f} s"
        )
        for assumption in model.assumptions:
            print_result(f"  assumed: {assumption}")
    _show_notes(estimate.notes)
    _show_rejected(estimate.rejected)


def tree_to_dict(built: BuiltTree) -> dict[str, Any]:
    return {
        "corpus": built.corpus.name,
        "passages": built.passages,
        "layers": list(built.layers),
        "written": built.written,
        "usage": {"calls": built.calls, "tokens": built.tokens},
    }


def show_tree(built: BuiltTree) -> None:
    layers = ", ".join(f"{count:,}" for count in built.layers) or "none, since there are too few passages"
    print_result(
        f"corpus {built.corpus.name}: {counted(built.passages, 'passage')}, and summaries in "
        f"{counted(len(built.layers), 'layer')} ({layers})"
    )
    print_result(f"written now: {built.written:,}; {counted(built.calls, 'call')}, {counted(built.tokens, 'token')}")


def _show_notes(notes: Sequence[tuple[str, str]]) -> None:
    for key, note in notes[:_SHOWN]:
        print_status(f"note: {key}: {note}")
    if len(notes) > _SHOWN:
        print_status(f"and {len(notes) - _SHOWN:,} more notes; --json lists them all")


def _show_rejected(rejected: Iterable[Rejection]) -> None:
    listed = list(rejected)
    for item in listed[:_SHOWN]:
        print_status(f"rejected: {item.source}: {item.reason}")
    if len(listed) > _SHOWN:
        print_status(f"and {len(listed) - _SHOWN:,} more were rejected; --json lists them all")


def _compute_rate(summary: Summary) -> float | None:
    return round(summary.chunks / summary.seconds, 1) if summary.seconds and summary.chunks else None
