/** The plan of a question as a graph that fills up: a column for each depth, an edge from each step that is needed. */

import { html } from "../../vendor/preact.js";
import { plural, seconds } from "../../core/text.js";
import { Icon } from "../../parts/icons.js";
import { Support } from "../../parts/tags.js";
import { arrange, edgePath, withoutImplied } from "../layers.js";
import { plainText } from "../plain.js";

const SIZES = { width: 15.5, height: 8.25, gapX: 2.75, gapY: 1 }; // rem
const MOST = 200; // steps that are drawn

/** @param {{steps: import("../progress.js").Step[], chosen: string, choose: (id: string) => void, running: boolean}} props */
export function Plan({ steps, chosen, choose, running }) {
  const drawn = steps.slice(0, MOST);
  const nodes = drawn.map((step) => ({ id: step.id, parents: step.parents, height: SIZES.height }));
  const { places, width, height } = arrange(nodes, SIZES);
  const size = { "--plan-width": `${width}rem`, "--plan-height": `${height}rem` };
  return html`
    <div class="scroll plan-scroll" role="group" aria-label="The steps of the plan" tabindex=${places.size > 1 ? 0 : undefined}>
      <div class="plan" style=${size}>
        <${Edges} steps=${drawn} places=${places} width=${width} height=${height} />
        <ol class="plain plan-steps">
          ${drawn.map((step) => html`<li key=${step.id} style=${placeOf(places.get(step.id))}>
            <${StepCard} step=${step} isChosen=${chosen === step.id} choose=${choose} running=${running} />
          </li>`)}
        </ol>
      </div>
      ${steps.length > MOST && html`<p class="faint">The first ${MOST} of ${steps.length} steps are drawn.</p>`}
    </div>`;
}

const placeOf = ({ x, y }) => ({ "--x": `${x}rem`, "--y": `${y}rem` });

function Edges({ steps, places, width, height }) {
  const drawn = withoutImplied(steps);
  const edges = steps.flatMap((step) => drawn.get(step.id).filter((id) => places.has(id)).map((id) => [places.get(id), places.get(step.id), step]));
  if (!edges.length) return null;
  const middle = SIZES.height / 2;
  return html`
    <svg class="plan-edges" viewBox=${`0 0 ${width * 16} ${height * 16}`} aria-hidden="true">
      ${edges.map(([from, to, step]) => html`<path class=${step.state === "waiting" ? "waiting" : ""}
        d=${edgePath({ x: (from.x + SIZES.width) * 16, y: (from.y + middle) * 16 }, { x: to.x * 16, y: (to.y + middle) * 16 })} />`)}
    </svg>`;
}

function StepCard({ step, isChosen, choose, running }) {
  const needs = step.parents.length ? `, needs ${step.parents.join(", ")}` : "";
  return html`
    <button type="button" id=${`step-${step.id}`} class=${`plan-step ${step.state}`} aria-pressed=${isChosen} onClick=${() => choose(step.id)}>
      <span class="plan-step-head"><span class="plan-step-id">${step.id}<span class="unseen">${needs}</span></span>
        <${StepState} step=${step} running=${running} /></span>
      <span class="plan-step-question" dir="auto">${step.question || "…"}</span>
      ${step.answer && html`<span class="plan-step-answer" dir="auto">${plainText(step.answer)}</span>`}
      <span class="plan-step-facts">${factsOf(step).join(" · ")}</span>
      ${step.parents.length > 0 && html`<span class="plan-step-needs" aria-hidden="true">needs ${step.parents.join(", ")}</span>`}
    </button>`;
}

/** What a step does, or what its answer stands on. */
export function StepState({ step, running }) {
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
