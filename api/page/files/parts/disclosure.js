/** A section that is closed until it is wanted: nothing of it is made, and nothing loaded, before. */

import { html, useId, useState } from "../vendor/preact.js";

/** @param {{title: string, hint?: string, open?: boolean, children: () => any}} props `open`: at first. */
export function Disclosure({ title, hint = "", open = false, children }) {
  const id = useId();
  const [isOpen, setOpen] = useState(open);
  return html`
    <details class="disclosure" open=${isOpen} onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary><h2 id=${id}>${title}</h2>${hint && html`<span class="faint">${hint}</span>`}</summary>
      ${isOpen && html`<section class="stack disclosure-body" aria-labelledby=${id}>${children()}</section>`}
    </details>`;
}
