/** Says that the server is still starting, where a first question or search would wait for it. */

import { html } from "../vendor/preact.js";
import { useStarting } from "../core/readiness.js";

export function Starting() {
  const stage = useStarting();
  return html`<div role="status" class="starting-place">${stage && html`
    <p class="notice starting"><span class="spinner" aria-hidden="true"></span>
      <span>The server is still starting (${stage}). What is asked now is answered as soon as it is ready.</span></p>`}</div>`;
}
