// [newest]: the newest revisions of documents
UNWIND $rows AS uid
MATCH (d:Document {uid: uid})
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)})
RETURN d.id AS id, d.key AS key, d.title AS title, d.metadata AS metadata, d.hidden AS hidden, d.disabled AS disabled,
    d.access AS access, r.title AS submitted_title, r.metadata AS submitted_metadata, r.access AS pending, r.uid AS uid, r.state AS state, r.deletion AS deletion, r.fingerprint AS fingerprint, r.job_id AS job_id, r.size AS size;

// [submitted]: what a revision was made of
MATCH (r:Revision {uid: $uid})
RETURN r {.media_type, .content_hash, .size, .fingerprint, .title, .metadata, .access} AS revision;

// [take_numbers]: reserves numbers for new revisions, and returns the last one
MATCH (c:Corpus {id: $id}) SET c.revisions = c.revisions + $count RETURN c.revisions AS last;

// [queue_revisions]: writes revisions, and their documents if they do not exist
UNWIND $rows AS row
MERGE (d:Document {uid: row.revision.document_uid})
ON CREATE SET d += row.document, d.hidden = false, d.chunks = 0, d.malformed = 0
SET d.newest = row.revision.number, d.state = row.revision.state
CREATE (r:Revision {deletion: false, lease_until: 0.0, epoch: 0, attempts: 0, updated_at: timestamp() / 1000.0})
SET r += row.revision;

// [queue_deletions]: writes revisions that delete their documents, hides the documents, and counts them no longer
UNWIND $rows AS row
MATCH (d:Document {uid: row.document_uid})
WITH d, row, CASE WHEN NOT d.hidden AND d.current IS NOT NULL THEN 1 ELSE 0 END AS seen
SET d.newest = row.number, d.state = row.state, d.hidden = true, d.disabled = null
CREATE (r:Revision {deletion: true, lease_until: 0.0, epoch: 0, attempts: 0, updated_at: timestamp() / 1000.0})
SET r += row
WITH sum(seen) AS documents, sum(seen * d.chunks) AS chunks, sum(seen * coalesce(d.facts, 0)) AS facts,
    sum(seen * coalesce(d.mentions, 0)) AS mentions
MATCH (c:Corpus {id: $corpus_id})
SET c.documents = c.documents - documents, c.chunks = c.chunks - chunks, c.facts = c.facts - facts,
    c.mentions = c.mentions - mentions;

// [superseded_deletions]: the hidden documents whose newest revisions are among these and are no deletions
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid}) WHERE NOT r.deletion
MATCH (d:Document {uid: r.document_uid}) WHERE d.hidden AND d.newest = r.number
RETURN r.corpus_id AS corpus_id, r.job_id AS job_id, r.document_id AS document_id;

// [set_disabled]: $disabled is true or null
UNWIND $rows AS uid
MATCH (d:Document {uid: uid})
SET d.disabled = $disabled;

// [set_access]: of documents; a row without access makes them visible to everyone
UNWIND $rows AS row
MATCH (d:Document {uid: row.uid})
SET d.access = row.access;

// [set_pending_access]: of revisions
UNWIND $rows AS row
MATCH (r:Revision {uid: row.uid})
SET r.access = row.access;

// [clear_pending_access]: of all revisions of documents
UNWIND $rows AS uid
MATCH (r:Revision {document_uid: uid}) USING INDEX r:Revision(document_uid) WHERE r.access IS NOT NULL
SET r.access = null;

// [set_job]: moves revisions to another job
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid})
SET r.job_id = $job_id;

// [retry]
MATCH (r:Revision {uid: $uid}) SET r.job_id = $job_id, r.attempts = 0, r.epoch = r.epoch + 1;

// [visible_chunks]: the chunks of documents that readers see
UNWIND $rows AS uid
MATCH (d:Document {uid: uid})-[:HAS_CHUNK]->(c:Chunk)
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN c.id AS id;

// [count_queued]
MATCH (r:Revision {corpus_id: $corpus_id, state: 'queued'}) USING INDEX r:Revision(corpus_id, state)
WITH r LIMIT $at_most
RETURN count(r) AS queued;
