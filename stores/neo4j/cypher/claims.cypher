// Claims of revisions. Statements that could use one of several indexes name it: the server keeps a plan for a while, and
// a plan that was made while the database was empty may be slow.

// [corpora_with_work]: corpora that a worker has something to do for
MATCH (c:Corpus)
WHERE c.name IS NULL
    OR EXISTS { MATCH (r:Revision {corpus_id: c.id, state: 'queued'}) USING INDEX r:Revision(corpus_id, state) }
    OR EXISTS {
        MATCH (r:Revision {corpus_id: c.id}) USING INDEX r:Revision(corpus_id, state)
        WHERE r.state IN $working AND NOT 0.0 <= r.lease_until - $now <= $longest
    }
    OR EXISTS { MATCH (t:Tombstone {corpus_id: c.id}) WHERE t.due_at <= $now }
RETURN c.id AS id
UNION
MATCH (e:Entity) USING INDEX e:Entity(unsettled) WHERE e.unsettled <= $now
RETURN DISTINCT e.corpus_id AS id
UNION
MATCH (r:Removal) WHERE NOT EXISTS { MATCH (c:Corpus {id: r.corpus_id}) } RETURN DISTINCT r.corpus_id AS id;

// [claimable_corpora]: corpora with claimable revisions of these sizes
MATCH (c:Corpus)
WHERE EXISTS {
        MATCH (r:Revision {corpus_id: c.id, state: 'queued'}) USING INDEX r:Revision(corpus_id, state)
        WHERE $least <= r.size <= $most AND r.attempts < $attempts
    }
    OR EXISTS {
        MATCH (r:Revision {corpus_id: c.id}) USING INDEX r:Revision(corpus_id, state)
        WHERE r.state IN $working AND NOT 0.0 <= r.lease_until - $now <= $longest
            AND $least <= r.size <= $most AND r.attempts < $attempts
    }
RETURN c.id AS id;

// [claimable]: the oldest first; revisions whose workers died often come last
MATCH (r:Revision {corpus_id: $corpus_id, state: 'queued'}) USING INDEX r:Revision(corpus_id, state)
WHERE $least <= r.size <= $most AND r.attempts < $attempts
RETURN r.uid AS uid, r.seq AS seq, r.size AS size, r.attempts AS attempts, r.deletion AS deletion, r.state AS state
ORDER BY r.attempts >= $alone, r.seq LIMIT $limit
UNION ALL
MATCH (r:Revision {corpus_id: $corpus_id}) USING INDEX r:Revision(corpus_id, state)
WHERE r.state IN $working AND NOT 0.0 <= r.lease_until - $now <= $longest
    AND $least <= r.size <= $most AND r.attempts < $attempts
RETURN r.uid AS uid, r.seq AS seq, r.size AS size, r.attempts AS attempts, r.deletion AS deletion, r.state AS state
ORDER BY r.attempts >= $alone, r.seq LIMIT $limit;

// [newest_of_documents]: the newest revisions of documents, if they are in one of the states
UNWIND $rows AS uid
MATCH (d:Document {uid: uid})
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)}) USING INDEX r:Revision(uid)
WHERE r.state IN $states
RETURN r.uid AS uid, r.seq AS seq, r.attempts AS attempts, r.deletion AS deletion, r.state AS state;

// [lease]
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid})
SET r.owner = $worker, r.lease_until = $until, r.epoch = r.epoch + 1, r.attempts = r.attempts + 1
WITH r
MATCH (d:Document {uid: r.document_uid})
OPTIONAL MATCH (j:Job {id: r.job_id})
RETURN r {.*, key: d.key, token_budget: j.token_budget,
    tokens_spent: coalesce(j.prompt_tokens + j.completion_tokens, 0)} AS claim;

// [valid]: the claims that are not fenced
UNWIND $rows AS row
MATCH (r:Revision {uid: row.uid}) USING INDEX r:Revision(uid)
WHERE r.epoch = row.epoch AND r.state IN $working
RETURN r.uid AS uid, r.epoch AS epoch, r.job_id AS job;

// [renew]
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid}) SET r.lease_until = $until;

// [report]
UNWIND $rows AS row
MATCH (r:Revision {uid: row.uid}) SET r.passages = row.passages, r.done = row.done
WITH r
MATCH (j:Job {id: r.job_id}) SET j.progress_at = timestamp() / 1000.0;

// [end]: ends leases; the attempt does not count
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid}) SET r.lease_until = 0.0, r.attempts = r.attempts - 1;

// [queued_of_jobs]: the queued revisions of jobs
UNWIND $rows AS id
MATCH (r:Revision {job_id: id, state: 'queued'}) USING INDEX r:Revision(job_id, state)
RETURN r.uid AS uid;

// [corpora_with_leases]: corpora in which a worker has or had a claim
MATCH (r:Revision) WHERE r.state IN $working
RETURN DISTINCT r.corpus_id AS id ORDER BY id;

// [leased]: the claimed revisions of one corpus
MATCH (r:Revision {corpus_id: $corpus_id}) USING INDEX r:Revision(corpus_id, state)
WHERE r.state IN $working
RETURN r.uid AS uid;

// [expire]
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid}) SET r.lease_until = 0.0;

// [insert_failures]: they stay when a retry or a newer revision replaces the revision
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
