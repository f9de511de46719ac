// Corpora that were deleted by name, and the deletion of their rows in bounded transactions.

// [count_unfinished]: documents whose newest revision is not indexed, by its state, and how many of them readers see
MATCH (c:Corpus) WHERE c.name IS NOT NULL AND c.documents IS NOT NULL
CALL (c) {
    MATCH (r:Revision {corpus_id: c.id}) USING INDEX r:Revision(corpus_id, state) WHERE r.state IN $states
    MATCH (d:Document {uid: r.document_uid}) USING INDEX d:Document(uid) WHERE d.newest = r.number
    RETURN r.state AS state, count(*) AS documents, min(r.updated_at) AS since,
        sum(CASE WHEN NOT d.hidden AND d.current IS NOT NULL THEN 1 ELSE 0 END) AS seen
}
RETURN c.name AS name, state, documents, since, seen;

// [count_indexed]: documents that readers see
MATCH (c:Corpus) WHERE c.name IS NOT NULL AND c.documents > 0 RETURN c.name AS name, c.documents AS documents;

// [count_documents]: by the state of their newest revision, in corpora of schemas before 8; reads all documents
MATCH (c:Corpus) WHERE c.name IS NOT NULL AND c.documents IS NULL
MATCH (d:Document {corpus_id: c.id}) USING INDEX d:Document(corpus_id, key) WHERE d.key IS NOT NULL
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)}) USING INDEX r:Revision(uid)
RETURN c.name AS name, r.state AS state, count(*) AS documents, min(r.updated_at) AS since
ORDER BY name, state;

// [deleted_corpora]
MATCH (c:Corpus) WHERE c.name IS NULL AND c.beside IS NULL RETURN c.id AS id ORDER BY id;

// [some_chunks]
MATCH (c:Chunk {corpus_id: $corpus_id}) RETURN c.uid AS uid LIMIT $limit;

// [delete_chunks]: with their facts, which are relationships of entities
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
CALL (c) {
    MATCH ()-[f:FACT {chunk_uid: c.uid}]->() USING INDEX f:FACT(chunk_uid)
    DELETE f
}
DETACH DELETE c;

// [delete_synonyms]: deletes some of them, as an entity may have many
MATCH (e:Entity {corpus_id: $corpus_id})-[s:SYNONYM]->() USING INDEX e:Entity(corpus_id)
WITH s LIMIT $limit DELETE s RETURN count(*) AS deleted;

// [delete_entities]
MATCH (n:Entity {corpus_id: $corpus_id}) WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS deleted;

// [delete_documents]
MATCH (n:Document {corpus_id: $corpus_id}) WHERE n.key IS NOT NULL
WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS deleted;

// [delete_revisions]
MATCH (n:Revision {corpus_id: $corpus_id}) WHERE n.state IS NOT NULL
WITH n LIMIT $limit DELETE n RETURN count(*) AS deleted;

// [delete_extractions]
MATCH (n:Extraction {corpus_id: $corpus_id}) WITH n LIMIT $limit DELETE n RETURN count(*) AS deleted;

// [delete_changes]
MATCH (n:Change {corpus_id: $corpus_id}) WHERE n.generation IS NOT NULL
WITH n LIMIT $limit DELETE n RETURN count(*) AS deleted;

// [delete_tombstones]
MATCH (n:Tombstone {corpus_id: $corpus_id}) WITH n LIMIT $limit DELETE n RETURN count(*) AS deleted;

// [delete_merges]
MATCH (n:Merge) WHERE n.uid STARTS WITH $corpus_id + ':' WITH n LIMIT $limit DELETE n RETURN count(*) AS deleted;

// [delete_rejections]
MATCH (n:Rejection) WHERE n.uid STARTS WITH $corpus_id + ':' WITH n LIMIT $limit DELETE n RETURN count(*) AS deleted;

// [delete_corpus]
MATCH (c:Corpus {id: $corpus_id}) DELETE c;
