// [lapsed]: what is in work under a lease that has run out
MATCH (r:Revision {corpus_id: $corpus_id})
WHERE r.state IN $working AND r.lease_until < $now
RETURN count(r) AS n;

// [unmentioned]: entities that no chunk mentions and no fact names, also of revisions that are being written
MATCH (e:Entity {corpus_id: $corpus_id})
WHERE NOT EXISTS { (e)<-[:MENTIONS]-() } AND NOT EXISTS { (e)-[:FACT]-() }
RETURN e.uid AS uid ORDER BY uid;

// [drop]
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid}) DETACH DELETE e;
