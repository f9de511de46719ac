// [insert]
MATCH (c:Corpus {id: $corpus_id})
SET c.tombstones = c.tombstones + 1
CREATE (t:Tombstone {uid: c.id + ':' + toString(c.tombstones), corpus_id: c.id, id: c.tombstones,
    due_at: timestamp() / 1000.0 + $grace, documents: $documents, payload: $payload})
RETURN t.id AS id;

// [due]: the due tombstones of a corpus; a queued or unfinished revision may write the listed ids again
MATCH (t:Tombstone {corpus_id: $corpus_id})
WHERE t.slices IS NULL AND t.due_at <= timestamp() / 1000.0 AND NOT EXISTS {
    UNWIND t.documents AS id
    MATCH (r:Revision {document_uid: $corpus_id + ':' + id}) USING INDEX r:Revision(document_uid)
    WHERE r.state IN $blocking
}
RETURN t.id AS id, t.payload AS payload ORDER BY t.id;

// [delete]
UNWIND $rows AS uid
MATCH (t:Tombstone {uid: uid})
DELETE t;

// [used_view_ids]: those of the view ids that a chunk has
UNWIND $rows AS uid
MATCH (c:Chunk {view_uid: uid}) USING INDEX c:Chunk(view_uid)
RETURN DISTINCT c.view_id AS id;

// [used_entities]: those of the entities that a chunk mentions
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid}) USING INDEX e:Entity(uid)
WHERE size(e.forms) > 0
RETURN e.id AS id;

// [used_triples]: those of the triples that a chunk asserts
UNWIND $rows AS uid
MATCH ()-[f:FACT {triple_uid: uid}]->() USING INDEX f:FACT(triple_uid)
RETURN DISTINCT f.triple_id AS id;

// [used_contents]: those of the content hashes that a revision has
UNWIND $rows AS hash
MATCH (r:Revision {corpus_id: $corpus_id, content_hash: hash}) USING INDEX r:Revision(corpus_id, content_hash)
RETURN DISTINCT hash AS id;
