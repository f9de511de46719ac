// The text index: the tokens of chunks under a full-text index that splits them at white space.

// [write]
UNWIND $rows AS row
MERGE (t:TextEntry {uid: row.uid})
SET t = row;

// [stored]: those of the entries that are stored
UNWIND $uids AS uid
MATCH (t:TextEntry {uid: uid})
RETURN t.id AS id;

// [search]: the best $limit entries, as lists, since rows cost the driver more than values. The index splits ids at
// spaces, so they are compared again.
CALL db.index.fulltext.queryNodes('text_entry_words', $query, {limit: $limit}) YIELD node, score
WITH score, CASE
    WHEN node.corpus_id = $corpus AND ($documents IS NULL OR node.document_id IN $documents) THEN node.id
END AS id
RETURN count(*) AS read, min(score) AS least, collect(id) AS ids, collect(CASE WHEN id IS NOT NULL THEN score END) AS scores;

// [find_few]: the entries of each query up to its limit
UNWIND $asked AS one
CALL (one) {
    CALL db.index.fulltext.queryNodes('text_entry_words', one.query, {limit: one.limit}) YIELD node
    RETURN count(*) AS read, collect(CASE
        WHEN node.corpus_id = $corpus AND ($documents IS NULL OR node.document_id IN $documents) THEN node.id
    END) AS ids
}
RETURN one.place AS place, read, ids;

// [delete]
UNWIND $uids AS uid
MATCH (t:TextEntry {uid: uid})
DETACH DELETE t;

// [delete_some]: deletes some entries of a corpus; repeated while it deletes any
MATCH (t:TextEntry {corpus_id: $corpus})
WITH t LIMIT $limit
DETACH DELETE t
RETURN count(*) AS deleted;

// [count]
MATCH (t:TextEntry {corpus_id: $corpus}) RETURN count(t) AS n;

// [ids]
MATCH (t:TextEntry {corpus_id: $corpus}) RETURN t.id AS id;

// [server]
CALL dbms.components() YIELD name, versions RETURN versions[0] AS version LIMIT 1;
