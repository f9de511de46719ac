// [create]
CREATE (c:Corpus {generation: 0, changes_floor: 0, created_at: timestamp() / 1000.0, revisions: 0, tombstones: 0,
    documents: 0, chunks: 0, entities: 0, facts: 0, mentions: 0})
SET c += $corpus
RETURN properties(c) AS corpus;

// [by_name]
MATCH (c:Corpus {name: $name}) RETURN properties(c) AS corpus;

// [by_id]
MATCH (c:Corpus {id: $id}) RETURN properties(c) AS corpus;

// [names]
MATCH (c:Corpus) WHERE c.name IS NOT NULL RETURN c.name AS name ORDER BY name LIMIT 20;

// [all]
MATCH (c:Corpus) WHERE c.name IS NOT NULL RETURN properties(c) AS corpus ORDER BY c.name;

// [rename]
MATCH (c:Corpus {id: $id}) SET c.name = $name RETURN properties(c) AS corpus;

// [unfinished]
MATCH (r:Revision {corpus_id: $id}) WHERE r.state IN $states RETURN r.uid AS uid;

// [delete]
MATCH (c:Corpus {id: $id}) SET c.drop_job = $job_id REMOVE c.name, c.beside, c.reindex_job;

// [shadow]: the shadow corpus of a corpus
MATCH (c:Corpus {beside: $id}) RETURN properties(c) AS corpus;

// [reindexings]
MATCH (c:Corpus) WHERE c.beside IS NOT NULL
RETURN c.beside AS corpus_id, c.id AS shadow_id, c.reindex_job AS job_id ORDER BY c.created_at, c.id;

// [copy_disabled]: disables in the shadow corpus what is disabled in the corpus
MATCH (d:Document) WHERE d.corpus_id = $corpus AND d.key IS NOT NULL AND d.disabled
MATCH (t:Document {uid: $shadow + ':' + d.id})
SET t.disabled = true;

// [copy_access]: gives the documents of the shadow corpus the access that they have in the corpus
MATCH (d:Document) WHERE d.corpus_id = $corpus AND d.key IS NOT NULL
MATCH (t:Document {uid: $shadow + ':' + d.id})
SET t.access = d.access;

// [clear_pending_access]: of the shadow corpus: a failed revision there may have named more
MATCH (r:Revision) WHERE r.corpus_id = $shadow AND r.access IS NOT NULL
SET r.access = null;

// [take_name]
MATCH (c:Corpus {id: $id}) SET c.name = $name REMOVE c.beside, c.reindex_job;

// [missing_revisions]: newest revisions that the shadow corpus lacks or has with another fingerprint
MATCH (d:Document) WHERE d.corpus_id = $corpus AND d.key IS NOT NULL AND NOT d.hidden
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)}) WHERE NOT r.deletion
OPTIONAL MATCH (t:Document {uid: $shadow + ':' + d.id}) WHERE NOT t.hidden
OPTIONAL MATCH (n:Revision {uid: t.uid + ':' + toString(t.newest)}) WHERE NOT n.deletion
WITH d, r, n WHERE n IS NULL OR n.fingerprint <> r.fingerprint
RETURN r {.*, key: d.key} AS revision ORDER BY r.seq LIMIT $limit;

// [surplus_documents]: documents of the shadow corpus that the corpus lacks
MATCH (t:Document) WHERE t.corpus_id = $shadow AND t.key IS NOT NULL AND NOT t.hidden
MATCH (n:Revision {uid: t.uid + ':' + toString(t.newest)}) WHERE NOT n.deletion
OPTIONAL MATCH (d:Document {uid: $corpus + ':' + t.id}) WHERE NOT d.hidden
OPTIONAL MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)}) WHERE NOT r.deletion
WITH t, r WHERE r IS NULL
RETURN t.id AS id ORDER BY id LIMIT $limit;

// [incomplete_documents]: one of the documents that are not indexed in the shadow corpus, unless readable in neither
MATCH (t:Document) WHERE t.corpus_id = $shadow AND t.key IS NOT NULL AND NOT t.hidden AND t.state <> 'indexed'
MATCH (d:Document {uid: $corpus + ':' + t.id})
WHERE NOT d.hidden AND NOT (t.state IN ['failed', 'cancelled'] AND d.current IS NULL)
RETURN t.id AS id LIMIT 1;

// [counts]: null for a corpus of an earlier release
MATCH (c:Corpus {id: $id}) WHERE c.documents IS NOT NULL
RETURN c.documents AS documents, c.chunks AS chunks, c.entities AS entities, c.facts AS facts, c.mentions AS mentions;

// [hidden_entities]: those that only documents which are being deleted mention
MATCH (d:Document {corpus_id: $id, hidden: true}) USING INDEX d:Document(corpus_id, hidden)
MATCH (d)-[:HAS_CHUNK]->(:Chunk)-[:MENTIONS]->(e:Entity)
WITH DISTINCT e
WHERE size(e.forms) > 0 AND NOT EXISTS {
    MATCH (e)<-[:MENTIONS]-(c:Chunk)<-[:HAS_CHUNK]-(o:Document)
    WHERE NOT o.hidden AND c.first <= o.current AND (c.last IS NULL OR o.current <= c.last)
}
RETURN count(e) AS entities;

// [count_documents]: this and the following read all rows of a corpus
MATCH (d:Document) WHERE d.corpus_id = $id AND d.key IS NOT NULL AND NOT d.hidden AND d.current IS NOT NULL
RETURN count(d) AS documents;

// [count_chunks]
MATCH (d:Document) WHERE d.corpus_id = $id AND d.key IS NOT NULL AND NOT d.hidden
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
WHERE c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
RETURN count(c) AS chunks;

// [count_mentions]
MATCH (d:Document) WHERE d.corpus_id = $id AND d.key IS NOT NULL AND NOT d.hidden
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
WHERE c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
MATCH (c)-[m:MENTIONS]->(e:Entity)
RETURN count(DISTINCT e) AS entities, coalesce(sum(m.count), 0) AS mentions;

// [count_facts]
MATCH (d:Document) WHERE d.corpus_id = $id AND d.key IS NOT NULL AND NOT d.hidden
MATCH (d)-[:HAS_CHUNK]->(c:Chunk)
WHERE c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
MATCH ()-[f:FACT {chunk_uid: c.uid}]->()
RETURN count(f) AS facts;
