"""Removing every row of a corpus, in transactions of a bounded size: the last one ends its drop job."""

from core.documents import RevisionState
from core.errors import NotFound
from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.states import count
from stores.neo4j.trails import delete_some_trails

__all__ = ["forget"]

_CHUNKS = 500  # with some 20 relationships each
_ROWS = 5000
_KINDS = ("synonyms", "entities", "documents", "revisions", "extractions", "changes", "tombstones")


async def forget(database: Database, corpus_id: str) -> None:
    """Nothing happens to a corpus that was not dropped, or is forgotten already."""
    try:
        while await database.write(corpus_id, _forget_some):
            pass
    except NotFound:
        return


def _forget_some(tx: Transaction) -> bool:
    """Whether there is more to do."""
    corpus = tx.corpus
    if corpus.get("name") is not None or corpus.get("beside") is not None:
        return False
    if delete_some_trails(tx, corpus["id"]):
        return True
    chunks = [row["uid"] for row in tx.rows(statements("work")["some_chunks"], corpus_id=corpus["id"], limit=_CHUNKS)]
    if chunks:
        tx.run(statements("work")["forget_chunks"], rows=sorted(chunks))
        return True
    for kind in _KINDS:
        if tx.rows(statements("work")[f"forget_{kind}"], corpus_id=corpus["id"], limit=_ROWS)[0]["gone"]:
            return True
    tx.run(statements("work")["forget_corpus"], corpus_id=corpus["id"])
    job = corpus["drop_job"]
    count(tx, {(job, RevisionState.QUEUED.value): -1, (job, RevisionState.DELETED.value): 1})
    return False
