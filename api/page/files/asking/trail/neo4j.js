/** The trail in Neo4j Browser: its address with the query of the saved guide, for this question. */

const LONGEST = 10_000; // a trail has so many letters of its question

/** Returns the address, or null if no Neo4j Browser is configured. */
export function browserAddress(browser, corpus, question) {
  if (!browser || !/^https?:/i.test(browser)) return null;
  const address = new URL(browser);
  address.searchParams.set("cmd", "edit");
  address.searchParams.set("arg", queryOf(corpus, question));
  return address.href;
}

/** The query of `docs/neo4j/guide/trail.cypher`, with the values in place of its parameters. */
function queryOf(corpus, question) {
  return `MATCH (k:Corpus {name: ${literal(corpus)}})
MATCH (q:Question {corpus_id: k.id})
WHERE q.expires_at > timestamp() / 1000.0 AND toLower(q.text) CONTAINS toLower(${literal(question.slice(0, LONGEST))})
  AND NOT EXISTS {
    MATCH (q)-[:STEP|FOUND|CITES]->{1,2}(c:Chunk)
    MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id}) WHERE d.hidden
  }
WITH q ORDER BY q.asked_at DESC LIMIT 1
OPTIONAL MATCH (q)-[step:STEP]->(s:Step)
WITH q, step, s ORDER BY step.number LIMIT 20
CALL (q, s) {
  MATCH (s)-[found:FOUND]->(c:Chunk) WHERE found.rank <= 3 OR EXISTS { (q)-[:CITES]->(c) }
  MATCH (d:Document {uid: c.corpus_id + ':' + c.document_id})
  WHERE NOT d.hidden AND c.first <= d.current AND (c.last IS NULL OR d.current <= c.last)
  OPTIONAL MATCH (q)-[cites:CITES]->(c)
  OPTIONAL MATCH (source:Document)-[has:HAS_CHUNK]->(c) WHERE cites IS NOT NULL
  RETURN found, c, cites, source, has ORDER BY found.rank LIMIT 10
  UNION ALL
  RETURN null AS found, null AS c, null AS cites, null AS source, null AS has
}
OPTIONAL MATCH (s)-[needs:NEEDS]->(:Step)
RETURN q, step, s, needs, found, c, cites, source, has`;
}

const literal = (text) => `'${text.replace(/\\/g, "\\\\").replace(/'/g, "\\'").replace(/\n/g, "\\n").replace(/\r/g, "\\r")}'`;
