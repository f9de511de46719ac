// [move]: moves revisions to one state, and returns how many of each job were in which state before
UNWIND $rows AS uid
MATCH (r:Revision {uid: uid})
WITH r, r.job_id AS job, r.state AS before
SET r.state = $state, r.reason = $reason, r.updated_at = timestamp() / 1000.0, r.epoch = r.epoch + $fence,
    r.owner = CASE $fence WHEN 0 THEN r.owner END,
    r.passages = CASE WHEN $keep THEN r.passages END, r.done = CASE WHEN $keep THEN r.done END
WITH r, job, before
OPTIONAL MATCH (d:Document {uid: r.document_uid}) WHERE d.newest = r.number
SET d.state = $state
RETURN job, before, count(r) AS n, sum(r.size) AS bytes;

// [count]: adds to the counts of jobs, and sets their starts and ends accordingly
UNWIND $rows AS row
MATCH (j:Job {id: row.id})
SET j.bytes = coalesce(j.bytes, 0) + row.bytes, j.bytes_done = coalesce(j.bytes_done, 0) + row.bytes_done,
    j.progress_at = timestamp() / 1000.0,
    j.n_queued = j.n_queued + row.queued,
    j.n_loading = j.n_loading + row.loading,
    j.n_extracting = j.n_extracting + row.extracting,
    j.n_writing = j.n_writing + row.writing,
    j.n_deleting = j.n_deleting + row.deleting,
    j.n_paused = j.n_paused + row.paused,
    j.n_indexed = j.n_indexed + row.indexed,
    j.n_deleted = j.n_deleted + row.deleted,
    j.n_failed = j.n_failed + row.failed,
    j.n_cancelled = j.n_cancelled + row.cancelled,
    j.n_unchanged = j.n_unchanged + row.unchanged,
    j.n_skipped = j.n_skipped + row.skipped,
    j.started_at = CASE WHEN row.started THEN coalesce(j.started_at, timestamp() / 1000.0) ELSE j.started_at END
WITH j
SET j.finished_at = CASE
    WHEN j.n_queued + j.n_loading + j.n_extracting + j.n_writing + j.n_deleting + j.n_paused > 0 THEN null
    WHEN j.open THEN j.finished_at
    ELSE coalesce(j.finished_at, timestamp() / 1000.0)
END;
