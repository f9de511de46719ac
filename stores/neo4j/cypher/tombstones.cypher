// [bury]
MATCH (c:Corpus {id: $corpus_id})
SET c.tombstones = c.tombstones + 1
CREATE (t:Tombstone {uid: c.id + ':' + toString(c.tombstones), corpus_id: c.id, id: c.tombstones,
    due_at: timestamp() / 1000.0 + $grace, documents: $documents, payload: $payload})
RETURN t.id AS id;

// [due]: those whose documents have nothing in work that would write what they list
MATCH (t:Tombstone {corpus_id: $corpus_id})
WHERE t.slices IS NULL AND t.due_at <= timestamp() / 1000.0 AND NOT EXISTS {
    UNWIND t.documents AS id
    MATCH (r:Revision {document_uid: $corpus_id + ':' + id}) USING INDEX r:Revision(document_uid)
    WHERE r.state IN ['queued', 'loading', 'extracting', 'writing']
}
RETURN t.id AS id, t.payload AS payload ORDER BY t.id;

// [clear]
UNWIND $rows AS uid
MATCH (t:Tombstone {uid: uid})
DELETE t;
