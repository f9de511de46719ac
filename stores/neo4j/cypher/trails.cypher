// Answer trails. The text of a trail comes from the chunks that it shows, so it is deleted with the first of these.

// [hidden_chunks]: one of the chunks that readers do not see
UNWIND $rows AS uid
OPTIONAL MATCH (c:Chunk {uid: uid})
OPTIONAL MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND d.disabled IS NULL AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
WITH uid, d WHERE d IS NULL
RETURN uid LIMIT 1;

// [create]
CREATE (q:Question)
SET q = $question, q.asked_at = timestamp() / 1000.0, q.expires_at = timestamp() / 1000.0 + $kept
WITH q
UNWIND $steps AS row
CREATE (q)-[:STEP {number: row.number}]->(s:Step)
SET s = row.step;

// [needs]
UNWIND $rows AS row
MATCH (s:Step {uid: row.step})
MATCH (n:Step {uid: row.needed})
CREATE (s)-[:NEEDS]->(n);

// [found]
UNWIND $rows AS row
MATCH (s:Step {uid: row.step})
MATCH (c:Chunk {uid: row.chunk})
CREATE (s)-[x:FOUND {rank: row.rank}]->(c)
SET x.role = row.role;

// [cites]
UNWIND $rows AS row
MATCH (q:Question {uid: row.question})
MATCH (c:Chunk {uid: row.chunk})
CREATE (q)-[x:CITES {marker: row.marker, quote: row.quote}]->(c)
SET x.role = row.role;

// [delete_question_text]: deletes the text of the trails that show a chunk, and lets the trails expire; `delete_expired`
// deletes the rest, as a chunk may be shown by too many trails for one transaction
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
MATCH (c)<-[:CITES|FOUND]-(x)
WITH DISTINCT coalesce(x.question_uid, x.uid) AS trail
MATCH (q:Question {uid: trail}) WHERE q.expires_at > 0
SET q.expires_at = 0.0, q.text = '', q.answer = '', q.note = '', q.links = []
RETURN q.uid AS uid;

// [delete_quotes]
UNWIND $rows AS uid
MATCH (q:Question {uid: uid})-[x:CITES]->()
SET x.quote = '';

// [delete_step_text]
UNWIND $rows AS uid
MATCH (q:Question {uid: uid})-[:STEP]->(s:Step)
SET s.question = '', s.answer = '', s.searches = [];

// [corpora_with_expired]: corpora with expired trails
MATCH (q:Question) WHERE q.expires_at < timestamp() / 1000.0 RETURN DISTINCT q.corpus_id AS id ORDER BY id;

// [delete_expired]: deletes some of the expired trails
MATCH (q:Question {corpus_id: $corpus_id}) WHERE q.expires_at < timestamp() / 1000.0
WITH q LIMIT $limit
OPTIONAL MATCH (q)-[:STEP]->(s:Step)
DETACH DELETE s
WITH DISTINCT q
DETACH DELETE q
RETURN count(*) AS deleted;

// [delete_some]: deletes some of all trails
MATCH (q:Question {corpus_id: $corpus_id})
WITH q LIMIT $limit
OPTIONAL MATCH (q)-[:STEP]->(s:Step)
DETACH DELETE s
WITH DISTINCT q
DETACH DELETE q
RETURN count(*) AS deleted;
