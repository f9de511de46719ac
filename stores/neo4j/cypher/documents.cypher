// The documents that readers see: those that are not being deleted. A document that is submitted again while it is
// deleted is hidden, and its newest revision is no deletion: it is listed with the fields of that revision.

// [documents]: a page in the order of keys by code point
MATCH (d:Document)
USING INDEX d:Document(corpus_id, key)
WHERE d.corpus_id = $corpus AND d.key > $after AND ($state IS NULL OR d.state = $state)
    AND ($enabled IS NULL OR (d.disabled IS NULL) = $enabled)
    AND (NOT d.hidden OR EXISTS { (r:Revision {uid: d.uid + ':' + toString(d.newest)}) WHERE NOT r.deletion })
WITH d ORDER BY d.key LIMIT $limit
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)})
MATCH (s:Revision {uid: d.uid + ':' + toString(CASE WHEN d.hidden THEN d.newest ELSE coalesce(d.current, d.newest) END)})
RETURN d {.*, reason: r.reason, updated_at: r.updated_at, media_type: s.media_type, size: s.size,
    content_hash: s.content_hash, submitted_title: r.title, submitted_metadata: r.metadata} AS document
ORDER BY d.key;

// [document_by_key]
MATCH (d:Document {corpus_id: $corpus, key: $key})
WHERE d.key > $after AND ($state IS NULL OR d.state = $state) AND ($enabled IS NULL OR (d.disabled IS NULL) = $enabled)
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)}) WHERE NOT (d.hidden AND r.deletion)
MATCH (s:Revision {uid: d.uid + ':' + toString(CASE WHEN d.hidden THEN d.newest ELSE coalesce(d.current, d.newest) END)})
RETURN d {.*, reason: r.reason, updated_at: r.updated_at, media_type: s.media_type, size: s.size,
    content_hash: s.content_hash, submitted_title: r.title, submitted_metadata: r.metadata} AS document;

// [document]
MATCH (d:Document {uid: $uid})
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)}) WHERE NOT (d.hidden AND r.deletion)
MATCH (s:Revision {uid: d.uid + ':' + toString(CASE WHEN d.hidden THEN d.newest ELSE coalesce(d.current, d.newest) END)})
RETURN d {.*, reason: r.reason, updated_at: r.updated_at, media_type: s.media_type, size: s.size,
    content_hash: s.content_hash, submitted_title: r.title, submitted_metadata: r.metadata} AS document;

// [readable]: all documents that a filter may match
MATCH (d:Document)
USING INDEX d:Document(corpus_id, key)
WHERE d.corpus_id = $corpus AND d.key > '' AND NOT d.hidden AND d.current IS NOT NULL
    AND ($enabled IS NULL OR (d.disabled IS NULL) = $enabled)
RETURN d.id, d.key, d.title, d.metadata, d.access;

// [dated]
MATCH (d:Document)
USING INDEX d:Document(corpus_id, dated)
WHERE d.corpus_id = $corpus AND d.dated = true AND NOT d.hidden AND d.current IS NOT NULL AND d.disabled IS NULL
RETURN d.id AS id, d.key AS key, d.title AS title, d.metadata AS metadata, d.access AS access;

// [refs]
UNWIND $rows AS uid
MATCH (d:Document {uid: uid}) WHERE NOT d.hidden AND d.current IS NOT NULL
    AND ($enabled IS NULL OR (d.disabled IS NULL) = $enabled)
RETURN d.id AS id, d.key AS key, d.title AS title, d.metadata AS metadata, d.access AS access;
