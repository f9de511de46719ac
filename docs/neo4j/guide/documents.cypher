// Documents and their passages
// of $corpus: the first 20 by key, with 8 passages each
MATCH (k:Corpus {name: $corpus})
MATCH (d:Document {corpus_id: k.id}) WHERE d.key > '' AND NOT d.hidden AND d.current IS NOT NULL
WITH d ORDER BY d.key LIMIT 20
CALL (d) {
  MATCH (d)-[has:HAS_CHUNK]->(c:Chunk)
  WHERE c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
  WITH has, c ORDER BY c.position LIMIT 8
  OPTIONAL MATCH (c)-[next:NEXT]->(n:Chunk) WHERE n.position = c.position + 1 AND n.position < 8
  RETURN has, c, next
}
RETURN d, has, c, next;
