/** Small labels of states. Their words say what their colours do. */

import { html } from "../vendor/preact.js";
import { Icon } from "./icons.js";

const SUPPORT = {
  stated: ["good", "check", "stated", "Passages state it."],
  quoted: ["busy", "documents", "quoted", "It is verbatim in a passage; no language model read whether it answers."],
  inferred: ["fair", "warning", "inferred", "It follows from passages, with an assumption."],
  memory: ["poor", "warning", "from memory", "The model's memory, without a passage."],
  none: ["poor", "close", "no answer", "Nothing was found that answers it."],
};

/** What an answer or a step stands on: `stated`, `quoted`, `inferred`, `memory` or `none`. */
export function Support({ support }) {
  const [tone, icon, label, title] = SUPPORT[support] || ["fair", "warning", support, ""];
  return html`<span class=${`tag ${tone}`} title=${title}><${Icon} name=${icon} />${label}</span>`;
}

const STATES = {
  done: "good", current: "good", indexed: "good", active: "good",
  failed: "poor", cancelled: "fair", paused: "fair",
};

/** The state of a document or a job, in the server's word. */
export function State({ state }) {
  const working = !(state in STATES);
  return html`<span class=${`tag ${STATES[state] || "busy"}`}>${working && html`<span class="spinner" aria-hidden="true"></span>`}${state}</span>`;
}

/** A share of something done, with its words. `value` is null while it is not known. */
export function Progress({ value, label }) {
  return html`<div class="progress"><progress aria-label=${label} max="1" ...${value === null ? {} : { value }}></progress><span>${label}</span></div>`;
}
