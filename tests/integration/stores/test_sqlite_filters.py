"""Kept matches of filters are those of the documents as they are, whichever process changed them."""

import random
from pathlib import Path

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.filters import DocumentFilter, parse_filter
from core.ports.record import Commit
from stores.sqlite.record import SqliteRecord
from testing.record import SETTINGS, claim_all, commit_of, revision

_KEYS = [f"d{n}" for n in range(12)]
_IDS = [ids.document_id(key) for key in _KEYS]
_FILTERS = [
    parse_filter(source)
    for source in (
        {"year": 1},
        {"year": {"$gte": 2}},
        {"year": {"$exists": False}},
        {"$or": [{"year": 0}, {"$key": {"$prefix": "d1"}}]},
        {"year": {"$nin": [1, 3]}},
    )
]


async def test_matches_are_those_of_the_documents(tmp_path: Path) -> None:
    """Two records of one file answer in turn, while either changes documents, and their log is cut off."""
    records = [SqliteRecord(tmp_path / "record.db") for _ in range(2)]
    corpora = [await records[0].corpora.create(name, SETTINGS) for name in ("books", "others")]
    rng, seen = random.Random(11), set()
    for step in range(300):
        await _change(rng.choice(records), rng.choice(corpora), step, rng)
        for _ in range(4):
            record, corpus, where = rng.choice(records), rng.choice(corpora), rng.choice(_FILTERS)
            enabled = rng.choice([True, True, False, None])
            matching = await record.documents.match(corpus.id, where, enabled=enabled)
            assert matching == await _match_all(record, corpus, where, enabled), (step, where.source, enabled)
            seen.add(matching)
    assert len(seen) > 50
    for record in records:
        await record.close()


async def _change(record: SqliteRecord, corpus: Corpus, step: int, rng: random.Random) -> None:
    key, what = rng.choice(_KEYS), rng.choice(["put", "put", "queue", "delete", "hide", "work", "prune"])
    there = list(await record.documents.get_refs(corpus.id, [ids.document_id(key)], enabled=None))
    if what in {"put", "queue"}:
        metadata = {} if rng.random() < 0.2 else {"year": rng.randrange(4)}
        new = [revision(key, f"text {step}", **metadata)]
        await record.submissions.enqueue(corpus.id, new, OnConflict.REPLACE)
    if what in {"put", "work"}:
        claims = await claim_all(record, corpus)
        if claims:
            commits = [Commit(claim=claim) if claim.deletion else commit_of(claim, []) for claim in claims]
            await record.commits.commit(commits, grace=0)
    elif what == "prune":
        await record.maintenance.prune()
    elif what == "delete" and there:
        await record.submissions.delete_documents(corpus.id, there)
    elif what == "hide" and there:
        await record.submissions.set_enabled(corpus.id, there, enabled=rng.random() < 0.5)


async def _match_all(record: SqliteRecord, corpus: Corpus, where: DocumentFilter, enabled: bool | None) -> set[str]:
    """Returns the ids of the documents that match, by reading each."""
    refs = await record.documents.get_refs(corpus.id, _IDS, enabled=enabled)
    return {
        id
        for id, ref in refs.items()
        if where.matches(id=id, key=ref.key, title=ref.title, metadata=ref.metadata, access=None)
    }
