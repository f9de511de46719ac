// What readers see: chunks of the current revisions of documents that are not being deleted, and what these assert.

// [documents]: a page, by key; keys are ordered by code point
MATCH (d:Document)
USING INDEX d:Document(corpus_id, key)
WHERE d.corpus_id = $corpus AND d.key > $after AND NOT d.hidden AND ($state IS NULL OR d.state = $state)
WITH d ORDER BY d.key LIMIT $limit
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)})
MATCH (s:Revision {uid: d.uid + ':' + toString(coalesce(d.current, d.newest))})
RETURN d {.*, reason: r.reason, updated_at: r.updated_at, media_type: s.media_type, size: s.size,
    content_hash: s.content_hash} AS document
ORDER BY d.key;

// [document_by_key]
MATCH (d:Document {corpus_id: $corpus, key: $key})
WHERE d.key > $after AND NOT d.hidden AND ($state IS NULL OR d.state = $state)
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)})
MATCH (s:Revision {uid: d.uid + ':' + toString(coalesce(d.current, d.newest))})
RETURN d {.*, reason: r.reason, updated_at: r.updated_at, media_type: s.media_type, size: s.size,
    content_hash: s.content_hash} AS document;

// [document]
MATCH (d:Document {uid: $uid}) WHERE NOT d.hidden
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)})
MATCH (s:Revision {uid: d.uid + ':' + toString(coalesce(d.current, d.newest))})
RETURN d {.*, reason: r.reason, updated_at: r.updated_at, media_type: s.media_type, size: s.size,
    content_hash: s.content_hash} AS document;

// [readable]: all documents that a filter is asked about
MATCH (d:Document)
USING INDEX d:Document(corpus_id, key)
WHERE d.corpus_id = $corpus AND d.key > '' AND NOT d.hidden AND d.current IS NOT NULL
RETURN d.id, d.key, d.title, d.metadata;

// [refs]
UNWIND $rows AS uid
MATCH (d:Document {uid: uid}) WHERE NOT d.hidden AND d.current IS NOT NULL
RETURN d.id AS id, d.key AS key, d.title AS title, d.metadata AS metadata;

// [chunks]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c {.id, .document_id, .view_id, .position, .text, .heading, .page, .span_start, .span_end} AS chunk;

// [chunks_by_view]
UNWIND $rows AS uid
MATCH (c:Chunk {view_uid: uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c {.id, .document_id, .view_id, .position, .text, .heading, .page, .span_start, .span_end} AS chunk;

// [chunks_of]
MATCH (d:Document {uid: $uid})-[:HAS_CHUNK]->(c:Chunk)
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c {.id, .document_id, .view_id, .position, .text, .heading, .page, .span_start, .span_end} AS chunk
ORDER BY c.position;

// [entities]
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid}) WHERE size(e.forms) > 0
RETURN e.id AS id, e.normal AS name, e.name AS display;

// [facts_of]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
MATCH (s:Entity)-[f:FACT {chunk_uid: uid}]->(o:Entity)
RETURN f.id AS id, f.chunk_id AS chunk_id, s.id AS subject_id, s.name AS subject, f.predicate AS predicate,
    o.id AS object_id, o.name AS object;

// [triples]
UNWIND $rows AS uid
MATCH (s:Entity)-[f:FACT {triple_uid: uid}]->(o:Entity)
MATCH (c:Chunk {uid: f.chunk_uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN f.triple_id AS id, s.id AS subject_id, s.name AS subject, f.predicate AS predicate, o.id AS object_id,
    o.name AS object, collect(f.chunk_id) AS chunk_ids;
