/** The facts of the graph that the passages of a trail assert: those about the answers of its steps. */

import { readFactsOf } from "../source.js";

const NAMES = 8;
const LONGEST = 120; // an answer that is longer is no name
const PER_PASSAGE = 3;

/**
 * @returns {Promise<{subject: string, predicate: string, object: string, chunk_ids: string[]}[]>} Empty for a corpus
 *   without facts.
 */
export async function readFacts(corpus, answer, signal) {
  const chunks = new Set([...answer.citations.map((one) => one.chunk_id), ...answer.steps.flatMap((step) => step.quotes.map((one) => one.chunk_id))].filter(Boolean));
  const found = pathFacts(answer, chunks);
  const names = [...new Set(answer.steps.map((step) => step.answer.trim()))].filter((name) => name && name.length <= LONGEST);
  const entities = await Promise.all(names.slice(0, NAMES).map((name) => readFactsOf(corpus, name, signal)));
  for (const entity of entities) {
    for (const { subject, predicate, object, chunk_ids } of entity?.facts || []) {
      found.push({ subject: subject.name, predicate, object: object.name, chunk_ids: chunk_ids.filter((id) => chunks.has(id)) });
    }
  }
  return limit(found.filter((one) => one.chunk_ids.length));
}

/** The facts on the paths by which passages were found; searches have them where they were asked to explain. */
function pathFacts(answer, chunks) {
  const edges = answer.steps.flatMap((step) => step.hits.flatMap((hit) => hit.path));
  return edges
    .filter((edge) => edge.source_kind === "entity" && edge.target_kind === "entity" && chunks.has(edge.chunk_id))
    .map((edge) => ({ subject: edge.source, predicate: edge.relation, object: edge.target, chunk_ids: [edge.chunk_id] }));
}

/** Each fact once, and the first ones of each passage. */
function limit(facts) {
  const counts = new Map();
  const seen = new Set();
  return facts.filter((fact) => {
    const key = JSON.stringify([fact.subject, fact.predicate, fact.object]);
    const most = Math.min(...fact.chunk_ids.map((id) => counts.get(id) || 0));
    if (seen.has(key) || most >= PER_PASSAGE) return false;
    seen.add(key);
    for (const id of fact.chunk_ids) counts.set(id, (counts.get(id) || 0) + 1);
    return true;
  });
}
