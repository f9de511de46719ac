// Questions that left a trail
// in $corpus: the newest 50
MATCH (k:Corpus {name: $corpus})
MATCH (q:Question {corpus_id: k.id})
WHERE q.expires_at > timestamp() / 1000.0
  AND NOT EXISTS {
    MATCH (q)-[:STEP|FOUND|CITES]->{1,2}(c:Chunk)
    MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id}) WHERE d.hidden
  }
WITH q ORDER BY q.asked_at DESC LIMIT 50
RETURN datetime({epochSeconds: toInteger(q.asked_at)}) AS asked, q.text AS question, q.answer AS answer,
  coalesce(q.support, '') AS support, q.reasoner AS reasoner, COUNT { (q)-[:STEP]->() } AS steps, COUNT { (q)-[:CITES]->() } AS citations;
