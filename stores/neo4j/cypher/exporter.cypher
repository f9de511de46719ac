// The export: all rows of a corpus that readers see. Rows come in the order of `uid`, which is the order of an index, so
// the server sorts and collects nothing. $prefix is the id of the corpus with a colon.

// [document]
MATCH (d:Document) WHERE d.uid STARTS WITH $prefix AND NOT d.hidden AND d.current IS NOT NULL
WITH d ORDER BY d.uid
MATCH (r:Revision {uid: d.uid + ':' + toString(d.current)})
RETURN d.id, d.key, d.title, r.media_type, r.content_hash, d.chunks, d.malformed, d.metadata, r.size, r.fingerprint,
    r.title, r.metadata, d.disabled, d.access;

// [chunk]
MATCH (c:Chunk) WHERE c.uid STARTS WITH $prefix
WITH c ORDER BY c.uid
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c.id, c.document_id, c.position, c.heading, c.page, c.span_start, c.span_end, c.text, c.view_id, c.extract_hash,
    c.tokens;

// [entity]
MATCH (e:Entity) WHERE e.uid STARTS WITH $prefix
WITH e ORDER BY e.uid
WHERE EXISTS {
    MATCH (e)<-[:MENTIONS]-(c:Chunk)
    MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
    WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
}
RETURN e.id, e.normal, e.name;

// [mention]: by chunk
MATCH (c:Chunk) WHERE c.uid STARTS WITH $prefix
WITH c ORDER BY c.uid
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c.id, COLLECT { MATCH (c)-[m:MENTIONS]->(e:Entity) RETURN [e.id, m.forms, m.counts] };

// [fact]
MATCH (s:Entity)-[f:FACT]->(o:Entity) WHERE f.uid STARTS WITH $prefix
WITH s, f, o ORDER BY f.uid
MATCH (c:Chunk {uid: f.chunk_uid})
MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN f.id, f.triple_id, f.chunk_id, s.id, f.predicate, o.id;

// [merge]
MATCH (m:Merge) WHERE m.uid STARTS WITH $prefix AND NOT coalesce(m.automatic, false)
WITH m ORDER BY m.uid
RETURN m.from_id, m.from_name, m.into_id, m.into_name;

// [rejection]: $canonical leaves out those of an entity that no reader sees
MATCH (r:Rejection) WHERE r.uid STARTS WITH $prefix
WITH r ORDER BY r.uid
WHERE NOT $canonical OR (EXISTS {
    MATCH (:Entity {uid: $prefix + r.first_id})<-[:MENTIONS]-(c:Chunk)
    MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
    WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
} AND EXISTS {
    MATCH (:Entity {uid: $prefix + r.second_id})<-[:MENTIONS]-(c:Chunk)
    MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
    WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
})
RETURN r.first_id, r.second_id;

// [threshold]
MATCH (c:Corpus {id: $corpus}) WHERE c.merge_above IS NOT NULL RETURN c.merge_above;

// [schema]
MATCH (c:Corpus {id: $corpus}) WHERE c.graph_schema IS NOT NULL RETURN c.graph_schema;

// [synonym]: by the entity with the smaller id
MATCH (a:Entity) WHERE a.uid STARTS WITH $prefix
WITH a ORDER BY a.uid
WHERE EXISTS { (a)-[:SYNONYM]->() }
RETURN a.id, COLLECT { MATCH (a)-[s:SYNONYM]->(b:Entity) RETURN [b.id, s.score] };

// [extraction]: of readable documents; a uid is "corpus:document:hash"
MATCH (x:Extraction) WHERE x.uid STARTS WITH $prefix
WITH x ORDER BY x.uid
MATCH (d:Document {uid: x.document_uid}) WHERE NOT d.hidden AND d.current IS NOT NULL
RETURN x.document_id, x.extract_hash, x.payload;
