// [raise_generation]
MATCH (c:Corpus {id: $corpus_id}) SET c.generation = c.generation + 1 RETURN c.generation AS generation;

// [append]: several calls for one generation add to one node
MERGE (n:Change {uid: $uid})
ON CREATE SET n.corpus_id = $corpus_id, n.generation = $generation, n.at = timestamp() / 1000.0,
    n.put = [], n.deleted = [], n.synonyms = []
SET n.put = n.put + $put, n.deleted = n.deleted + $deleted, n.synonyms = n.synonyms + $synonyms;

// [corpora_with_expired]: corpora with changes that are older than $kept seconds
MATCH (n:Change) WHERE n.at < timestamp() / 1000.0 - $kept RETURN DISTINCT n.corpus_id AS id ORDER BY id;

// [delete_expired]
MATCH (n:Change {corpus_id: $corpus_id}) WHERE n.generation >= 0 AND n.at < timestamp() / 1000.0 - $kept
WITH max(n.generation) AS top WHERE top IS NOT NULL
MATCH (c:Corpus {id: $corpus_id})
SET c.changes_floor = CASE WHEN c.changes_floor < top THEN top ELSE c.changes_floor END
WITH top
MATCH (n:Change {corpus_id: $corpus_id}) WHERE n.generation <= top
DELETE n;
