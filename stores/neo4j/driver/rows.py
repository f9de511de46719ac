"""Rows of the database as values, and the property `uid`, which identifies nodes and relationships.

A `uid` is made of parts that are joined by colons. A property that is not set is missing from its row.
"""

from dataclasses import replace

from core.corpora import Corpus
from core.documents import Chunk, Document, RevisionState
from core.graph import Fit, FitTally
from core.jobs import Job
from core.ports.record import Claim
from core.record_policy.claims import MeasuredJob, RevisionProgress
from core.record_policy.submissions import STOPPABLE
from stores.neo4j.driver.transaction import Row
from stores.record_rows import load_chunk, load_claim, load_corpus, load_document, load_job


def uid_of(corpus_id: str, id: str) -> str:
    """Returns the uid of the node with this id in a corpus."""
    return f"{corpus_id}:{id}"


def document_uid(claim: Claim) -> str:
    return uid_of(claim.corpus_id, claim.document_id)


def revision_uid(claim: Claim) -> str:
    return f"{document_uid(claim)}:{claim.revision}"


JOB_COUNTS = (*(state.value for state in RevisionState), "unchanged", "skipped")
"""The counts of a job, each in a property `n_…`."""


def corpus_from_row(row: Row) -> Corpus:
    """Takes a corpus' properties."""
    return load_corpus(row.get)


def document_from_row(row: Row) -> Document:
    """Takes a document's properties, with `reason` and `updated_at` of its newest revision.

    `media_type`, `size` and `content_hash` are of the current revision, or else of the newest revision. A hidden
    document is listed if it is submitted again while it is deleted: it has the `submitted_title` and the
    `submitted_metadata` of the newest revision, and nothing of what is deleted.
    """
    if not row["hidden"]:
        return load_document(row.get)
    submitted = {"title": row["submitted_title"] or row["key"], "metadata": row["submitted_metadata"]}
    return load_document({**row, **submitted, "current": None, "chunks": 0, "malformed": 0}.get)


def chunk_from_row(row: Row) -> Chunk:
    """Takes a chunk's properties."""
    return load_chunk(row.get)


def claim_from_row(row: Row) -> Claim:
    """Takes a revision's properties, with the document's `key` and the job's `token_budget` and `tokens_spent`."""
    return load_claim(row.get)


def job_from_row(row: Row) -> Job:
    """Takes a job's properties, with `failures` (pairs of key and reason), `in_work` (size, passages and passages done
    of each revision) and the time `now`.

    A revision without passages or passages done ended while it was read: Neo4j reads each property as it is then.
    """
    counts = {state: row[f"n_{state}"] for state in sorted(JOB_COUNTS) if row[f"n_{state}"] > 0}
    measured = MeasuredJob(
        bytes_total=row.get("bytes") or 0,
        bytes_done=row.get("bytes_done") or 0,
        passages=row.get("passages") or 0,
        in_work=[
            RevisionProgress(size=size, passages=passages, done=done)
            for size, passages, done in row["in_work"]
            if passages is not None and done is not None
        ],
        at=row.get("progress_at"),
    )
    fits = FitTally(**{fit.value: row.get(f"facts_{fit.value}") or 0 for fit in Fit})
    job = load_job(row.get, counts, [(key, reason) for key, reason in row["failures"]], measured, row["now"])
    return replace(job, fits=fits or None)


def was_ending(row: Row) -> bool:
    """Whether a job that ended while it was read has its last counts and not yet the time of its end."""
    if row["open"] or row.get("finished_at") is not None:
        return False
    return not any(row[f"n_{state}"] for state in STOPPABLE)
