/** The steps of a question as readers meet them: counted, and with answers in place of the tags that a model plans with. */

const TAG = /<\s*[AQ](\d{1,3})\.(\d{1,3})\s*>|(?<![\w.<])A(\d{1,3})\.(\d{1,3})(?![\w>]|\.\d)/g; // as `reasoning/plans/dag.py` has it

/**
 * Returns the steps with `number`, their place in the plan from 1, and without tags in their questions: a tag such as
 * `<A1.1>` stands for the answer of the step Q1.1. `asks` is the question in the words of a label: a step that asks the
 * whole question does not repeat it.
 *
 * @param {Map<string, import("./progress.js").Step>} steps
 * @param {string} whole The question itself.
 * @returns {(import("./progress.js").Step & {number: number, of: number, asks: string})[]}
 */
export function readableSteps(steps, whole) {
  const all = [...steps.values()];
  return all.map((step, i) => {
    const question = fillTags(step.question, steps);
    return { ...step, question, asks: question === whole ? WHOLE : question, number: i + 1, of: all.length };
  });
}

const WHOLE = "The whole question";

/** True where steps ask different questions: there is a plan to show. */
export const hasPlan = (steps) => new Set(steps.map((step) => step.question)).size > 1;

/** A tag without brackets may be a word of the question: it is replaced only where it names a step. */
function fillTags(question, steps) {
  const written = (tag, depth, place) => {
    const step = steps.get(`Q${Number(depth)}.${Number(place)}`);
    if (step?.answer) return step.answer;
    if (step) return `(the answer of step ${[...steps.keys()].indexOf(step.id) + 1})`;
    return tag.startsWith("<") ? "…" : tag;
  };
  return question.replace(TAG, (tag, a, b, c, d) => written(tag, a ?? c, b ?? d));
}

/** `Step 2 of 3`. */
export const nameOfStep = ({ number, of }) => (of > 1 ? `Step ${number} of ${of}` : "Step");

/** `step 1, step 3`: those of other steps, by their ids. An id that no step has is left out. */
export function namesOfSteps(ids, steps) {
  const numbers = ids.map((id) => steps.find((step) => step.id === id)?.number).filter(Boolean);
  return numbers.length === 1 ? `step ${numbers[0]}` : `steps ${numbers.join(", ")}`;
}
