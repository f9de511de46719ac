// The text index: words of chunks as they were cut, found through a full-text index that parts them at white space.

// [write]
UNWIND $rows AS row
MERGE (t:TextEntry {uid: row.uid})
SET t = row;

// [missing]: those that are there
UNWIND $uids AS uid
MATCH (t:TextEntry {uid: uid})
RETURN t.id AS id;

// [search]: the best $limit, as lists, since rows cost the driver more than values. The index parts ids at spaces, so
// they are compared once more.
CALL db.index.fulltext.queryNodes('text_entry_words', $query, {limit: $limit}) YIELD node, score
WITH score, CASE
    WHEN node.corpus_id = $corpus AND ($documents IS NULL OR node.document_id IN $documents) THEN node.id
END AS id
RETURN count(*) AS read, min(score) AS least, collect(id) AS ids, collect(CASE WHEN id IS NOT NULL THEN score END) AS scores;

// [delete]
UNWIND $uids AS uid
MATCH (t:TextEntry {uid: uid})
DETACH DELETE t;

// [drop]: a slice; as often as it removes something
MATCH (t:TextEntry {corpus_id: $corpus})
WITH t LIMIT $limit
DETACH DELETE t
RETURN count(*) AS removed;

// [count]
MATCH (t:TextEntry {corpus_id: $corpus}) RETURN count(t) AS n;

// [ids]
MATCH (t:TextEntry {corpus_id: $corpus}) RETURN t.id AS id;

// [server]
CALL dbms.components() YIELD name, versions RETURN versions[0] AS version LIMIT 1;
