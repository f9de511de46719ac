"""The checks of how vectors are searched: by the index that is set, and whether the nearest are found."""

from app.container import Container
from app.doctor.findings import Finding, Level
from core.corpora import Corpus

__all__ = ["examine_index", "examine_recall"]

_LEAST_RECALL = 0.99


async def examine_index(container: Container, corpus: Corpus) -> Finding | None:
    """Returns None if the index is as it is set, or cannot be set."""
    others = await container.composition.describe_other_indexes(corpus.id)
    if not others:
        return None
    return Finding(
        subject=f"corpus {corpus.name}: index",
        level=Level.NOTE,
        detail="; ".join(f"vectors of kind {kind} lie under {index}" for kind, index in others.items())
        + ": another index is set now (HOPWEAVE_MILVUS__INDEX, HOPWEAVE_MILVUS__HNSW__…)",
        remedy=f"it serves as it is; `hopweave corpora reindex {corpus.name}` builds it with the one that is set",
    )


async def examine_recall(container: Container, corpus: Corpus) -> list[Finding]:
    """Returns a finding for each kind of vectors that is not searched exactly."""
    findings = []
    for kind, recall in (await container.composition.measure_recall(corpus.id)).items():
        subject = f"corpus {corpus.name}: search of {kind} vectors"
        detail = f"finds {recall:.1%} of the ten nearest, on a sample"
        if recall >= _LEAST_RECALL:
            findings.append(Finding(subject=subject, level=Level.OK, detail=detail))
            continue
        rows = await container.vectors.count(corpus.id, kind)
        remedy = f"HOPWEAVE_STORE__EXACT_VECTORS={2 * rows} compares all of them, in the memory of each process"
        findings.append(Finding(subject=subject, level=Level.NOTE, detail=detail, remedy=remedy))
    return findings
