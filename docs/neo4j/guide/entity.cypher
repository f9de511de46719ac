// An entity and its facts
// $entity in $corpus: 25 facts at most, and the passages that assert them
MATCH (k:Corpus {name: $corpus})
MATCH (e:Entity {corpus_id: k.id}) WHERE e.name = $entity OR e.normal = toLower($entity)
WITH e LIMIT 1
CALL (e) {
  MATCH (e)-[fact:FACT]-(other:Entity)
  WITH fact, other LIMIT 2000
  MATCH (c:Chunk {uid: fact.chunk_uid})
  MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
  WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
  RETURN fact, other, c ORDER BY fact.uid LIMIT 25
}
MATCH (c)-[mentions:MENTIONS]->(named:Entity) WHERE named IN [e, other]
RETURN e, fact, other, c, mentions;
