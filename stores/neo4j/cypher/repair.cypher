// [expired_leases]: counts revisions that are in work under an expired lease
MATCH (r:Revision {corpus_id: $corpus_id}) USING INDEX r:Revision(corpus_id, state)
WHERE r.state IN $working AND NOT 0.0 <= r.lease_until - $now <= $longest
RETURN count(r) AS n;

// [orphans]: entities that no chunk mentions and no fact names, including those of revisions that are being written
MATCH (e:Entity {corpus_id: $corpus_id})
WHERE NOT EXISTS { (e)<-[:MENTIONS]-() } AND NOT EXISTS { (e)-[:FACT]-() }
RETURN e.uid AS uid ORDER BY uid;

// [delete_orphans]
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid}) DETACH DELETE e;

// [count_entities]: counts the entities of a corpus anew
MATCH (c:Corpus {id: $corpus_id}) WHERE c.entities IS NOT NULL
SET c.entities = COUNT { (e:Entity {corpus_id: $corpus_id}) WHERE size(e.forms) > 0 };
