/** The frame of a view's content: its title, which is the page's title, too, and gets the focus after navigation. */

import { html, useEffect, useRef } from "../vendor/preact.js";

let isFirst = true;

/** `title` is shown and said; `context` (the corpus) follows it in the window's title; `before` stands above the title. */
export function View({ title, context, hidden = false, actions, before, children, wide = false }) {
  const heading = useRef(null);
  useEffect(() => {
    document.title = [title, context, "Hopweave"].filter(Boolean).join(" · ");
  }, [title, context]);
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    if (!isFirst) scrollTo(0, 0);
    isFirst = false;
  }, []);
  return html`
    <div class=${`view ${wide ? "wide" : ""}`}>
      ${before}
      <div class=${`view-head ${hidden ? "unseen" : ""}`}>
        <h1 tabindex="-1" ref=${heading} dir="auto">${title}</h1>
        ${actions && html`<div class="actions">${actions}</div>`}
      </div>
      ${children}
    </div>`;
}
