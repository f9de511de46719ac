// The schema of the record. It can be read in Neo4j Browser as well. Times are seconds since 1970 by the server's clock.
// Ids are the hexadecimal digests of core.ids. Corpora with equal documents have equal ids, so the key of a node is
// `uid`: "corpus_id:id", or "corpus_id:document_id:number" of a revision.
//
// (:Corpus {id, name?, settings, generation, changes_floor, created_at, drop_job?, beside?, reindex_job?, revisions,
//     tombstones, questions?, documents?, chunks?, entities?, facts?, mentions?, lock})
//     It has no relationships. A deleted corpus has no `name`. A shadow corpus has no name either, but `beside`, the id
//     of the corpus in use, and `reindex_job`, the job that indexes it. `settings` is JSON. `revisions`, `tombstones`
//     and `questions` count all that were ever created, the other counts what readers see. Corpora of schemas before 8
//     lack these until they are reindexed. Every transaction that writes first writes `lock`.
// (:Document {uid, corpus_id, id, key, title, metadata, newest, current?, hidden, disabled?, access?, state,
//     dated?, chunks, malformed, facts?, mentions?, slices?})
//     `newest` and `current` are numbers of revisions. `state` is the newest one's. `metadata` is JSON. `disabled` is
//     true for a document that searches do not see, and else missing. `access` is JSON of
//     core.principals.DocumentAccess, and missing for a document that everyone sees. `slices` is the number of the
//     revision that is being written in several transactions. `dated` is true if `metadata` may state something on
//     validity, and else missing.
// (:Revision {uid, corpus_id, document_id, document_uid, number, seq, deletion, state, reason?, fingerprint,
//     content_hash, media_type, size, title?, metadata, job_id, owner?, lease_until, epoch, attempts, updated_at,
//     passages?, done?, access?})
//     `access` is the access that the document gets when the revision is current; without it the document keeps its.
//     `passages` are those of a revision in work, of which `done` are done. `seq` orders the revisions of a corpus; `number` has the same value. A number is never used twice, so that a late
//     worker does not mistake a revision of a document that was deleted and submitted again. It has no relationships.
// (:Document)-[:HAS_CHUNK]->(:Chunk {uid, corpus_id, id, document_id, view_id, view_uid, position, title_names, terms,
//     text, heading, page?, span_start?, span_end?, extract_hash, tokens, first, last?})
//     The uid of a chunk that is inserted beside the one that it replaces ends in ":number" until that one is deleted.
//     A chunk belongs to the revisions `first` to `last` of its document (without `last`: to all later ones). So one
//     property, the document's `current`, shows a large revision as a whole. Readers see a chunk where
//     NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last).
// (:Chunk)-[:NEXT]->(:Chunk)
// (:Entity {uid, corpus_id, id, name, normal, forms, counts, unsettled?})
//     `name` is the displayed name, `normal` the normalised one. `forms` are its spellings, `counts` the number of
//     mentions with each. Readers do not see an entity without a form. An entity with `unsettled` was created while
//     another worker committed: from that time on, any worker searches for its synonyms again.
// (:Chunk)-[:MENTIONS {count, forms, counts}]->(:Entity)
//     One for each pair of a chunk and an entity. `count` is the sum of `counts`.
// (:Entity)-[:FACT {uid, corpus_id, id, triple_id, triple_uid, chunk_id, chunk_uid, document_id, predicate}]->(:Entity)
//     One for each assertion.
// (:Entity)-[:SYNONYM {score}]->(:Entity)
//     From the smaller id to the greater.
// (:Merge {uid, corpus_id, from_id, from_name, into_id, into_name, merged_at, automatic?}) uid: "corpus:from_id"
//     The statement that one entity is another. It is no relationship, since it stays when its entities disappear. An
//     automatic one was made of a proposal above the corpus' `merge_above`, and is deleted with either entity.
// (:Rejection {uid, corpus_id, first_id, second_id, rejected_at})                  uid: "corpus:first_id:second_id"
//     A user's statement that two entities are two.
// (:Extraction {uid, document_uid, corpus_id, document_id, extract_hash, payload})   uid: "corpus:document:extract_hash"
// (:Change {uid, corpus_id, generation, at, put, deleted, synonyms})                 uid: "corpus:generation"; lists of ids
// (:Tombstone {uid, corpus_id, id, due_at, documents, payload, slices?})
//     `payload` is JSON. A tombstone with `slices` marks a document that may have leftovers of slices.
// (:Job {id, seq, corpus_id, corpus_name, kind, open, cancelled, malformed, created_at, touched_at, started_at?,
//     finished_at?, token_budget?, token_grant?, calls, prompt_tokens, completion_tokens, n_queued, n_loading, …,
//     bytes?, bytes_done?, passages?, progress_at?, submitted_by?, facts_within?, facts_outside?, facts_unnamed?})
//     `bytes` are those of all its revisions, `bytes_done` of those that are final; `passages` are indexed. `progress_at`
//     is when that changed last. `submitted_by` is the id of the key whose holder made it. `facts_…` count the facts that
//     were compared with a schema.
//     `n_STATE` counts its revisions in that state; `n_unchanged` and `n_skipped` count submissions without a revision.
// (:Failure {uid, job_id, key, reason})                                              uid: "job:key"
// (:TextEntry {uid, corpus_id, id, document_id, words})                              the text index, a view
//     `words` are the tokens of the text, separated by spaces.
// (:Question {uid, corpus_id, id, text, answer, reasoner, support, note, links, asked_at, expires_at})  the trail of an answer
// (:Question)-[:STEP {number}]->(:Step {uid, question_uid, corpus_id, name, question, answer, verdict, support, searches})
// (:Step)-[:NEEDS]->(:Step), (:Step)-[:FOUND {rank, role}]->(:Chunk), (:Question)-[:CITES {marker, quote, role}]->(:Chunk)
//     `role` is what the chunk's document is to the answer; only the documents of a verified answer have one.
//     `NEEDS` leads to the step whose answer was used. An expired trail is not shown any more; it is deleted later.
// (:AskedQuestion {uid, ref, corpus_id, id, seq, asked_by, text, request, state, asked_at, answered_at?, generation?,
//     lease_until, answer?, support, problem?, verification?, kept, again_of?, withdrawn, lock?})
//     A question with its answer, as users asked it. `request`, `answer`, `problem` and `verification` are JSON, without
//     passages and quotes of the corpus. `ref` names it in the two below; it stays when the corpus is reindexed.
// (:QuestionEvent {uid, question_ref, number, kind, data})                           uid: "ref:number"
// (:QuestionSource {uid, question_ref, corpus_id, document_id, fingerprint, cited})  uid: "ref:document"
//     A document that was retrieved for a question, and the fingerprint of the revision that was read. None of the three
//     has a relationship: a deletion finds them by `document_id`, also before it deletes the document.
// (:ApiKey {id, content, created_at, revoked_at?})                                  `content` is JSON, without the secret
// (:ApiKeyUsage {uid, minute, requests, tokens, ingest_bytes})                       uid: "key:minute"
//     What a key with limits has used in a minute, over all processes. Older minutes are deleted.
// (:Removal {uid, id, corpus_id, content})                                           uid: "corpus:id"
//     What was removed and is not certified yet. `content` is JSON.
// (:Certificate {uid, chain, number, corpus_id, corpus, line})                       uid: "chain:number"
//     The signed statement of what was removed. Both outlive their corpus, and have no relationships.
// (:HopweaveSchema {id: 'record', version, jobs, lock})                            `jobs` counts all that were ever created

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
CREATE CONSTRAINT merge_uid IF NOT EXISTS FOR (n:Merge) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT rejection_uid IF NOT EXISTS FOR (n:Rejection) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT receipt_id IF NOT EXISTS FOR (n:Receipt) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT api_key_id IF NOT EXISTS FOR (n:ApiKey) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT api_key_usage_uid IF NOT EXISTS FOR (n:ApiKeyUsage) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT asked_question_uid IF NOT EXISTS FOR (n:AskedQuestion) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT asked_question_ref IF NOT EXISTS FOR (n:AskedQuestion) REQUIRE n.ref IS UNIQUE;
CREATE CONSTRAINT question_event_uid IF NOT EXISTS FOR (n:QuestionEvent) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT question_source_uid IF NOT EXISTS FOR (n:QuestionSource) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT removal_uid IF NOT EXISTS FOR (n:Removal) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT certificate_uid IF NOT EXISTS FOR (n:Certificate) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT schema_id IF NOT EXISTS FOR (n:HopweaveSchema) REQUIRE n.id IS UNIQUE;
CREATE INDEX document_key IF NOT EXISTS FOR (n:Document) ON (n.corpus_id, n.key);
CREATE INDEX document_dated IF NOT EXISTS FOR (n:Document) ON (n.corpus_id, n.dated);
CREATE INDEX document_hidden IF NOT EXISTS FOR (n:Document) ON (n.corpus_id, n.hidden);
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
CREATE INDEX receipt_time IF NOT EXISTS FOR (n:Receipt) ON (n.at);
CREATE INDEX failure_job IF NOT EXISTS FOR (n:Failure) ON (n.job_id);
CREATE INDEX text_entry_corpus IF NOT EXISTS FOR (n:TextEntry) ON (n.corpus_id);
CREATE INDEX question_corpus IF NOT EXISTS FOR (n:Question) ON (n.corpus_id);
CREATE INDEX question_end IF NOT EXISTS FOR (n:Question) ON (n.expires_at);
CREATE INDEX asked_question_id IF NOT EXISTS FOR (n:AskedQuestion) ON (n.id);
CREATE INDEX asked_question_corpus IF NOT EXISTS FOR (n:AskedQuestion) ON (n.corpus_id, n.asked_by);
CREATE INDEX asked_question_asker IF NOT EXISTS FOR (n:AskedQuestion) ON (n.asked_by, n.state);
CREATE INDEX asked_question_state IF NOT EXISTS FOR (n:AskedQuestion) ON (n.state);
CREATE INDEX asked_question_end IF NOT EXISTS FOR (n:AskedQuestion) ON (n.answered_at);
CREATE INDEX question_event_question IF NOT EXISTS FOR (n:QuestionEvent) ON (n.question_ref);
CREATE INDEX question_source_question IF NOT EXISTS FOR (n:QuestionSource) ON (n.question_ref);
CREATE INDEX question_source_document IF NOT EXISTS FOR (n:QuestionSource) ON (n.corpus_id, n.document_id);
CREATE INDEX removal_corpus IF NOT EXISTS FOR (n:Removal) ON (n.corpus_id);
CREATE INDEX certificate_chain IF NOT EXISTS FOR (n:Certificate) ON (n.chain, n.number);
CREATE INDEX certificate_corpus IF NOT EXISTS FOR (n:Certificate) ON (n.corpus_id);
CREATE INDEX certificate_name IF NOT EXISTS FOR (n:Certificate) ON (n.corpus);
CREATE FULLTEXT INDEX text_entry_words IF NOT EXISTS FOR (n:TextEntry) ON EACH [n.words, n.corpus_id, n.document_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}};

// [version]
OPTIONAL MATCH (s:HopweaveSchema {id: 'record'}) RETURN s.version AS version;

// [labels]: some labels of a database, read from its first nodes
MATCH (n) WITH n LIMIT 1000
UNWIND CASE labels(n) WHEN [] THEN ['(no label)'] ELSE labels(n) END AS label
RETURN DISTINCT label LIMIT 10;

// [claim]: marks the database as ours
MERGE (s:HopweaveSchema {id: 'record'}) ON CREATE SET s.version = $version, s.jobs = 0
SET s.lock = $token
RETURN s.version AS version;

// [migrated]
MATCH (s:HopweaveSchema {id: 'record'}) SET s.version = $version;
