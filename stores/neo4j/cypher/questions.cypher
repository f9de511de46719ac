// Stored questions, their events and sources. A writer locks the question first, by a write to `lock`; what names
// documents, and what deletes them, holds the lock of the corpus as well, which comes before.

// [create]
MATCH (c:Corpus {id: $corpus_id}) SET c.questions = coalesce(c.questions, 0) + 1
CREATE (q:AskedQuestion {seq: c.questions, generation: c.generation, support: '', kept: false, withdrawn: false})
SET q += $question;

// [running]: the questions of one asker that run
MATCH (q:AskedQuestion {asked_by: $asked_by, state: 'running'}) USING INDEX q:AskedQuestion(asked_by, state)
WHERE q.lease_until >= $now
RETURN count(q) AS running;

// [one]
MATCH (q:AskedQuestion {uid: $uid})
MATCH (c:Corpus {id: q.corpus_id}) WHERE c.name IS NOT NULL
RETURN properties(q) AS question;

// [place]: the corpus of a question that runs
MATCH (q:AskedQuestion {id: $id}) USING INDEX q:AskedQuestion(id) WHERE q.state = 'running'
RETURN q.corpus_id AS corpus_id;

// [lock]: locks a question, and reads it
MATCH (q:AskedQuestion {uid: $uid}) SET q.lock = $token
WITH q
MATCH (c:Corpus {id: q.corpus_id}) WHERE c.name IS NOT NULL
RETURN properties(q) AS question;

// [list]
MATCH (q:AskedQuestion {corpus_id: $corpus_id}) USING INDEX q:AskedQuestion(corpus_id, asked_by)
WHERE q.asked_by IN $askers AND ($kept IS NULL OR q.kept = $kept) AND ($before IS NULL OR q.seq < $before)
MATCH (c:Corpus {id: q.corpus_id}) WHERE c.name IS NOT NULL
WITH q ORDER BY q.seq DESC LIMIT $limit
RETURN q {.*, answer: null, verification: null} AS question ORDER BY q.seq DESC;

// [set]: writes properties of a question
MATCH (q:AskedQuestion {uid: $uid}) SET q += $values;

// [add_events]
UNWIND $rows AS row
MERGE (e:QuestionEvent {uid: $ref + ':' + toString(row.number)})
SET e += row, e.question_ref = $ref;

// [events]
MATCH (q:AskedQuestion {uid: $uid})
MATCH (e:QuestionEvent {question_ref: q.ref}) USING INDEX e:QuestionEvent(question_ref) WHERE e.number > $after
RETURN e.number AS number, e.kind AS kind, e.data AS data ORDER BY number LIMIT $limit;

// [delete_events]: $kind is null for all
MATCH (e:QuestionEvent {question_ref: $ref}) USING INDEX e:QuestionEvent(question_ref)
WHERE $kind IS NULL OR e.kind = $kind
DELETE e;

// [present]: the documents that readers see
UNWIND $rows AS uid
MATCH (d:Document {uid: uid}) WHERE NOT d.hidden
RETURN d.id AS id;

// [add_sources]: documents that were retrieved, with the fingerprints of the revisions that readers see
UNWIND $rows AS uid
MATCH (d:Document {uid: uid})
OPTIONAL MATCH (r:Revision {uid: d.uid + ':' + toString(d.current)})
MERGE (s:QuestionSource {uid: $ref + ':' + d.id})
ON CREATE SET s.question_ref = $ref, s.corpus_id = d.corpus_id, s.document_id = d.id,
    s.fingerprint = coalesce(r.fingerprint, ''), s.cited = false
SET s.cited = s.cited OR $cited;

// [adopt_sources]
UNWIND $rows AS row
MATCH (d:Document {uid: $corpus_id + ':' + row.document_id}) WHERE NOT d.hidden
CREATE (s:QuestionSource {uid: $ref + ':' + d.id, question_ref: $ref, corpus_id: $corpus_id})
SET s += row;

// [sources]
MATCH (q:AskedQuestion {uid: $uid})
MATCH (s:QuestionSource {question_ref: q.ref}) USING INDEX s:QuestionSource(question_ref)
RETURN s.document_id AS document_id, s.fingerprint AS fingerprint, s.cited AS cited ORDER BY document_id;

// [of_documents]: the questions that documents were retrieved for
UNWIND $rows AS id
MATCH (s:QuestionSource {corpus_id: $corpus_id, document_id: id}) USING INDEX s:QuestionSource(corpus_id, document_id)
MATCH (q:AskedQuestion {ref: s.question_ref}) USING INDEX q:AskedQuestion(ref)
RETURN DISTINCT q.uid AS uid, id AS document;

// [delete_sources_of_documents]
UNWIND $rows AS id
MATCH (s:QuestionSource {corpus_id: $corpus_id, document_id: id}) USING INDEX s:QuestionSource(corpus_id, document_id)
DELETE s;

// [lost_documents]: sources in one corpus that another one does not have
MATCH (s:QuestionSource {corpus_id: $corpus_id}) USING INDEX s:QuestionSource(corpus_id, document_id)
WHERE s.document_id IS NOT NULL
WITH DISTINCT s.document_id AS id
OPTIONAL MATCH (d:Document {uid: $to + ':' + id}) WHERE NOT d.hidden
WITH id, d WHERE d IS NULL
RETURN id ORDER BY id;

// [move]: moves the questions of a corpus to another one
MATCH (q:AskedQuestion {corpus_id: $corpus_id}) USING INDEX q:AskedQuestion(corpus_id, asked_by)
WHERE q.asked_by IS NOT NULL
SET q.corpus_id = $to, q.uid = $to + ':' + q.id, q.generation = null;

// [move_sources]
MATCH (s:QuestionSource {corpus_id: $corpus_id}) USING INDEX s:QuestionSource(corpus_id, document_id)
WHERE s.document_id IS NOT NULL
SET s.corpus_id = $to;

// [move_count]
MATCH (c:Corpus {id: $corpus_id}) MATCH (t:Corpus {id: $to}) SET t.questions = c.questions;

// [all]: of one corpus
MATCH (q:AskedQuestion {corpus_id: $corpus_id}) USING INDEX q:AskedQuestion(corpus_id, asked_by)
WHERE q.asked_by IS NOT NULL
RETURN properties(q) AS question ORDER BY q.seq;

// [end_expired]: ends the questions whose processes are gone
MATCH (q:AskedQuestion {state: 'running'}) USING INDEX q:AskedQuestion(state)
WHERE q.lease_until < timestamp() / 1000.0
SET q.state = 'failed', q.problem = $problem, q.answered_at = q.lease_until;

// [some_ended]: questions that are not kept and ended long ago
MATCH (q:AskedQuestion) USING INDEX q:AskedQuestion(answered_at)
WHERE q.answered_at < timestamp() / 1000.0 - $seconds AND NOT q.kept AND q.state <> 'running'
RETURN q.uid AS uid LIMIT $limit;

// [some_of_key]: questions of an asker
MATCH (q:AskedQuestion {asked_by: $asked_by}) USING INDEX q:AskedQuestion(asked_by, state)
WHERE q.state IS NOT NULL
RETURN q.uid AS uid LIMIT $limit;

// [some_of_corpus]
MATCH (q:AskedQuestion {corpus_id: $corpus_id}) USING INDEX q:AskedQuestion(corpus_id, asked_by)
WHERE q.asked_by IS NOT NULL
RETURN q.uid AS uid LIMIT $limit;

// [delete]: deletes questions with their events and sources
UNWIND $rows AS uid
MATCH (q:AskedQuestion {uid: uid}) SET q.lock = $token
WITH q, q.ref AS ref
CALL (ref) {
    MATCH (e:QuestionEvent {question_ref: ref}) USING INDEX e:QuestionEvent(question_ref)
    DELETE e
}
CALL (ref) {
    MATCH (s:QuestionSource {question_ref: ref}) USING INDEX s:QuestionSource(question_ref)
    DELETE s
}
DELETE q;
