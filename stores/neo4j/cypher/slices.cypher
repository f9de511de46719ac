// Documents that are too large for one transaction. See the properties `first` and `last` of chunks in schema.cypher.

// [mark]: records that a document is written in slices, so that another worker finds its leftovers
MATCH (c:Corpus {id: $corpus_id})
MATCH (d:Document {uid: $uid})
SET c.tombstones = c.tombstones + 1, d.slices = $revision
CREATE (:Tombstone {uid: c.id + ':' + toString(c.tombstones), corpus_id: c.id, id: c.tombstones,
    due_at: timestamp() / 1000.0 + $grace, documents: [d.id], payload: '{}', slices: $revision});

// [marked]: documents that may have leftovers, and that no worker works on
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
WITH count(t) AS deleted
MATCH (d:Document {uid: $corpus_id + ':' + $document_id})
REMOVE d.slices;

// [document_state]: the revision whose slices a document has, and whether a worker writes them
MATCH (d:Document {uid: $uid})
RETURN d.slices AS slices,
    EXISTS {
        MATCH (r:Revision {uid: $uid + ':' + toString(d.slices)}) USING INDEX r:Revision(uid)
        WHERE r.state IN $working
    } AS working;

// [set_last]: records that chunks do not belong to revisions after $last
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
SET c.last = $last;

// [hidden_chunks]: chunks that readers do not see, each with the estimated number of its rows
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)
WHERE c.first > coalesce(d.current, 0) OR c.last < d.current
RETURN c.uid AS uid, c.view_id AS view_id, 1 + 2 * COUNT { (c)-[:MENTIONS]->() } AS rows ORDER BY uid;

// [suffixed_chunks]: chunks that were inserted beside the ones that they replace
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)
WHERE c.uid <> c.corpus_id + ':' + c.id
RETURN c.uid AS uid ORDER BY uid;

// [delete_suffixes]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
SET c.uid = c.corpus_id + ':' + c.id
WITH uid, c.uid AS renamed
MATCH ()-[f:FACT {chunk_uid: uid}]->() USING INDEX f:FACT(chunk_uid)
SET f.uid = f.corpus_id + ':' + f.id, f.chunk_uid = renamed;

// [chunks_with_last]: chunks that stay, although a slice has set their `last`
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)
WHERE c.last >= d.current
RETURN c.uid AS uid ORDER BY uid;

// [delete_last]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
REMOVE c.last;

// [used_extractions]: the extractions of the chunks of a document, once its slices are shown
MATCH (d:Document {uid: $uid}) WHERE d.current = d.slices
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
RETURN DISTINCT c.extract_hash AS hash;

// [ordered_chunks]
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)
RETURN c.uid AS uid ORDER BY c.position;

// [links]
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)-[:NEXT]->(n:Chunk)
RETURN c.uid AS first, n.uid AS second;
