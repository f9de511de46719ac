// Merges of entities. They change no entity: whoever reads the graph takes the two for one.

// [all]: by the merged entity, in the order of an index
MATCH (m:Merge) WHERE m.uid STARTS WITH $prefix
WITH m ORDER BY m.uid
RETURN m.from_id, m.from_name, m.into_id, m.into_name, m.merged_at, coalesce(m.automatic, false);

// [names]: of entities that a passage mentions
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid}) WHERE size(e.forms) > 0
RETURN e.id AS id, e.normal AS name;

// [create]
UNWIND $rows AS row
CREATE (m:Merge {uid: $corpus_id + ':' + row.from_id, corpus_id: $corpus_id, merged_at: timestamp() / 1000.0,
    automatic: $automatic})
SET m += row;

// [delete]
MATCH (m:Merge {uid: $uid}) DELETE m;

// [delete_automatic]: of entities that nothing mentions any more
MATCH (m:Merge) WHERE m.uid STARTS WITH $prefix AND m.automatic AND (m.from_id IN $ids OR m.into_id IN $ids)
DELETE m;

// [copy]: the merges of a corpus to another one, which has none
MATCH (m:Merge) WHERE m.uid STARTS WITH $prefix
CREATE (n:Merge {uid: $to + ':' + m.from_id, corpus_id: $to, from_id: m.from_id, from_name: m.from_name,
    into_id: m.into_id, into_name: m.into_name, merged_at: m.merged_at, automatic: m.automatic})
RETURN count(*) AS copied;
