// Answers that can be walked. The words of a trail are of the chunks that it shows; so they go with the first of these.

// [unseen]: those of the chunks that readers do not see
UNWIND $rows AS uid
OPTIONAL MATCH (c:Chunk {uid: uid})
OPTIONAL MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
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
CREATE (s)-[:FOUND {rank: row.rank}]->(c);

// [cites]
UNWIND $rows AS row
MATCH (q:Question {uid: row.question})
MATCH (c:Chunk {uid: row.chunk})
CREATE (q)-[:CITES {marker: row.marker, quote: row.quote}]->(c);

// [blank_questions]: trails lose their words with a chunk that goes, and are over; `remove` takes the rest away, for a
// chunk may have been shown by too many for one transaction
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
MATCH (c)<-[:CITES|FOUND]-(x)
WITH DISTINCT coalesce(x.question_uid, x.uid) AS trail
MATCH (q:Question {uid: trail}) WHERE q.expires_at > 0
SET q.expires_at = 0.0, q.text = '', q.answer = '', q.links = []
RETURN q.uid AS uid;

// [blank_quotes]
UNWIND $rows AS uid
MATCH (q:Question {uid: uid})-[x:CITES]->()
SET x.quote = '';

// [blank_steps]
UNWIND $rows AS uid
MATCH (q:Question {uid: uid})-[:STEP]->(s:Step)
SET s.question = '', s.answer = '', s.searches = [];

// [expired]: corpora with trails that are over
MATCH (q:Question) WHERE q.expires_at < timestamp() / 1000.0 RETURN DISTINCT q.corpus_id AS id ORDER BY id;

// [remove]: some of those that are over
MATCH (q:Question {corpus_id: $corpus_id}) WHERE q.expires_at < timestamp() / 1000.0
WITH q LIMIT $limit
OPTIONAL MATCH (q)-[:STEP]->(s:Step)
DETACH DELETE s
WITH DISTINCT q
DETACH DELETE q
RETURN count(*) AS gone;

// [forget]: some of all
MATCH (q:Question {corpus_id: $corpus_id})
WITH q LIMIT $limit
OPTIONAL MATCH (q)-[:STEP]->(s:Step)
DETACH DELETE s
WITH DISTINCT q
DETACH DELETE q
RETURN count(*) AS gone;
