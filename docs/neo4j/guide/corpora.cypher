// Corpora
MATCH (k:Corpus) WHERE k.name IS NOT NULL
WITH k ORDER BY k.name LIMIT 50
RETURN k.name AS corpus,
  COUNT { (d:Document {corpus_id: k.id}) WHERE d.key > '' AND NOT d.hidden AND d.current IS NOT NULL } AS documents,
  datetime({epochSeconds: toInteger(k.created_at)}) AS created,
  k.generation AS generation;
