/** The state of a question as a label, with the words of readers. */

import { html } from "../vendor/preact.js";
import { Icon } from "../parts/icons.js";

const STATES = {
  running: ["busy", null, "running"],
  failed: ["poor", "warning", "failed"],
  cancelled: ["fair", "stop", "cancelled"],
};

/** Nothing for a question that is answered: its support says more. */
export function StateOf({ question }) {
  if (question.withdrawn) return html`<span class="tag poor"><${Icon} name="close" />withdrawn</span>`;
  if (question.state === "done") return question.answer?.abstained ? html`<span class="tag fair"><${Icon} name="close" />no answer given</span>` : null;
  const [tone, icon, words] = STATES[question.state];
  return html`<span class=${`tag ${tone}`}>${icon ? html`<${Icon} name=${icon} />` : html`<span class="spinner" aria-hidden="true"></span>`}${words}</span>`;
}
