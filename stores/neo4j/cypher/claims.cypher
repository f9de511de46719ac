// Statements with a choice of indexes say which: a plan that was made while the database was empty is kept for a while,
// and may be a bad one.

// [waiting]: corpora with something to do
MATCH (c:Corpus)
WHERE c.name IS NULL
    OR EXISTS { MATCH (r:Revision {corpus_id: c.id, state: 'queued'}) USING INDEX r:Revision(corpus_id, state) }
    OR EXISTS {
        MATCH (r:Revision {corpus_id: c.id}) USING INDEX r:Revision(corpus_id, state)
        WHERE r.state IN $working AND r.lease_until < $now
    }
    OR EXISTS { MATCH (t:Tombstone {corpus_id: c.id}) WHERE t.due_at <= $now }
RETURN c.id AS id
UNION
MATCH (e:Entity) USING INDEX e:Entity(unsettled) WHERE e.unsettled <= $now
RETURN DISTINCT e.corpus_id AS id;

// [claimable]: the oldest first, and those last that may be what kills their workers
MATCH (r:Revision {corpus_id: $corpus_id, state: 'queued'}) USING INDEX r:Revision(corpus_id, state)
RETURN r.uid AS uid, r.seq AS seq, r.size AS size, r.attempts AS attempts, r.deletion AS deletion
ORDER BY r.attempts >= $alone, r.seq LIMIT $limit
UNION ALL
MATCH (r:Revision {corpus_id: $corpus_id}) USING INDEX r:Revision(corpus_id, state)
WHERE r.state IN $working AND r.lease_until < $now
RETURN r.uid AS uid, r.seq AS seq, r.size AS size, r.attempts AS attempts, r.deletion AS deletion
ORDER BY r.attempts >= $alone, r.seq LIMIT $limit;

// [of_documents]: the newest revisions of documents, those that are not over
UNWIND $rows AS uid
MATCH (d:Document {uid: uid})
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)}) USING INDEX r:Revision(uid)
WHERE r.state IN $states
RETURN r.uid AS uid, r.seq AS seq, r.deletion AS deletion;

// [lease]
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid})
SET r.owner = $worker, r.lease_until = $until, r.epoch = r.epoch + 1, r.attempts = r.attempts + 1
WITH r
MATCH (d:Document {uid: r.document_uid})
OPTIONAL MATCH (j:Job {id: r.job_id})
RETURN r {.*, key: d.key, token_budget: j.token_budget,
    tokens_spent: coalesce(j.prompt_tokens + j.completion_tokens, 0)} AS claim;

// [held]: the claims that are still right
UNWIND $rows AS row
MATCH (r:Revision {uid: row.uid}) USING INDEX r:Revision(uid)
WHERE r.epoch = row.epoch AND r.state IN $working
RETURN r.uid AS uid, r.epoch AS epoch, r.job_id AS job;

// [renew]
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid}) SET r.lease_until = $until;

// [hand_back]: whose attempt does not count, as it did not end by itself
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid}) SET r.lease_until = 0.0, r.attempts = r.attempts - 1;

// [queued_of]: what waits for the same jobs
UNWIND $rows AS id
MATCH (r:Revision {job_id: id, state: 'queued'}) USING INDEX r:Revision(job_id, state)
RETURN r.uid AS uid;

// [leased]: what a worker holds, or held
MATCH (r:Revision) WHERE r.state IN $working AND ($spared IS NULL OR r.owner IS NULL OR r.owner <> $spared)
RETURN DISTINCT r.corpus_id AS id ORDER BY id;

// [leased_in]: the same of one corpus
MATCH (r:Revision {corpus_id: $corpus_id}) USING INDEX r:Revision(corpus_id, state)
WHERE r.state IN $working AND ($spared IS NULL OR r.owner IS NULL OR r.owner <> $spared)
RETURN r.uid AS uid;

// [end_leases]
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid}) SET r.lease_until = 0.0;

// [failure]: kept when a retry or a newer revision replaces the row
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid})
MATCH (d:Document {uid: r.document_uid})
MERGE (f:Failure {uid: r.job_id + ':' + d.key})
SET f.job_id = r.job_id, f.key = d.key, f.reason = $reason;

// [spend]
UNWIND $rows AS row
MATCH (j:Job {id: row.job_id})
SET j.calls = j.calls + row.calls, j.prompt_tokens = j.prompt_tokens + row.prompt_tokens,
    j.completion_tokens = j.completion_tokens + row.completion_tokens;
