"""Rows out: chunks with what hangs on them, and what is kept with documents."""

from collections.abc import Collection, Mapping

from stores.neo4j.commit.effects import Effects
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.trails import blank

__all__ = ["drop_chunks", "drop_documents", "drop_extractions", "drop_graph", "drop_revisions"]


def drop_graph(tx: Transaction, uids: Collection[str], effects: Effects) -> None:
    """Remove the mentions and assertions of chunks, noting whose support shrinks."""
    chunks = sorted(uids)
    for row in rows_of(tx, statements("commits")["drop_mentions"], chunks):
        for form, count in zip(row["forms"], row["counts"], strict=True):
            effects.forms[row["entity"], form] -= count
    for row in rows_of(tx, statements("commits")["drop_facts"], chunks):
        effects.triples.add(row["triple"])
        effects.ends |= {row["subject"], row["object"]}


def drop_chunks(tx: Transaction, views: Mapping[str, str], effects: Effects) -> None:
    """Remove chunks (the view ids by uid) with all that hangs on them."""
    drop_graph(tx, views, effects)
    blank(tx, views)
    tx.run_batches(statements("commits")["drop_chunks"], sorted(views))
    effects.old_views |= set(views.values())


def drop_documents(tx: Transaction, uids: Collection[str]) -> None:
    tx.run_batches(statements("commits")["drop_documents"], sorted(uids))


def drop_extractions(tx: Transaction, keep: Mapping[str, Collection[str]]) -> None:
    """Remove the extractions of documents but those with the hashes in `keep`."""
    there = rows_of(tx, statements("commits")["extractions"], sorted(keep))
    unused = sorted(row["uid"] for row in there if row["hash"] not in keep[row["document"]])
    tx.run_batches(statements("commits")["drop_extractions"], unused)


def drop_revisions(tx: Transaction, below: Mapping[str, int], effects: Effects) -> None:
    """Remove the revisions of documents that are older than the number given for each."""
    rows = [{"uid": uid, "below": number} for uid, number in sorted(below.items())]
    found = rows_of(tx, statements("commits")["drop_revisions"], rows)
    effects.contents |= {row["content"] for row in found} - {""}
