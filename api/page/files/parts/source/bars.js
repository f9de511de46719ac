/** The bars above a source: its pages, and the selected passage with the ones before and after it. */

import { html, useEffect, useState } from "../../vendor/preact.js";
import { number } from "../../core/text.js";
import { announce } from "../announce.js";
import { Icon } from "../icons.js";

export function Pager({ page, label, pages, go }) {
  const [written, setWritten] = useState(String(page));
  useEffect(() => setWritten(String(page)), [page]);
  const submit = (event) => {
    event.preventDefault();
    const wanted = Math.round(Number(written));
    if (wanted >= 1 && wanted !== page) go(pages ? Math.min(wanted, pages) : wanted);
    else setWritten(String(page));
  };
  return html`
    <form class="row pager" aria-label="Pages" onSubmit=${submit}>
      <button type="button" class="icon-only" aria-label="Previous page" disabled=${page <= 1} onClick=${() => go(page - 1)}><${Icon} name="left" /></button>
      <label class="inline">Page <input type="number" min="1" max=${pages || undefined} value=${written} onInput=${(event) => setWritten(event.target.value)} onBlur=${submit} /></label>
      ${label && html`<span class="page-label" dir="auto">(${label})</span>`}
      ${pages > 0 && html`<span class="faint">of ${number(pages)}</span>`}
      <button type="button" class="icon-only" aria-label="Next page" disabled=${pages > 0 && page >= pages} onClick=${() => go(page + 1)}><${Icon} name="right" /></button>
    </form>`;
}

export function PassageBar({ chunk, count, step }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      announce("The link is copied.");
    } catch {
      announce("The browser does not let pages copy here; copy the address instead.");
    }
  };
  return html`
    <div class="row passage-bar" role="group" aria-label="Selected passage">
      <button class="icon-only" aria-label="Previous passage" disabled=${chunk.position <= 0} onClick=${() => step(chunk.position - 1)}><${Icon} name="left" /></button>
      <span>Passage ${number(chunk.position + 1)} of ${number(count)}</span>
      <button class="icon-only" aria-label="Next passage" disabled=${chunk.position >= count - 1} onClick=${() => step(chunk.position + 1)}><${Icon} name="right" /></button>
      ${chunk.heading && html`<span class="faint passage-heading" dir="auto">${chunk.heading}</span>`}
      <button class="quiet" onClick=${copy}><${Icon} name="link" /> Copy link</button>
    </div>`;
}

/** Text or image, where there is no room for both beside each other. */
export function Sides({ side, choose }) {
  return html`
    <div class="row sides" role="group" aria-label="Show">
      <button aria-pressed=${side === "text"} onClick=${() => choose("text")}>Text</button>
      <button aria-pressed=${side === "image"} onClick=${() => choose("image")}>Page as an image</button>
    </div>`;
}
