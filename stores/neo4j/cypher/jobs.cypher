// [insert]: creates a job without its place among all jobs, which `number` gives it
CREATE (j:Job {n_queued: 0, n_loading: 0, n_extracting: 0, n_writing: 0, n_deleting: 0, n_paused: 0, n_indexed: 0,
    n_deleted: 0, n_failed: 0, n_cancelled: 0, n_unchanged: 0, n_skipped: 0, cancelled: false, malformed: 0,
    calls: 0, prompt_tokens: 0, completion_tokens: 0})
SET j += $job, j.created_at = timestamp() / 1000.0, j.touched_at = timestamp() / 1000.0;

// [number]: the last write of a transaction, as it blocks all writers that create jobs
MATCH (s:HopweaveSchema {id: 'record'})
SET s.jobs = s.jobs + 1
WITH s
MATCH (j:Job {id: $id})
SET j.seq = s.jobs;

// [read]
MATCH (j:Job {id: $id})
RETURN j {.*, failures: COLLECT {
    MATCH (f:Failure {job_id: $id}) RETURN [f.key, f.reason] ORDER BY f.key LIMIT $failures
}, in_work: COLLECT {
    MATCH (r:Revision {job_id: $id}) USING INDEX r:Revision(job_id, state)
    WHERE r.state IN $working AND r.passages IS NOT NULL RETURN [r.size, r.passages, r.done]
}, now: timestamp() / 1000.0} AS job;

// [first_queued]: the queued revision of a job that is claimed first among those of its size
MATCH (r:Revision {job_id: $id, state: 'queued'}) USING INDEX r:Revision(job_id, state)
RETURN r.seq AS seq, r.corpus_id AS corpus, r.size AS size ORDER BY r.seq LIMIT 1;

// [ahead]: the unfinished revisions of a corpus before one, of at most $most bytes
MATCH (r:Revision {corpus_id: $corpus}) USING INDEX r:Revision(corpus_id, state)
WHERE r.state IN $unfinished AND r.seq < $seq AND r.size <= $most
RETURN count(r) AS documents,
    sum(r.size - CASE WHEN coalesce(r.passages, 0) > 0 THEN r.size * coalesce(r.done, 0) / r.passages ELSE 0 END) AS undone;

// [place]: the place of a job among all jobs
MATCH (j:Job {id: $id}) RETURN j.seq AS seq;

// [newest]
MATCH (j:Job) WHERE j.seq > 0 AND j.seq < $before
AND ($corpus IS NULL OR j.corpus_name = $corpus) AND ($kind IS NULL OR j.kind = $kind)
AND ($key IS NULL OR j.submitted_by = $key)
WITH j ORDER BY j.seq DESC LIMIT $limit
RETURN j {.*, failures: COLLECT {
    MATCH (f:Failure {job_id: j.id}) RETURN [f.key, f.reason] ORDER BY f.key LIMIT $failures
}, in_work: COLLECT {
    MATCH (r:Revision {job_id: j.id}) USING INDEX r:Revision(job_id, state)
    WHERE r.state IN $working AND r.passages IS NOT NULL RETURN [r.size, r.passages, r.done]
}, now: timestamp() / 1000.0} AS job
ORDER BY job.seq DESC;

// [lock]: locks the corpus of a job, if it still exists
MATCH (j:Job {id: $id})
OPTIONAL MATCH (c:Corpus {id: j.corpus_id})
SET c.lock = $token
RETURN j.id AS id;

// [revisions]: without deletions, each with its document and the fields of the newest revision of that
MATCH (r:Revision {job_id: $id}) WHERE r.state IN $states AND NOT r.deletion
MATCH (d:Document {uid: r.document_uid})
MATCH (n:Revision {uid: d.uid + ':' + toString(d.newest)})
RETURN r.uid AS uid, d {.id, .key, .title, .metadata, .hidden, .access} AS document, n {.title, .metadata} AS newest;

// [close]
MATCH (j:Job {id: $id}) SET j.open = false, j.cancelled = j.cancelled OR $cancelled;

// [touch]
MATCH (j:Job {id: $id}) SET j.touched_at = timestamp() / 1000.0;

// [grant]: lets a job use $tokens more tokens, or as many as it was granted last
MATCH (j:Job {id: $id})
SET j.token_grant = coalesce($tokens, j.token_grant)
SET j.token_budget = j.prompt_tokens + j.completion_tokens + j.token_grant;

// [abandoned]: open jobs to which nothing was added for $seconds
MATCH (j:Job {open: true})
WHERE j.touched_at < timestamp() / 1000.0 - $seconds AND NOT j.kind IN $kinds
RETURN j.id AS id ORDER BY id;

// [corpora]: the corpora of jobs
UNWIND $rows AS id
MATCH (j:Job {id: id})
RETURN j.id AS id, j.corpus_id AS corpus;
