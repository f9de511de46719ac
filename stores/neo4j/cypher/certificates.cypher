// Removals, and the certificates that are made of them. A transaction that removes holds the lock of its corpus.

// [insert_removal]: the corpus counts its removals beside its tombstones, whose numbers are as good
MATCH (c:Corpus {id: $corpus_id})
SET c.tombstones = c.tombstones + 1
CREATE (:Removal {uid: c.id + ':' + toString(c.tombstones), id: c.tombstones, corpus_id: c.id, content: $content});

// [corpus_documents]: with the contents of all revisions
MATCH (d:Document {corpus_id: $corpus_id}) USING INDEX d:Document(corpus_id, key) WHERE d.key IS NOT NULL
OPTIONAL MATCH (r:Revision {document_uid: d.uid}) USING INDEX r:Revision(document_uid)
RETURN d.key AS key, d.chunks AS passages, collect(DISTINCT r.content_hash) AS contents ORDER BY key;

// [submitters]: who submitted jobs
UNWIND $rows AS id
MATCH (j:Job {id: id})
RETURN j.id AS id, j.submitted_by AS by;

// [count_answers]
MATCH (q:AskedQuestion {corpus_id: $corpus_id}) WHERE q.asked_by IS NOT NULL RETURN count(q) AS answers;

// [removals]: without those of corpora whose rows are still there
MATCH (r:Removal) WHERE ($corpus_id IS NULL OR r.corpus_id = $corpus_id)
    AND NOT EXISTS { MATCH (c:Corpus {id: r.corpus_id}) WHERE c.name IS NULL }
RETURN r.id AS id, r.corpus_id AS corpus_id, r.content AS content ORDER BY corpus_id, id LIMIT $limit;

// [lock_removal]
MATCH (r:Removal {uid: $uid}) SET r.lock = $token RETURN r.uid AS uid;

// [delete_removal]
MATCH (r:Removal {uid: $uid}) DELETE r;

// [last]: of the chain that a corpus has
MATCH (c:Certificate {corpus_id: $corpus_id}) WITH c LIMIT 1
MATCH (l:Certificate {chain: c.chain}) USING INDEX l:Certificate(chain, number) WHERE l.number > 0
RETURN l.chain AS chain, l.number AS number, l.corpus AS corpus, l.line AS line ORDER BY number DESC LIMIT 1;

// [append]
CREATE (:Certificate {uid: $chain + ':' + toString($number), chain: $chain, number: $number, corpus_id: $corpus_id,
    corpus: $corpus, line: $line});

// [list]
CALL () {
    MATCH (c:Certificate {corpus: $corpus})
    WHERE NOT EXISTS { MATCH (k:Corpus {id: c.corpus_id}) WHERE k.name IS NOT NULL }
    RETURN c.chain AS chain
    UNION
    MATCH (c:Certificate {corpus_id: $corpus}) RETURN c.chain AS chain
    UNION
    MATCH (k:Corpus {name: $corpus}) MATCH (c:Certificate {corpus_id: k.id}) RETURN c.chain AS chain
}
MATCH (l:Certificate {chain: chain}) USING INDEX l:Certificate(chain, number)
WHERE l.number > 0 AND (chain > $chain OR (chain = $chain AND l.number > $number))
RETURN l.chain AS chain, l.number AS number, l.corpus AS corpus, l.line AS line ORDER BY chain, number LIMIT $limit;

// [move_certificates]
MATCH (c:Certificate {corpus_id: $corpus_id}) SET c.corpus_id = $to;

// [move_removals]: under ids of the other corpus, which are counted first: a SET sees what all rows have set
MATCH (k:Corpus {id: $to})
MATCH (r:Removal {corpus_id: $corpus_id})
WITH k, r ORDER BY r.id
WITH k, k.tombstones AS before, collect(r) AS removals
SET k.tombstones = before + size(removals)
WITH before, removals
UNWIND range(1, size(removals)) AS place
WITH removals[place - 1] AS r, before + place AS number
SET r.uid = $to + ':' + toString(number), r.id = number, r.corpus_id = $to;
