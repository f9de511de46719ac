// What owners decide on the graph of a corpus: rejected pairs, the threshold for merging, and the schema.

// [all]: in the order of an index
MATCH (r:Rejection) WHERE r.uid STARTS WITH $prefix
WITH r ORDER BY r.uid
RETURN r.first_id, r.second_id, r.rejected_at;

// [create]
CREATE (r:Rejection {uid: $uid, corpus_id: $corpus_id, first_id: $first_id, second_id: $second_id,
    rejected_at: timestamp() / 1000.0});

// [adopt]
UNWIND $rows AS row
CREATE (r:Rejection {uid: row.uid, corpus_id: $corpus_id, first_id: row.first_id, second_id: row.second_id,
    rejected_at: timestamp() / 1000.0});

// [delete]
MATCH (r:Rejection {uid: $uid}) DELETE r;

// [copy]: the rejections of a corpus to another one, which has none
MATCH (r:Rejection) WHERE r.uid STARTS WITH $prefix
CREATE (n:Rejection {uid: $to + ':' + r.first_id + ':' + r.second_id, corpus_id: $to, first_id: r.first_id,
    second_id: r.second_id, rejected_at: r.rejected_at});

// [threshold]
MATCH (c:Corpus {id: $corpus_id}) RETURN c.merge_above AS threshold;

// [set_threshold]
MATCH (c:Corpus {id: $corpus_id}) SET c.merge_above = $threshold;

// [schema]
MATCH (c:Corpus {id: $corpus_id}) RETURN c.graph_schema AS text;

// [set_schema]
MATCH (c:Corpus {id: $corpus_id}) SET c.graph_schema = $text;
