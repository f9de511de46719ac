/** The trail of an answer as a graph: question → steps → passages → facts. */

import { isQuoted, plainText } from "../plain.js";
import { onlyPlanned } from "../plan/plan.js";
import { nameOfStep } from "../steps.js";

/**
 * @typedef {{id: string, kind: "question" | "step" | "passage" | "fact", title: string, label: string, sub: string,
 *   support?: string, role?: string, parents: string[], column?: number, value: any}} TrailNode
 */

const MOST = { steps: 60, passages: 40, facts: 60 };

/**
 * @param {any} question
 * @param {any[]} steps
 * @param {{subject: string, predicate: string, object: string, chunk_ids: string[]}[]} facts
 * @param {any[]} verdicts
 * @returns {{nodes: TrailNode[], cut: boolean}} A node comes after its parents. `cut`: there is more than is drawn.
 */
export function buildTrail(question, steps, facts, verdicts) {
  const { answer } = question;
  const taken = steps.filter((step) => step.state !== "left");
  const drawn = taken.slice(0, MOST.steps);
  const passages = passagesOf(answer, drawn, verdicts);
  const shownPassages = passages.slice(0, MOST.passages).map((node) => ({ ...node, column: drawn.length + 1 }));
  const known = new Set(shownPassages.map((node) => node.id));
  const asserted = facts
    .map((fact) => ({ fact, parents: fact.chunk_ids.map((id) => `passage:${id}`).filter((id) => known.has(id)) }))
    .filter((one) => one.parents.length);
  const all = [
    { id: "question", kind: "question", title: "Question", label: question.question, sub: plainAnswer(answer), support: answer.support, parents: [], value: question },
    ...drawn.map(stepNode(new Set(drawn.map((step) => step.id)))),
    ...shownPassages,
    ...asserted.slice(0, MOST.facts).map(({ fact, parents }) => factNode(fact, parents, drawn.length + 2)),
  ];
  const nodes = isQuoted(answer) ? all.map(withoutQuotes) : all;
  return { nodes, cut: taken.length > drawn.length || passages.length > shownPassages.length || asserted.length > MOST.facts };
}

const plainAnswer = (answer) => (answer.abstained ? "No answer is given" : plainText(answer.answer));

/** A quoted answer stands above with its sources beside it: its trail shows the way, and no text for a third time. */
function withoutQuotes(node) {
  if (node.kind === "passage") return { ...node, sub: node.value.page ? `page ${node.value.page}` : "" };
  return node.kind === "question" || (node.kind === "step" && node.value.answer) ? { ...node, sub: "" } : node;
}

const stepNode = (ids) => (step) => {
  const parents = step.parents.filter((id) => ids.has(id)).map((id) => `step:${id}`);
  return {
    id: `step:${step.id}`, kind: "step", title: nameOfStep(step), label: step.asks,
    sub: plainText(step.answer) || (onlyPlanned(step) ? "planned the next steps" : "no answer"), support: onlyPlanned(step) ? "" : step.support, parents: parents.length ? parents : ["question"], value: step,
  };
};

/** Passages that a step quotes or the answer cites, each with the steps that stand on it. */
function passagesOf(answer, steps, verdicts) {
  const found = new Map();
  const add = (cited, parent) => {
    const id = `passage:${cited.url || cited.chunk_id}`;
    const node = found.get(id) || passageNode(id, cited, verdicts);
    if (parent && !node.parents.includes(parent)) node.parents.push(parent);
    if (cited.marker) {
      node.value = { ...cited };
      node.title = `Source ${cited.marker}`;
    }
    found.set(id, node);
  };
  for (const step of steps) for (const quote of step.quotes) add({ page: null, ...quote, document: withId(quote, answer, step) }, `step:${step.id}`);
  for (const cited of answer.citations) {
    const id = `passage:${cited.url || cited.chunk_id}`;
    const finder = found.has(id) ? null : steps.find((step) => step.hits.some((hit) => (hit.url || hit.chunk.id) === (cited.url || cited.chunk_id)));
    add(cited, found.has(id) ? null : finder ? `step:${finder.id}` : "question");
  }
  return [...found.values()].sort((a, b) => (a.value.marker || 99) - (b.value.marker || 99));
}

/** A step's quotes name their documents by key; hits and citations have the id, too. */
function withId(quote, answer, step) {
  const same = [...step.hits, ...answer.citations].find((one) => one.document.key === quote.document.key);
  return { ...quote.document, id: same?.document.id };
}

function passageNode(id, cited, verdicts) {
  const verdict = verdicts.find((one) => one.document.id === cited.document.id);
  return {
    id, kind: "passage", title: "Passage", label: cited.document.title || cited.document.key, sub: cited.quote, role: verdict?.role,
    parents: [], value: cited,
  };
}

function factNode(fact, parents, column) {
  return { id: `fact:${fact.subject}\n${fact.predicate}\n${fact.object}`, kind: "fact", title: "Fact", label: `${fact.subject} — ${fact.predicate} → ${fact.object}`, sub: "", parents, column, value: fact };
}

/** Returns the ids of a node, of all that leads to it, and of all that it leads to. */
export function belonging(nodes, id) {
  const parents = new Map(nodes.map((node) => [node.id, node.parents]));
  const children = new Map(nodes.map((node) => [node.id, []]));
  for (const node of nodes) for (const parent of node.parents) children.get(parent)?.push(node.id);
  return new Set([...reachable(parents, id), ...reachable(children, id)]);
}

function reachable(next, id) {
  const reached = new Set([id]);
  for (const one of reached) for (const other of next.get(one) || []) reached.add(other);
  return reached;
}
