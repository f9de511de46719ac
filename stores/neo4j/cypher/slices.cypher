// [mark]: a document is written in slices from now on; who tidies up after a worker that died finds it by this
MATCH (c:Corpus {id: $corpus_id})
MATCH (d:Document {uid: $uid})
SET c.tombstones = c.tombstones + 1, d.slices = $revision
CREATE (:Tombstone {uid: c.id + ':' + toString(c.tombstones), corpus_id: c.id, id: c.tombstones,
    due_at: timestamp() / 1000.0 + $grace, documents: [d.id], payload: '{}', slices: $revision});

// [marked]: documents that were left half-written, and that nobody works on
MATCH (t:Tombstone {corpus_id: $corpus_id})
WHERE t.slices IS NOT NULL AND t.due_at <= timestamp() / 1000.0
UNWIND t.documents AS document
WITH DISTINCT document, $corpus_id + ':' + document AS uid
WHERE NOT EXISTS {
    MATCH (r:Revision {document_uid: uid}) USING INDEX r:Revision(document_uid)
    WHERE r.state IN ['queued', 'loading', 'extracting', 'writing', 'deleting']
}
OPTIONAL MATCH (d:Document {uid: uid})
RETURN document, d.slices AS slices ORDER BY document;

// [unmark]
MATCH (t:Tombstone {corpus_id: $corpus_id}) WHERE t.slices IS NOT NULL AND t.documents = [$document_id]
DELETE t
WITH count(t) AS gone
MATCH (d:Document {uid: $corpus_id + ':' + $document_id})
REMOVE d.slices;

// [state]: whose slices a document has, and whether somebody writes them
MATCH (d:Document {uid: $uid})
RETURN d.slices AS slices,
    EXISTS {
        MATCH (r:Revision {uid: $uid + ':' + toString(d.slices)}) USING INDEX r:Revision(uid)
        WHERE r.state IN $working
    } AS working;

// [tell]: chunks that they do not belong to later revisions
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
SET c.last = $last;

// [unseen]: chunks that readers do not see, with an estimate of how many rows go with each
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)
WHERE c.first > coalesce(d.current, 0) OR c.last < d.current
RETURN c.uid AS uid, c.view_id AS view_id, 1 + 2 * COUNT { (c)-[:MENTIONS]->() } AS rows ORDER BY uid;

// [beside]: chunks that were written beside those that they replace
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)
WHERE c.uid <> c.corpus_id + ':' + c.id
RETURN c.uid AS uid ORDER BY uid;

// [rename]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
SET c.uid = c.corpus_id + ':' + c.id
WITH uid, c.uid AS renamed
MATCH ()-[f:FACT {chunk_uid: uid}]->() USING INDEX f:FACT(chunk_uid)
SET f.uid = f.corpus_id + ':' + f.id, f.chunk_uid = renamed;

// [told]: chunks that were told that they go, and stay
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)
WHERE c.last >= d.current
RETURN c.uid AS uid ORDER BY uid;

// [untell]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
REMOVE c.last;

// [used]: what the chunks of a document are made of, once its slices are shown
MATCH (d:Document {uid: $uid}) WHERE d.current = d.slices
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
RETURN DISTINCT c.extract_hash AS hash;

// [in_order]
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)
RETURN c.uid AS uid ORDER BY c.position;

// [nexts]
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)-[:NEXT]->(n:Chunk)
RETURN c.uid AS first, n.uid AS second;
