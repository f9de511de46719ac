// [stage]
UNWIND $rows AS row
MERGE (x:Extraction {uid: row.uid})
SET x += row;

// [staged]
UNWIND $rows AS uid
MATCH (x:Extraction {uid: uid}) USING INDEX x:Extraction(uid)
RETURN x.document_id AS document, x.extract_hash AS hash, x.payload AS payload;

// [dropped]
MATCH (c:Corpus) WHERE c.name IS NULL AND c.beside IS NULL RETURN c.id AS id ORDER BY id;

// [some_chunks]
MATCH (c:Chunk {corpus_id: $corpus_id}) RETURN c.uid AS uid LIMIT $limit;

// [forget_chunks]: with their facts, which hang on entities
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
CALL (c) {
    MATCH ()-[f:FACT {chunk_uid: c.uid}]->() USING INDEX f:FACT(chunk_uid)
    DELETE f
}
DETACH DELETE c;

// [forget_synonyms]: some of them, for an entity may have many
MATCH (e:Entity {corpus_id: $corpus_id})-[s:SYNONYM]->() USING INDEX e:Entity(corpus_id)
WITH s LIMIT $limit DELETE s RETURN count(*) AS gone;

// [forget_entities]
MATCH (n:Entity {corpus_id: $corpus_id}) WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS gone;

// [forget_documents]
MATCH (n:Document {corpus_id: $corpus_id}) WHERE n.key IS NOT NULL
WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS gone;

// [forget_revisions]
MATCH (n:Revision {corpus_id: $corpus_id}) WHERE n.state IS NOT NULL
WITH n LIMIT $limit DELETE n RETURN count(*) AS gone;

// [forget_extractions]
MATCH (n:Extraction {corpus_id: $corpus_id}) WITH n LIMIT $limit DELETE n RETURN count(*) AS gone;

// [forget_changes]
MATCH (n:Change {corpus_id: $corpus_id}) WHERE n.generation IS NOT NULL
WITH n LIMIT $limit DELETE n RETURN count(*) AS gone;

// [forget_tombstones]
MATCH (n:Tombstone {corpus_id: $corpus_id}) WITH n LIMIT $limit DELETE n RETURN count(*) AS gone;

// [forget_corpus]
MATCH (c:Corpus {id: $corpus_id}) DELETE c;
