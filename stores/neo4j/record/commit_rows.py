"""The rows of a commit, of many documents in few statements: the steps of one transaction, in their order.

- `read_changes` compares revisions with the stored chunks of their documents, before anything is written.
- Deletions follow: chunks with their mentions, facts and quoted text, and what belongs to documents.
- Then chunks are inserted, with their mentions, facts and NEXT relationships.
- `make_current` shows the revisions, and `finish` writes synonyms, the change log and the tombstone.

Each step adds what it deletes and inserts to `Neo4jCommitEffects`, from which entities and tombstones are written.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import Any

from core.documents import RevisionState
from core.graph import Fact, Mention, Synonym
from core.ports.record import ChunkRow, Claim, Commit, Outcome, RemovedDocument, Tombstone
from core.record_policy.commits import compare_chunks, joined_names, make_tombstone
from core.validity import is_dated
from stores.neo4j.certificates import insert_documents
from stores.neo4j.driver.rows import document_uid, revision_uid, uid_of
from stores.neo4j.driver.transaction import Row, Transaction, statements
from stores.neo4j.record.change_log import insert_tombstone, log_changes, raise_generation, used_ids
from stores.neo4j.record.claims import Token
from stores.neo4j.record.entities import Neo4jCommitEffects, delete_entities, update_entities, write_synonyms
from stores.neo4j.record.revisions import move
from stores.record_rows import dump

_CONSTANT = {"uid", "corpus_id", "id", "document_id", "text", "first", "last"}


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a revision changes of its document, which exists.

    `new` chunks are not stored yet. `changed` chunks are stored and need another graph or view entry; `replaced` are
    their stored rows by id. The other chunks are kept; `updates` are their properties that differ, with their uids.
    `deleted` are the rows of stored chunks that the revision lacks. `written` are the ids of the chunks that snapshots
    do not hold as they are now. `current` is the number of the current revision, if there is one.
    """

    commit: Commit
    current: int | None
    new: Sequence[ChunkRow]
    changed: Sequence[ChunkRow]
    replaced: Mapping[str, Row]
    updates: Sequence[Mapping[str, Any]]
    deleted: Sequence[Row]
    written: frozenset[str]

    @property
    def uid(self) -> str:
        """The uid of the document."""
        return document_uid(self.commit.claim)

    @property
    def outdated(self) -> list[str]:
        """The uids of the stored chunks that the revision deletes or replaces."""
        return sorted(row["uid"] for row in (*self.deleted, *self.replaced.values()))


def read_changes(tx: Transaction, commits: Sequence[Commit]) -> list[Change]:
    """Returns the changes of the commits whose documents exist. The document of a valid claim always exists."""
    uids = sorted(document_uid(commit.claim) for commit in commits)
    documents = {row["uid"]: row for row in tx.rows_in_batches(statements("commits")["documents"], uids)}
    stored: dict[str, dict[str, Row]] = {uid: {} for uid in uids}
    for row in tx.rows_in_batches(statements("commits")["chunks"], uids):
        stored[row["document"]][row["chunk"]["id"]] = row["chunk"]
    return [
        _change(commit, documents[uid], stored[uid])
        for commit, uid in ((commit, document_uid(commit.claim)) for commit in commits)
        if uid in documents
    ]


def _change(commit: Commit, document: Row, stored: Mapping[str, Row]) -> Change:
    chunks = {row.chunk.id: row for row in commit.chunks}
    changes = compare_chunks(stored, chunks.values(), is_hidden=document["hidden"])
    return Change(
        commit=commit,
        current=document["current"],
        new=[row for id, row in chunks.items() if id in changes.made],
        changed=[row for id, row in chunks.items() if id in changes.changed],
        replaced={id: stored[id] for id in chunks if id in changes.changed},
        updates=[
            {"uid": stored[id]["uid"], **update}
            for id, row in chunks.items()
            if id in changes.kept and (update := _update(stored[id], _chunk_properties(commit.claim.corpus_id, row)))
        ],
        deleted=[row for id, row in stored.items() if id in changes.deleted],
        written=frozenset(changes.logged),
    )


def _update(stored: Row, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the properties of a stored chunk that differ."""
    return {name: value for name, value in properties.items() if name not in _CONSTANT and stored.get(name) != value}


def _chunk_properties(corpus_id: str, row: ChunkRow) -> dict[str, Any]:
    """Returns the properties of a chunk's node, except `first` and `last`."""
    chunk = row.chunk
    return {
        "uid": uid_of(corpus_id, chunk.id),
        "corpus_id": corpus_id,
        "id": chunk.id,
        "document_id": chunk.document_id,
        "view_id": chunk.view_id,
        "view_uid": uid_of(corpus_id, chunk.view_id),
        "position": chunk.position,
        "title_names": joined_names(row),
        "terms": row.terms,
        "text": chunk.text,
        "heading": chunk.heading,
        "page": chunk.page,
        "span_start": chunk.span.start if chunk.span else None,
        "span_end": chunk.span.end if chunk.span else None,
        "extract_hash": row.extract_hash,
        "tokens": row.tokens,
    }


def delete_outdated(
    tx: Transaction, deletions: Sequence[Commit], changes: Sequence[Change], effects: Neo4jCommitEffects
) -> None:
    """Deletes the chunks of deleted documents, and of changed documents the chunks and the graph that the revisions
    lack.
    """
    documents = sorted(document_uid(deletion.claim) for deletion in deletions)
    chunks = tx.rows_in_batches(statements("commits")["chunk_uids"], documents)
    chunks += [row for change in changes for row in change.deleted]
    _delete_chunks(tx, chunks, effects)
    effects.deleted |= {row["id"] for row in chunks}
    replaced = [row for change in changes for row in change.replaced.values()]
    _delete_graph(tx, [row["uid"] for row in replaced], effects)
    effects.view_ids |= {row["view_id"] for row in replaced}


def delete_chunks(
    tx: Transaction, corpus_id: str, chunks: Sequence[Row], document_id: str, grace: float
) -> Tombstone | None:
    """Deletes chunks that no reader sees, with the entities that only they mention. Returns the tombstone."""
    effects = Neo4jCommitEffects(corpus_id=corpus_id)
    _delete_chunks(tx, chunks, effects)
    formless = update_entities(tx, effects, ())
    delete_entities(tx, effects, formless)
    if formless:  # a concurrent search for synonyms may have read these entities
        raise_generation(tx, corpus_id)
    return _write_tombstone(tx, effects, formless, [document_id], grace)


def delete_documents(
    tx: Transaction, deletions: Sequence[Commit], jobs: Mapping[Token, str], effects: Neo4jCommitEffects
) -> None:
    """Deletes documents whose chunks are deleted, with all their revisions and extractions. `jobs` are by claim."""
    uids = [document_uid(deletion.claim) for deletion in deletions]
    passages = {row["uid"]: row["passages"] for row in tx.rows_in_batches(statements("commits")["documents"], uids)}
    move(tx, [revision_uid(deletion.claim) for deletion in deletions], RevisionState.DELETED)
    delete_extractions(tx, dict.fromkeys(uids, ()))
    _delete_revisions(tx, deletions, passages, jobs, effects)
    tx.run_batches(statements("commits")["delete_documents"], sorted(uids))


def delete_extractions(tx: Transaction, keep: Mapping[str, Collection[str]]) -> None:
    """Deletes the extractions of documents, by document uid, except those with the hashes in `keep`."""
    stored = tx.rows_in_batches(statements("commits")["extractions"], sorted(keep))
    unused = sorted(row["uid"] for row in stored if row["hash"] not in keep[row["document"]])
    tx.run_batches(statements("commits")["delete_extractions"], unused)


def _delete_revisions(
    tx: Transaction,
    commits: Sequence[Commit],
    passages: Mapping[str, int],
    jobs: Mapping[Token, str],
    effects: Neo4jCommitEffects,
) -> None:
    """Deletes the older revisions of the commits' documents, and the revisions of deletions.

    `passages` are how many each document loses, by its uid; `jobs` are by claim.
    """
    below = {document_uid(one.claim): one.claim.revision + int(one.claim.deletion) for one in commits}
    rows = [{"uid": uid, "below": number} for uid, number in sorted(below.items())]
    contents: dict[str, set[str]] = {uid: set() for uid in below}
    for row in tx.rows_in_batches(statements("commits")["delete_revisions"], rows):
        contents[row["uid"]] |= {row["content"]} - {""}
    for one in commits:
        claim, uid = one.claim, document_uid(one.claim)
        effects.content_hashes |= contents[uid]
        gone = contents[uid] if claim.deletion else contents[uid] - {claim.content_hash}
        if claim.deletion or gone:
            effects.removed.append(
                RemovedDocument(
                    key=claim.key,
                    is_replaced=not claim.deletion,
                    contents=tuple(sorted(gone)),
                    passages=passages[uid],
                    job=jobs[claim.token],
                )
            )


def _delete_chunks(tx: Transaction, chunks: Sequence[Row], effects: Neo4jCommitEffects) -> None:
    """Deletes chunks, given with `uid` and `view_id`, and all that belongs to them."""
    uids = sorted({row["uid"] for row in chunks})
    _delete_graph(tx, uids, effects)
    _delete_trail_text(tx, uids)
    tx.run_batches(statements("commits")["delete_chunks"], uids)
    effects.view_ids |= {row["view_id"] for row in chunks}


def _delete_graph(tx: Transaction, uids: Collection[str], effects: Neo4jCommitEffects) -> None:
    """Deletes the mentions and facts of chunks."""
    chunks = sorted(uids)
    for row in tx.rows_in_batches(statements("commits")["delete_mentions"], chunks):
        for form, count in zip(row["forms"], row["counts"], strict=True):
            effects.forms[row["entity"], form] -= count
    for row in tx.rows_in_batches(statements("commits")["delete_facts"], chunks):
        effects.triples.add(row["triple"])
        effects.ends |= {row["subject"], row["object"]}


def _delete_trail_text(tx: Transaction, chunks: Sequence[str]) -> None:
    """Deletes the text of the answer trails that show these chunks, and lets the trails expire.

    The expired trails are deleted later, as a chunk may be shown by too many trails for one transaction.
    """
    rows = tx.rows_in_batches(statements("trails")["delete_question_text"], chunks)
    uids = sorted({row["uid"] for row in rows})
    tx.run_batches(statements("trails")["delete_quotes"], uids)
    tx.run_batches(statements("trails")["delete_step_text"], uids)


Pair = tuple[str, str]
"""The uids of two consecutive chunks."""


def insert_changes(tx: Transaction, changes: Sequence[Change], effects: Neo4jCommitEffects) -> list[str]:
    """Inserts the new chunks of revisions, updates stored chunks, and inserts the graph of new and changed chunks.

    Returns the ids of the entities that have lost their last form. These include entities that lost it by
    deletions that `effects` counts.
    """
    rows = _Rows(effects)
    for change in changes:
        rows.add(change.commit, new=change.new, changed=change.changed)
        rows.updates += [*change.updates, *(_chunk_properties(effects.corpus_id, row) for row in change.changed)]
        effects.view_ids -= {row.chunk.view_id for row in change.changed}
        effects.written |= change.written
    return rows.write(tx)


def insert_chunks(
    tx: Transaction, commit: Commit, chunks: Sequence[ChunkRow], suffix: str, effects: Neo4jCommitEffects
) -> None:
    """Inserts some chunks of a revision with their graph. `suffix` ends the uids of the chunks and facts."""
    rows = _Rows(effects, suffix)
    rows.add(commit, new=chunks, changed=())
    rows.write(tx)


def link_chunks(tx: Transaction, changes: Sequence[Change]) -> None:
    """Makes the NEXT relationships of documents follow the order of their chunks."""
    uids = sorted(change.uid for change in changes if change.current is not None)
    stored = {(row["first"], row["second"]) for row in tx.rows_in_batches(statements("commits")["links"], uids)}
    wanted = {pair for change in changes for pair in _links(change.commit)}
    write_links(tx, wrong=stored - wanted, missing=wanted - stored)


def write_links(tx: Transaction, *, wrong: Iterable[Pair], missing: Iterable[Pair]) -> None:
    """Deletes and creates NEXT relationships."""
    for name, pairs in (("delete_links", wrong), ("create_links", missing)):
        tx.run_batches(statements("commits")[name], [{"first": a, "second": b} for a, b in sorted(pairs)])


def _links(commit: Commit) -> set[Pair]:
    ordered = sorted(commit.chunks, key=lambda row: row.chunk.position)
    return set(pairwise(uid_of(commit.claim.corpus_id, row.chunk.id) for row in ordered))


@dataclass
class _Rows:
    """The parameters of the statements: `add` collects them, `write` runs the statements.

    `suffix` ends the uids of new chunks and facts. `updates` are properties of stored chunks. `ends` are the subjects
    and objects of the facts.
    """

    effects: Neo4jCommitEffects
    suffix: str = ""
    chunks: list[dict[str, Any]] = field(default_factory=list)
    updates: list[Mapping[str, Any]] = field(default_factory=list)
    mentions: list[list[Any]] = field(default_factory=list)
    facts: list[list[str]] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)

    def add(self, commit: Commit, *, new: Sequence[ChunkRow], changed: Sequence[ChunkRow]) -> None:
        """Adds the chunks `new`, and the graph of the chunks `new` and `changed`.

        If a mention or a fact is given twice, the last one counts.
        """
        ids = {row.chunk.id for row in (*new, *changed)}
        mentions = {(m.chunk_id, m.entity_id, m.form): m for m in commit.mentions if m.chunk_id in ids}
        facts = {f.id: f for f in commit.facts if f.chunk_id in ids}
        self.chunks += _chunk_rows(commit.claim, new, self.suffix)
        self.mentions += _mention_rows(mentions.values())
        self.facts += _fact_rows(commit.claim.document_id, facts.values())
        self.ends |= {id for fact in facts.values() for id in (fact.subject_id, fact.object_id)}
        for mention in mentions.values():
            self.effects.forms[mention.entity_id, mention.form] += mention.count
            self.effects.names[mention.entity_id] = mention.name

    def write(self, tx: Transaction) -> list[str]:
        """Returns the ids of the entities that have lost their last form."""
        formless = update_entities(tx, self.effects, self.ends)
        commits = statements("commits")
        ends = {"corpus_id": self.effects.corpus_id, "suffix": self.suffix}
        tx.run_batches(commits["create_chunks"], sorted(self.chunks, key=lambda row: str(row["chunk"]["uid"])))
        tx.run_batches(commits["update_chunks"], sorted(self.updates, key=lambda row: str(row["uid"])))
        tx.run_batches(commits["create_mentions"], sorted(self.mentions, key=itemgetter(0, 1)), **ends)
        tx.run_batches(commits["create_facts"], sorted(self.facts), **ends)
        return formless


def _chunk_rows(claim: Claim, rows: Iterable[ChunkRow], suffix: str) -> list[dict[str, Any]]:
    """Returns new chunks, which belong to the claimed revision and to later revisions."""
    document = document_uid(claim)
    chunks = [_chunk_properties(claim.corpus_id, row) for row in rows]
    return [
        {"document": document, "chunk": {**chunk, "uid": chunk["uid"] + suffix, "first": claim.revision}}
        for chunk in chunks
    ]


def _mention_rows(mentions: Collection[Mention]) -> list[list[Any]]:
    """Returns one row for each pair of a chunk and an entity, with all forms."""
    forms: dict[tuple[str, str], list[Mention]] = {}
    for mention in mentions:
        forms.setdefault((mention.chunk_id, mention.entity_id), []).append(mention)
    return [
        [chunk, entity, [mention.form for mention in some], [mention.count for mention in some]]
        for (chunk, entity), some in forms.items()
    ]


def _fact_rows(document_id: str, facts: Collection[Fact]) -> list[list[str]]:
    return [[f.id, f.triple_id, f.chunk_id, document_id, f.subject_id, f.predicate, f.object_id] for f in facts]


def make_current(
    tx: Transaction, changes: Sequence[Change], jobs: Mapping[Token, str], effects: Neo4jCommitEffects
) -> None:
    """Shows inserted revisions to readers, and deletes the older revisions. `jobs` are by claim."""
    rows = [
        {
            "uid": change.uid,
            "job": jobs[change.commit.claim.token],
            "document": _document(change.commit),
            "fits": asdict(change.commit.fits),
        }
        for change in changes
    ]
    rows.sort(key=lambda row: str(row["uid"]))
    tx.run_batches(statements("commits")["make_current"], rows, corpus_id=effects.corpus_id)
    move(tx, [revision_uid(change.commit.claim) for change in changes], RevisionState.INDEXED)
    passages = {change.uid: len(change.deleted) for change in changes}
    _delete_revisions(tx, [change.commit for change in changes], passages, jobs, effects)


def _document(commit: Commit) -> dict[str, Any]:
    return {
        "title": commit.title,
        "metadata": dump(dict(commit.metadata)),
        "dated": True if is_dated(commit.metadata) else None,
        "current": commit.claim.revision,
        "hidden": False,
        "chunks": len(commit.chunks),
        "facts": len(commit.facts),
        "mentions": sum(mention.count for mention in commit.mentions),
        "malformed": commit.malformed_triples,
    }


def finish(
    tx: Transaction,
    effects: Neo4jCommitEffects,
    synonyms: Sequence[Synonym],
    *,
    formless: Sequence[str],
    claims: Sequence[Claim],
    grace: float,
    fenced: Sequence[Claim] = (),
    linked: Set[tuple[str, str]] = frozenset(),
) -> Outcome:
    """Raises the generation, writes synonyms and a tombstone, and logs the changes.

    `formless` are the entities that have lost their last form, `claims` the claims whose revisions were written,
    `linked` the pairs of entities whose synonyms earlier transactions of the same commit have written.
    """
    generation = raise_generation(tx, effects.corpus_id)
    pairs = linked | write_synonyms(tx, effects.corpus_id, synonyms)
    log_changes(
        tx,
        effects.corpus_id,
        generation,
        put=effects.written,
        deleted=effects.deleted - effects.written,
        synonyms={id for pair in pairs for id in pair},
    )
    tombstone = _write_tombstone(tx, effects, formless, [claim.document_id for claim in claims], grace)
    insert_documents(tx, effects.corpus_id, effects.removed, tombstone)
    return Outcome(
        generation=generation,
        fenced=tuple(fenced),
        tombstone=tombstone,
        pending_synonyms=effects.pending_synonyms,
    )


def _write_tombstone(
    tx: Transaction, effects: Neo4jCommitEffects, entity_ids: Sequence[str], document_ids: Sequence[str], grace: float
) -> Tombstone | None:
    """Writes a tombstone for what a transaction deletes, due after `grace` seconds; None if there is nothing to list.

    Triples are listed although a chunk may still assert them. The reader of the tombstone selects the orphans, and
    holds no lock for that.
    """
    corpus_id, contents = effects.corpus_id, sorted(effects.content_hashes)
    used = used_ids(tx, corpus_id, "content_hashes", contents)
    ids = {
        "view_ids": sorted(effects.view_ids),
        "entity_ids": sorted(entity_ids),
        "triple_ids": sorted(effects.triples),
        "content_hashes": [hash for hash in contents if hash not in used],
    }
    return insert_tombstone(tx, make_tombstone(0, corpus_id, ids), document_ids, grace)
