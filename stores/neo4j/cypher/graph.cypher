// The graph for snapshots. Nodes are identified by the server's own numbers, which are a tenth of the size of an id.
// They are valid within one transaction, since the number of a deleted node is not used again while a transaction reads.
// Some statements name an index: without it the planner would scan all corpora once most nodes belong to one corpus.

// [corpus]
MATCH (c:Corpus {id: $corpus}) RETURN c.generation AS generation, c.changes_floor AS floor;

// [changed]: the changes after a generation
MATCH (n:Change {corpus_id: $corpus}) WHERE n.generation > $since
RETURN n.put + n.deleted AS chunks, n.synonyms AS synonyms;

// [count_changed]
MATCH (n:Change {corpus_id: $corpus}) WHERE n.generation > $since
RETURN coalesce(sum(size(n.put) + size(n.deleted)), 0) AS chunks;

// [entities]
MATCH (e:Entity {corpus_id: $corpus}) USING INDEX e:Entity(corpus_id) RETURN id(e), e.id, e.normal;

// [chunks]: each with the entities that it mentions, and the ends of its facts
MATCH (c:Chunk {corpus_id: $corpus})
USING INDEX c:Chunk(corpus_id)
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
USING INDEX d:Document(uid)
WHERE NOT d.hidden AND d.disabled IS NULL AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c.id, c.document_id, c.view_id, c.position, c.title_names, c.terms,
    COLLECT { MATCH (c)-[:MENTIONS]->(e:Entity) RETURN id(e) },
    COLLECT { MATCH (s:Entity)-[f:FACT {chunk_uid: c.uid}]->(o:Entity) RETURN [id(s), id(o)] };

// [synonyms]
MATCH (a:Entity {corpus_id: $corpus})-[s:SYNONYM]->(b:Entity) USING INDEX a:Entity(corpus_id) RETURN id(a), id(b), s.score;

// [some_entities]: by the server's numbers
UNWIND $rows AS number
MATCH (e:Entity) WHERE id(e) = number
RETURN id(e), e.id, e.normal;

// [some_chunks]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND d.disabled IS NULL AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c.id, c.document_id, c.view_id, c.position, c.title_names, c.terms,
    COLLECT { MATCH (c)-[:MENTIONS]->(e:Entity) RETURN id(e) },
    COLLECT { MATCH (s:Entity)-[f:FACT {chunk_uid: c.uid}]->(o:Entity) RETURN [id(s), id(o)] };

// [some_synonyms]: the synonyms of some entities, in either direction
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid})-[s:SYNONYM]-(:Entity)
RETURN DISTINCT id(startNode(s)), id(endNode(s)), s.score;
