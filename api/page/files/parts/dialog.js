/** Dialogs, by the browser's own element: it keeps the focus inside, closes with Escape, and gives the focus back. */

import { html, useEffect, useId, useRef } from "../vendor/preact.js";
import { Icon } from "./icons.js";
import { Notice } from "./states.js";

export function Dialog({ title, close, children, wide = false }) {
  const id = useId();
  const dialog = useRef(null);
  useEffect(() => {
    dialog.current.showModal();
  }, []);
  const outside = (event) => event.target === dialog.current && close();
  return html`
    <dialog ref=${dialog} class=${wide ? "wide" : ""} aria-labelledby=${id} onClose=${close} onClick=${outside}>
      <div class="dialog-body">
        <header><h2 id=${id}>${title}</h2><button class="quiet icon-only" aria-label="Close" onClick=${close}><${Icon} name="close" /></button></header>
        ${children}
      </div>
    </dialog>`;
}

/** Asks before something is done that cannot be undone. `action` names it: "Delete 3 documents". Until `ready`, it may not be. */
export function Confirm({ title, action, busy, error, confirm, close, children, ready = true }) {
  return html`
    <${Dialog} title=${title} close=${close}>
      ${children}
      <${Notice} error=${error} />
      <footer class="actions">
        <button onClick=${close}>Keep</button>
        <button class="danger" disabled=${busy || !ready} onClick=${confirm}>${busy ? "Working…" : action}</button>
      </footer>
    <//>`;
}
