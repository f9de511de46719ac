/** What is known of a question: from its events while it runs, from its answer afterwards. */

/**
 * @typedef {{id: string, question: string, parents: string[], depth: number, state: "waiting" | "searching" |
 *   "reviewing" | "done" | "left", answer: string, verdict: string, support: string, unstated: string, quotes: any[],
 *   hits: any[], searches: {query: string, searcher: string, hits: any[]}[], reviews: {verdict: string, text: string}[],
 *   seconds: number | null, tokens: number | null}} Step `state` is `left` for a step that the answer did not need.
 * @typedef {{steps: Map<string, Step>, text: string, notes: string[], searches: any[],
 *   problem: any, answer: any}} Progress
 */

/** @returns {Progress} */
export const begin = () => ({ steps: new Map(), text: "", notes: [], searches: [], problem: null, answer: null });

const EMPTY = {
  question: "", parents: [], depth: 0, state: "waiting", answer: "", verdict: "", support: "none", unstated: "",
  quotes: [], hits: [], searches: [], reviews: [], seconds: null, tokens: null,
};

/**
 * Returns the progress after an event of the stream.
 *
 * @param {Progress} before
 * @param {{kind: string, data: any}} event
 * @returns {Progress}
 */
export function advance(before, { kind, data }) {
  const receive = RECEIVERS[kind];
  return receive ? { ...before, ...receive(before, data) } : before;
}

const RECEIVERS = {
  plan: (before, { steps }) => ({ steps: steps.reduce((all, step) => change(all, step.id, step), before.steps) }),
  search: (before, data) => {
    if (!data.step) return { searches: [...before.searches, data] };
    const known = before.steps.get(data.step) || EMPTY;
    const state = known.state === "done" ? "done" : "searching";
    return { steps: change(before.steps, data.step, { state, searches: [...known.searches, data] }) };
  },
  step: (before, { step, ...result }) => ({ steps: change(before.steps, step, { ...result, state: "done" }) }),
  review: (before, { step, verdict, text }) => {
    const known = before.steps.get(step) || EMPTY;
    return { steps: change(before.steps, step, { reviews: [...known.reviews, { verdict, text }] }) };
  },
  token: (before, { text }) => ({ text: before.text + text }),
  note: (before, { text }) => ({ notes: before.notes.includes(text) ? before.notes : [...before.notes, text] }),
  answer: (before, answer) => ({ answer, steps: stepsOf(answer, before.steps) }),
  error: (_before, problem) => ({ problem }),
};

function change(steps, id, changes) {
  return new Map(steps).set(id, { ...EMPTY, ...steps.get(id), id, ...changes });
}

/**
 * Returns the steps of an answer by id. Of `seen`, it keeps the searches and reviews, and the planned steps that the
 * answer does not have.
 */
export function stepsOf(answer, seen = new Map()) {
  const steps = new Map();
  for (const [id, step] of seen) if (step.state === "done") steps.set(id, step);
  for (const step of answer.steps || []) steps.set(step.id, { ...EMPTY, ...seen.get(step.id), ...step, state: "done" });
  for (const [id, step] of seen) if (!steps.has(id)) steps.set(id, { ...step, state: "left" });
  return steps;
}

/** What finished steps have cost so far. */
export function costOf(steps) {
  return [...steps.values()].reduce((sum, step) => sum + (step.tokens || 0), 0);
}
