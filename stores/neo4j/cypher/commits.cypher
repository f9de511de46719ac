// The writes of commits. Statements begin at a unique uid and name its index: the server keeps a plan for a while, and a
// plan that was made while the database was empty would scan labels.

// [documents]
UNWIND $rows AS uid
MATCH (d:Document {uid: uid}) USING INDEX d:Document(uid)
RETURN uid, d.hidden AS hidden, d.current AS current, d.slices AS slices, d.chunks AS passages;

// [document_sizes]: the estimated number of rows of documents, and the revision whose slices they may have
UNWIND $rows AS uid
MATCH (d:Document {uid: uid}) USING INDEX d:Document(uid)
OPTIONAL MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
RETURN uid, d.slices AS slices, sum(CASE WHEN c IS NULL THEN 0 ELSE 1 + 2 * COUNT { (c)-[:MENTIONS]->() } END) AS rows;

// [chunks]: the stored chunks of documents, without their text
UNWIND $rows AS uid
MATCH (d:Document {uid: uid}) USING INDEX d:Document(uid)
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
RETURN uid AS document, c {.*, text: null} AS chunk;

// [chunk_uids]: the stored chunks of documents, each with the estimated number of its rows
UNWIND $rows AS uid
MATCH (d:Document {uid: uid}) USING INDEX d:Document(uid)
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
RETURN c.uid AS uid, c.id AS id, c.view_id AS view_id, 1 + 2 * COUNT { (c)-[:MENTIONS]->() } AS rows ORDER BY c.uid;

// [delete_mentions]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid})-[m:MENTIONS]->(e) USING INDEX c:Chunk(uid)
WITH e.id AS entity, m.forms AS forms, m.counts AS counts, m
DELETE m
RETURN entity, forms, counts;

// [delete_facts]
UNWIND $rows AS uid
MATCH (s)-[f:FACT {chunk_uid: uid}]->(o) USING INDEX f:FACT(chunk_uid)
WITH s.id AS subject, f.triple_id AS triple, o.id AS object, f
DELETE f
RETURN subject, triple, object;

// [delete_chunks]
UNWIND $rows AS uid
MATCH (c:Chunk {uid: uid}) USING INDEX c:Chunk(uid)
DETACH DELETE c;

// [create_chunks]
UNWIND $rows AS row
MATCH (d:Document {uid: row.document}) USING INDEX d:Document(uid)
CREATE (d)-[:HAS_CHUNK]->(c:Chunk)
SET c = row.chunk;

// [update_chunks]
UNWIND $rows AS row
MATCH (c:Chunk {uid: row.uid}) USING INDEX c:Chunk(uid)
SET c += row;

// [create_mentions]: rows are lists, which cost the client a third of the work of maps
UNWIND $rows AS row
WITH row[0] AS chunk, row[1] AS entity, row[2] AS forms, row[3] AS counts
MATCH (c:Chunk {uid: $corpus_id + ':' + chunk + $suffix}) USING INDEX c:Chunk(uid)
MATCH (e:Entity {uid: $corpus_id + ':' + entity}) USING INDEX e:Entity(uid)
CREATE (c)-[:MENTIONS {count: reduce(sum = 0, n IN counts | sum + n), forms: forms, counts: counts}]->(e);

// [create_facts]: rows are lists
UNWIND $rows AS row
WITH row[0] AS id, row[1] AS triple, row[2] AS chunk, row[3] AS document, row[4] AS subject, row[5] AS predicate,
    row[6] AS object
MATCH (s:Entity {uid: $corpus_id + ':' + subject}) USING INDEX s:Entity(uid)
MATCH (o:Entity {uid: $corpus_id + ':' + object}) USING INDEX o:Entity(uid)
CREATE (s)-[:FACT {uid: $corpus_id + ':' + id + $suffix, corpus_id: $corpus_id, id: id, triple_id: triple,
    triple_uid: $corpus_id + ':' + triple, chunk_id: chunk, chunk_uid: $corpus_id + ':' + chunk + $suffix,
    document_id: document, predicate: predicate}]->(o);

// [links]: the NEXT relationships of documents
UNWIND $rows AS uid
MATCH (d:Document {uid: uid}) USING INDEX d:Document(uid)
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)-[:NEXT]->(n:Chunk)
RETURN c.uid AS first, n.uid AS second;

// [delete_links]
UNWIND $rows AS row
MATCH (c:Chunk {uid: row.first})-[x:NEXT]->(:Chunk {uid: row.second}) USING INDEX c:Chunk(uid)
DELETE x;

// [create_links]
UNWIND $rows AS row
MATCH (c:Chunk {uid: row.first}) USING INDEX c:Chunk(uid)
MATCH (n:Chunk {uid: row.second}) USING INDEX n:Chunk(uid)
CREATE (c)-[:NEXT]->(n);

// [make_current]: also adds to the counts of the corpus what readers see now and did not see before
UNWIND $rows AS row
MATCH (d:Document {uid: row.uid}) USING INDEX d:Document(uid)
MATCH (r:Revision {uid: row.uid + ':' + toString(row.document.current)}) USING INDEX r:Revision(uid)
OPTIONAL MATCH (j:Job {id: row.job})
WITH d, r, j, row, CASE WHEN NOT d.hidden AND d.current IS NOT NULL THEN 1 ELSE 0 END AS seen
WITH d, r, j, row, seen, seen * d.chunks AS chunks, seen * coalesce(d.facts, 0) AS facts,
    seen * coalesce(d.mentions, 0) AS mentions
SET d += row.document, d.access = coalesce(r.access, d.access), r.access = null, j.malformed = j.malformed + row.document.malformed,
    j.passages = coalesce(j.passages, 0) + row.document.chunks,
    j.facts_within = coalesce(j.facts_within, 0) + row.fits.within,
    j.facts_outside = coalesce(j.facts_outside, 0) + row.fits.outside,
    j.facts_unnamed = coalesce(j.facts_unnamed, 0) + row.fits.unnamed
WITH sum(1 - seen) AS documents, sum(row.document.chunks - chunks) AS chunks,
    sum(row.document.facts - facts) AS facts, sum(row.document.mentions - mentions) AS mentions
MATCH (c:Corpus {id: $corpus_id})
SET c.documents = c.documents + documents, c.chunks = c.chunks + chunks, c.facts = c.facts + facts,
    c.mentions = c.mentions + mentions;

// [add_entities]: those that began to have a form, less those that lost their last one
MATCH (c:Corpus {id: $corpus_id}) SET c.entities = c.entities + $count;

// [delete_documents]
UNWIND $rows AS uid
MATCH (d:Document {uid: uid}) USING INDEX d:Document(uid)
DETACH DELETE d;

// [delete_revisions]: deletes older revisions; the counts of their jobs stay
UNWIND $rows AS row
MATCH (r:Revision {document_uid: row.uid}) USING INDEX r:Revision(document_uid)
WHERE r.number < row.below
WITH row.uid AS uid, r.content_hash AS content, r
DELETE r
RETURN DISTINCT uid, content;

// [extractions]
UNWIND $rows AS uid
MATCH (x:Extraction {document_uid: uid}) USING INDEX x:Extraction(document_uid)
RETURN x.uid AS uid, x.document_uid AS document, x.extract_hash AS hash;

// [delete_extractions]
UNWIND $rows AS uid
MATCH (x:Extraction {uid: uid}) USING INDEX x:Extraction(uid)
DELETE x;

// [entities]
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid}) USING INDEX e:Entity(uid)
RETURN e.id AS id, e.forms AS forms, e.counts AS counts;

// [create_entities]: rows are lists; an entity that only facts name has no name of its own
UNWIND $rows AS row
WITH row[0] AS id, row[1] AS forms, row[2] AS counts, row[3] AS name, row[4] AS normal, row[5] AS pending_from
CREATE (:Entity {uid: $corpus_id + ':' + id, corpus_id: $corpus_id, id: id, name: name, normal: normal,
    forms: forms, counts: counts, unsettled: pending_from});

// [update_entities]: rows are lists; the name of an entity without a form stays, as facts may name it
UNWIND $rows AS row
WITH row[0] AS id, row[1] AS forms, row[2] AS counts, row[3] AS name, row[4] AS normal, row[5] AS pending_from
MATCH (e:Entity {uid: $corpus_id + ':' + id}) USING INDEX e:Entity(uid)
SET e.forms = forms, e.counts = counts, e.name = coalesce(name, e.name), e.normal = coalesce(e.normal, normal),
    e.unsettled = CASE size(forms) WHEN 0 THEN null ELSE coalesce(pending_from, e.unsettled) END;

// [delete_synonyms]
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid})-[s:SYNONYM]-() USING INDEX e:Entity(uid)
DELETE s;

// [delete_entities]: deletes those of the entities that no mention and no fact names
UNWIND $rows AS uid
MATCH (e:Entity {uid: uid}) USING INDEX e:Entity(uid)
WHERE size(e.forms) = 0 AND NOT EXISTS { (e)-[:FACT]-() }
DETACH DELETE e;
