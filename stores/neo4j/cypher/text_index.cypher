// The text index: the tokens of chunks under a full-text index that splits them at white space.

// [write]
UNWIND $rows AS row
MERGE (t:TextEntry {uid: row.uid})
SET t = row;

// [stored]: those of the entries that are stored
UNWIND $uids AS uid
MATCH (t:TextEntry {uid: uid})
RETURN t.id AS id;

// [search]: the best entries of each query, as lists, since rows cost the driver more than values. The index splits ids
// at spaces, so they are compared again.
UNWIND $asked AS one
CALL (one) {
    CALL db.index.fulltext.queryNodes('text_entry_words', one.query, {limit: one.limit}) YIELD node, score
    WITH score, CASE
        WHEN node.corpus_id = $corpus AND ($documents IS NULL OR node.document_id IN $documents) THEN node.id
    END AS id
    RETURN count(*) AS read, min(score) AS least, collect(id) AS ids,
        collect(CASE WHEN id IS NOT NULL THEN score END) AS scores
}
RETURN one.place AS place, read, least, ids, scores;

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
