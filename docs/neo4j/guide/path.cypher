// The way between two entities
// from $entity to $other in $corpus: the 3 shortest; through a passage where no fact leads on
MATCH (k:Corpus {name: $corpus})
MATCH (a:Entity {corpus_id: k.id}) WHERE a.name = $entity OR a.normal = toLower($entity)
MATCH (b:Entity {corpus_id: k.id}) WHERE b.name = $other OR b.normal = toLower($other)
WITH a, b LIMIT 1
MATCH way = SHORTEST 3 (a)(()-[r:FACT|MENTIONS|SYNONYM]-() WHERE type(r) = 'SYNONYM' OR EXISTS {
  MATCH (c:Chunk {uid: coalesce(r.chunk_uid, startNode(r).uid)})
  MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
  WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
}){1,8}(b)
RETURN way;
