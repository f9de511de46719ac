/** The field in which a question is written: Enter asks, Shift+Enter breaks the line. */

import { html, useEffect } from "../../vendor/preact.js";
import { Icon } from "../../parts/icons.js";

const LONGEST = 20_000; // what the server takes

/**
 * @param {{id: string, label: string, placeholder: string, hint: any, value: string, change: (text: string) => void,
 *   submit: () => void, ready: boolean, busy: boolean, field: {current: any}, rows?: number}} props `ready`: it may be
 *   asked now.
 */
export function QuestionBox({ id, label, placeholder, hint, value, change, submit, ready, busy, field, rows = 2 }) {
  const keys = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return; // Enter also ends the writing of a Chinese word
    event.preventDefault();
    if (ready) submit();
  };
  useEffect(() => grow(field.current), [value]);
  return html`
    <div class="ask-box">
      <label for=${id} class="unseen">${label}</label>
      <textarea id=${id} ref=${field} dir="auto" rows=${rows} maxlength=${LONGEST} placeholder=${placeholder} value=${value}
        enterkeyhint="send" aria-describedby=${`${id}-hint`} onInput=${(event) => change(event.target.value)} onKeyDown=${keys}></textarea>
      <div class="ask-box-end">
        <p class="hint" id=${`${id}-hint`}>${hint}</p>
        <button class="primary" disabled=${!ready}>${busy ? html`<span class="spinner" aria-hidden="true"></span> Asking…` : html`<${Icon} name="ask" /> Ask`}</button>
      </div>
    </div>`;
}

/** Makes the field as high as its text, within what the style allows. */
function grow(field) {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}
