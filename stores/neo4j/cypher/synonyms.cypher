// [write]: writes synonyms whose entities both exist, and returns their pairs
UNWIND $rows AS row
MATCH (a:Entity {uid: row.first}) USING INDEX a:Entity(uid)
MATCH (b:Entity {uid: row.second}) USING INDEX b:Entity(uid)
WHERE size(a.forms) > 0 AND size(b.forms) > 0
MERGE (a)-[s:SYNONYM]->(b)
SET s.score = row.score
RETURN a.id AS first, b.id AS second;

// [pending]: entities whose synonyms are pending and whose worker has died
MATCH (e:Entity) USING INDEX e:Entity(unsettled)
WHERE e.unsettled <= $now AND e.corpus_id = $corpus_id
RETURN e.id AS id ORDER BY id;

// [end_pending]
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid}) USING INDEX e:Entity(uid)
REMOVE e.unsettled;
