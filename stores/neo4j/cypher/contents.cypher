// The contents that readers see: the chunks of current revisions of documents that are not being deleted, with their
// entities and facts. Where `disabled` is read, documents that are not enabled are left out.

// [chunks]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND d.disabled IS NULL AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c {.id, .document_id, .view_id, .position, .text, .heading, .page, .span_start, .span_end} AS chunk;

// [chunks_by_view]
UNWIND $rows AS uid
MATCH (c:Chunk {view_uid: uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c {.id, .document_id, .view_id, .position, .text, .heading, .page, .span_start, .span_end} AS chunk;

// [chunks_of]: `current` is read once, and compared with `current_of` afterwards
MATCH (d:Document {uid: $uid})
WHERE NOT d.hidden
WITH d, d.current AS current
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
WHERE c.first <= current AND (c.last IS NULL OR current <= c.last) AND c.position > $after
WITH c, current ORDER BY c.position LIMIT $limit
RETURN c {.id, .document_id, .view_id, .position, .text, .heading, .page, .span_start, .span_end} AS chunk, current
ORDER BY c.position;

// [current_of]
MATCH (d:Document {uid: $uid}) RETURN d.current AS current;

// [surroundings]: `current` is read once, so that all chunks of a row are of one revision
UNWIND $rows AS uid
MATCH (a:Chunk {uid: uid})
MATCH (d:Document {uid: a.corpus_id + ':' + a.document_id})
WITH a, d, d.current AS current
WHERE NOT d.hidden AND d.disabled IS NULL AND a.first <= current AND (a.last IS NULL OR current <= a.last)
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
WHERE a.position - $distance <= c.position <= a.position + $distance
    AND c.first <= current AND (c.last IS NULL OR current <= c.last)
RETURN a.id AS id, collect(c {.id, .document_id, .view_id, .position, .text, .heading, .page, .span_start, .span_end})
    AS chunks;

// [entities]
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid}) WHERE size(e.forms) > 0
RETURN e.id AS id, e.normal AS name, e.name AS display;

// [facts_of]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND d.disabled IS NULL AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
MATCH (s:Entity)-[f:FACT {chunk_uid: uid}]->(o:Entity)
USING INDEX SEEK f:FACT(chunk_uid)
RETURN f.id AS id, f.chunk_id AS chunk_id, s.id AS subject_id, s.name AS subject, f.predicate AS predicate,
    o.id AS object_id, o.name AS object;

// [triples]
UNWIND $rows AS uid
MATCH (s:Entity)-[f:FACT {triple_uid: uid}]->(o:Entity)
USING INDEX SEEK f:FACT(triple_uid)
MATCH (c:Chunk {uid: f.chunk_uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND ($enabled IS NULL OR (d.disabled IS NULL) = $enabled)
    AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN f.triple_id AS id, s.id AS subject_id, s.name AS subject, f.predicate AS predicate, o.id AS object_id,
    o.name AS object, collect(f.chunk_id) AS chunk_ids;
