// The record in Neo4j, made to be read in Neo4j Browser as well. Times are seconds since 1970 by the server's clock, ids
// the hexadecimal digests of core.ids, which are equal in corpora with equal documents; so rows are told apart by
// `uid`, which is "corpus_id:id", or "corpus_id:document_id:number" of a revision.
//
// (:Corpus {id, name?, settings, generation, changes_floor, created_at, drop_job?, beside?, reindex_job?, revisions,
//     tombstones, lock})
//     No relationship hangs on it. `name` goes when the corpus is dropped; a corpus that is built beside another has
//     none yet, but `beside`, the id of the one in use, and `reindex_job`, the job that builds it. `settings` is JSON;
//     `revisions` and `tombstones` are how many were ever made; `lock` is written first by every transaction that
//     writes.
// (:Document {uid, corpus_id, id, key, title, metadata, newest, current?, hidden, state, chunks, malformed, slices?})
//     `newest` and `current` are numbers of revisions; `state` is the newest one's; `metadata` is JSON; `slices` is the
//     number of the revision that is being written in several transactions.
// (:Revision {uid, corpus_id, document_id, document_uid, number, seq, deletion, state, reason?, fingerprint,
//     content_hash, media_type, size, title?, metadata, job_id, owner?, lease_until, epoch, attempts, updated_at})
//     `seq` orders the revisions of a corpus, and `number` is the same: never used again, so that a worker that comes
//     back after its document went and came again does not take the new revision for his. No relationship hangs on it.
// (:Document)-[:HAS_CHUNK]->(:Chunk {uid, corpus_id, id, document_id, view_id, view_uid, position, title_names, terms,
//     text, heading, page?, span_start?, span_end?, extract_hash, tokens, first, last?})
//     The uid of one that is written beside the one that it replaces ends in ":number" until it has taken its place.
//     A chunk belongs to the revisions `first` to `last` (no `last`: to all later ones) of its document, so that one
//     property, the document's `current`, makes a large revision visible, whole, at once. Readers see a chunk where
//     NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last).
// (:Chunk)-[:NEXT]->(:Chunk)
// (:Entity {uid, corpus_id, id, name, normal, forms, counts, unsettled?})
//     `name` is what it is shown by, `normal` the normalised name; `forms` its spellings, `counts` how often each
//     survives. An entity without a form is gone. One with `unsettled` came while another worker committed: from that
//     time on, whoever comes by looks for its synonyms once more.
// (:Chunk)-[:MENTIONS {count, forms, counts}]->(:Entity)
//     One per chunk and entity; `count` is the sum of `counts`.
// (:Entity)-[:FACT {uid, corpus_id, id, triple_id, triple_uid, chunk_id, chunk_uid, document_id, predicate}]->(:Entity)
//     One per assertion.
// (:Entity)-[:SYNONYM {score}]->(:Entity)
//     From the smaller id to the greater.
// (:Extraction {uid, document_uid, corpus_id, document_id, extract_hash, payload})   uid: "corpus:document:extract_hash"
// (:Change {uid, corpus_id, generation, at, put, deleted, synonyms})                 uid: "corpus:generation"; lists of ids
// (:Tombstone {uid, corpus_id, id, due_at, documents, payload, slices?})
//     `payload` is JSON; one with `slices` says that a document may have been left half-written.
// (:Job {id, seq, corpus_id, corpus_name, kind, open, cancelled, malformed, created_at, touched_at, started_at?,
//     finished_at?, token_budget?, token_grant?, calls, prompt_tokens, completion_tokens, n_queued, n_loading, …})
//     `n_STATE` is how many of its revisions are in that state (n_unchanged, n_skipped: submissions without one).
// (:Failure {uid, job_id, key, reason})                                              uid: "job:key"
// (:TextEntry {uid, corpus_id, id, document_id, words})                              the text index, a view
//     `words` are those of the text as they are searched for, parted by spaces.
// (:Question {uid, corpus_id, id, text, answer, reasoner, links, asked_at, expires_at})                 the trail of an answer
// (:Question)-[:STEP {number}]->(:Step {uid, question_uid, corpus_id, name, question, answer, verdict, searches})
// (:Step)-[:NEEDS]->(:Step), (:Step)-[:FOUND {rank}]->(:Chunk), (:Question)-[:CITES {marker, quote}]->(:Chunk)
//     `NEEDS` leads to the step whose answer was used. A trail that is over is not shown any more, though still there.
// (:HopweaveSchema {id: 'record', version, jobs, lock})                            `jobs`: how many were ever made

// [constraints]
CREATE CONSTRAINT corpus_id IF NOT EXISTS FOR (n:Corpus) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT corpus_name IF NOT EXISTS FOR (n:Corpus) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT corpus_beside IF NOT EXISTS FOR (n:Corpus) REQUIRE n.beside IS UNIQUE;
CREATE CONSTRAINT document_uid IF NOT EXISTS FOR (n:Document) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT revision_uid IF NOT EXISTS FOR (n:Revision) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT chunk_uid IF NOT EXISTS FOR (n:Chunk) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT entity_uid IF NOT EXISTS FOR (n:Entity) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT fact_uid IF NOT EXISTS FOR ()-[r:FACT]-() REQUIRE r.uid IS UNIQUE;
CREATE CONSTRAINT extraction_uid IF NOT EXISTS FOR (n:Extraction) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT change_uid IF NOT EXISTS FOR (n:Change) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT tombstone_uid IF NOT EXISTS FOR (n:Tombstone) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT job_id IF NOT EXISTS FOR (n:Job) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT failure_uid IF NOT EXISTS FOR (n:Failure) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT text_entry_uid IF NOT EXISTS FOR (n:TextEntry) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT question_uid IF NOT EXISTS FOR (n:Question) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT step_uid IF NOT EXISTS FOR (n:Step) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT schema_id IF NOT EXISTS FOR (n:HopweaveSchema) REQUIRE n.id IS UNIQUE;
CREATE INDEX document_key IF NOT EXISTS FOR (n:Document) ON (n.corpus_id, n.key);
CREATE INDEX revision_state IF NOT EXISTS FOR (n:Revision) ON (n.corpus_id, n.state);
CREATE INDEX revision_unfinished IF NOT EXISTS FOR (n:Revision) ON (n.state);
CREATE INDEX revision_job IF NOT EXISTS FOR (n:Revision) ON (n.job_id, n.state);
CREATE INDEX revision_content IF NOT EXISTS FOR (n:Revision) ON (n.corpus_id, n.content_hash);
CREATE INDEX revision_document IF NOT EXISTS FOR (n:Revision) ON (n.document_uid);
CREATE INDEX chunk_view IF NOT EXISTS FOR (n:Chunk) ON (n.view_uid);
CREATE INDEX chunk_corpus IF NOT EXISTS FOR (n:Chunk) ON (n.corpus_id);
CREATE INDEX entity_corpus IF NOT EXISTS FOR (n:Entity) ON (n.corpus_id);
CREATE INDEX entity_name IF NOT EXISTS FOR (n:Entity) ON (n.corpus_id, n.normal);
CREATE INDEX entity_unsettled IF NOT EXISTS FOR (n:Entity) ON (n.unsettled);
CREATE INDEX fact_chunk IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.chunk_uid);
CREATE INDEX fact_triple IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.triple_uid);
CREATE INDEX extraction_document IF NOT EXISTS FOR (n:Extraction) ON (n.document_uid);
CREATE INDEX extraction_corpus IF NOT EXISTS FOR (n:Extraction) ON (n.corpus_id);
CREATE INDEX change_corpus IF NOT EXISTS FOR (n:Change) ON (n.corpus_id, n.generation);
CREATE INDEX change_time IF NOT EXISTS FOR (n:Change) ON (n.at);
CREATE INDEX tombstone_corpus IF NOT EXISTS FOR (n:Tombstone) ON (n.corpus_id);
CREATE INDEX job_seq IF NOT EXISTS FOR (n:Job) ON (n.seq);
CREATE INDEX job_open IF NOT EXISTS FOR (n:Job) ON (n.open);
CREATE INDEX failure_job IF NOT EXISTS FOR (n:Failure) ON (n.job_id);
CREATE INDEX text_entry_corpus IF NOT EXISTS FOR (n:TextEntry) ON (n.corpus_id);
CREATE INDEX question_corpus IF NOT EXISTS FOR (n:Question) ON (n.corpus_id);
CREATE INDEX question_end IF NOT EXISTS FOR (n:Question) ON (n.expires_at);
CREATE FULLTEXT INDEX text_entry_words IF NOT EXISTS FOR (n:TextEntry) ON EACH [n.words, n.corpus_id, n.document_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}};

// [version]
OPTIONAL MATCH (s:HopweaveSchema {id: 'record'}) RETURN s.version AS version;

// [foreign]: what a database holds, for one that is not ours; a look at the first nodes tells
MATCH (n) WITH n LIMIT 1000
UNWIND CASE labels(n) WHEN [] THEN ['(no label)'] ELSE labels(n) END AS label
RETURN DISTINCT label LIMIT 10;

// [claim]: say that the database is ours
MERGE (s:HopweaveSchema {id: 'record'}) ON CREATE SET s.version = $version, s.jobs = 0
SET s.lock = $token
RETURN s.version AS version;

// [migrated]
MATCH (s:HopweaveSchema {id: 'record'}) SET s.version = $version;
