// Hubs
// of $corpus: the 8 entities with most facts, and 10 facts of each
MATCH (k:Corpus {name: $corpus})
MATCH (e:Entity {corpus_id: k.id})
WITH e, COUNT { (e)-[:FACT]-() } AS facts, COUNT { (e)<-[:MENTIONS]-() } AS mentions
ORDER BY facts DESC, mentions DESC, e.uid LIMIT 8
CALL (e) {
  MATCH (e)-[fact:FACT]-(other:Entity)
  WITH fact, other LIMIT 500
  MATCH (c:Chunk {uid: fact.chunk_uid})
  MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
  WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
  RETURN fact, other ORDER BY fact.uid LIMIT 10
}
RETURN e, fact, other;
