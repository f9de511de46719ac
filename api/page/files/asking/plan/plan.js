/** The plan of a question as a graph that fills up: a column for each depth, an edge from each step that is needed. */

import { html } from "../../vendor/preact.js";
import { plural, seconds } from "../../core/text.js";
import { Icon } from "../../parts/icons.js";
import { Support } from "../../parts/tags.js";
import { arrange, edgePath, withoutImplied } from "../layers.js";
import { plainText } from "../plain.js";
import { nameOfStep, namesOfSteps } from "../steps.js";

const SIZES = { width: 13.25, height: 9.25, gapX: 2.25, gapY: 1 }; // rem; four columns stand beside the last questions at 1280 px
const MOST = 200; // steps that are drawn

/**
 * @param {{steps: any[], answer: any, chosen: string, choose: (id: string) => void, running: boolean}} props `steps` as
 *   `readableSteps` returns them. The answer of the only step is left out where it is the answer, which stands above.
 */
export function Plan({ steps, answer, chosen, choose, running }) {
  const isSame = steps.length === 1 && Boolean(answer) && plainText(steps[0].answer) === plainText(answer.answer);
  const drawn = steps.slice(0, MOST);
  const edges = withoutImplied(drawn);
  const nodes = drawn.map((step) => ({ id: step.id, parents: edges.get(step.id), height: SIZES.height }));
  const { places, routes, width, height } = arrange(nodes, SIZES);
  const waiting = new Set(drawn.filter((step) => step.state === "waiting").map((step) => step.id));
  const size = { "--plan-width": `${width}rem`, "--plan-height": `${height}rem` };
  return html`
    <div class="scroll plan-scroll" role="group" aria-label="The steps of the plan" tabindex=${places.size > 1 ? 0 : undefined}>
      <div class="plan" style=${size}>
        <${Edges} routes=${routes} waiting=${waiting} width=${width} height=${height} />
        <ol class="plain plan-steps">
          ${drawn.map((step) => html`<li key=${step.id} style=${placeOf(places.get(step.id))}>
            <${StepCard} step=${step} steps=${steps} isSame=${isSame} isChosen=${chosen === step.id} choose=${choose} running=${running} />
          </li>`)}
        </ol>
      </div>
      ${steps.length > MOST && html`<p class="faint">The first ${MOST} of ${steps.length} steps are drawn.</p>`}
    </div>`;
}

const placeOf = ({ x, y }) => ({ "--x": `${x}rem`, "--y": `${y}rem` });

function Edges({ routes, waiting, width, height }) {
  if (!routes.length) return null;
  return html`
    <svg class="plan-edges" viewBox=${`0 0 ${width * 16} ${height * 16}`} aria-hidden="true">
      ${routes.map(({ to, points }) => html`<path class=${waiting.has(to) ? "waiting" : ""} d=${edgePath(points.map(({ x, y }) => ({ x: x * 16, y: y * 16 })))} />`)}
    </svg>`;
}

function StepCard({ step, steps, isSame, isChosen, choose, running }) {
  const needs = step.parents.length ? `needs ${namesOfSteps(step.parents, steps)}` : "";
  return html`
    <button type="button" id=${`step-${step.id}`} class=${`plan-step ${step.state}`} aria-pressed=${isChosen} onClick=${() => choose(step.id)}>
      <span class="plan-step-head"><span class="plan-step-id">${nameOfStep(step)}<span class="unseen">${needs && `, ${needs}`}: </span></span>
        <${StepState} step=${step} running=${running} /></span>
      <span class="plan-step-question" dir="auto">${step.asks || "…"}</span>
      ${step.answer && !isSame && html`<span class="plan-step-answer" dir="auto">${plainText(step.answer)}</span>`}
      <span class="plan-step-facts">${factsOf(step).map((fact) => fact.replaceAll(" ", "\u00a0")).join(" · ")}</span>
      ${needs && html`<span class="plan-step-needs" aria-hidden="true">${needs}</span>`}
    </button>`;
}

/** True for a step that gave no answer, as it was to plan others. */
export const onlyPlanned = (step) => step.state === "done" && !step.answer && step.verdict === "planned";

/** What a step does, or what its answer stands on. */
export function StepState({ step, running }) {
  if (onlyPlanned(step)) return html`<span class="tag" title="It read passages, and planned the steps that are missing.">planned</span>`;
  if (step.state === "done") return html`<${Support} support=${step.support} />`;
  if (step.state === "left" || !running) return html`<span class="tag" title="The answer did not need this step."><${Icon} name="more" />not taken</span>`;
  if (step.state === "waiting") return html`<span class="tag">waiting</span>`;
  return html`<span class="tag busy"><span class="spinner" aria-hidden="true"></span>${step.searches.length ? "reading" : "searching"}</span>`;
}

/** The passages, time and tokens of a step, as far as they are known. */
export function factsOf(step) {
  const found = new Set([...step.hits.map((hit) => hit.chunk.id), ...step.searches.flatMap((one) => one.hits.map((hit) => hit.chunk_id || hit.url))]).size;
  const said = [];
  if (found) said.push(plural(found, "passage"));
  if (step.seconds !== null) said.push(seconds(step.seconds));
  if (step.tokens) said.push(plural(step.tokens, "token"));
  if (step.reviews.length) said.push(plural(step.reviews.length, "review"));
  return said;
}
