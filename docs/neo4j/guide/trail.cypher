// The trail of an answer
// the newest in $corpus whose question holds the words $question ('': any)
MATCH (k:Corpus {name: $corpus})
MATCH (q:Question {corpus_id: k.id})
WHERE q.expires_at > timestamp() / 1000.0 AND toLower(q.text) CONTAINS toLower($question)
  AND NOT EXISTS {
    MATCH (q)-[:STEP|FOUND|CITES]->{1,2}(c:Chunk)
    MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id}) WHERE d.hidden
  }
WITH q ORDER BY q.asked_at DESC LIMIT 1
OPTIONAL MATCH (q)-[step:STEP]->(s:Step)
WITH q, step, s ORDER BY step.number LIMIT 20
CALL (q, s) {
  MATCH (s)-[found:FOUND]->(c:Chunk) WHERE found.rank <= 3 OR EXISTS { (q)-[:CITES]->(c) }
  MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
  WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
  OPTIONAL MATCH (q)-[cites:CITES]->(c)
  OPTIONAL MATCH (source:Document)-[has:HAS_CHUNK]->(c) WHERE cites IS NOT NULL
  RETURN found, c, cites, source, has ORDER BY found.rank LIMIT 10
  UNION ALL
  RETURN null AS found, null AS c, null AS cites, null AS source, null AS has
}
OPTIONAL MATCH (s)-[needs:NEEDS]->(:Step)
RETURN q, step, s, needs, found, c, cites, source, has;
