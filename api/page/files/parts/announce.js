/** Says to screen readers what changed without a change of focus. */

import { html, useEffect, useState } from "../vendor/preact.js";

let say = () => {};

/** @param {string} text One sentence; the last of several is said. */
export const announce = (text) => say(text);

export function Announcer() {
  const [text, setText] = useState("");
  useEffect(() => {
    say = setText;
  }, []);
  return html`<div class="unseen" role="status" aria-live="polite">${text}</div>`;
}
