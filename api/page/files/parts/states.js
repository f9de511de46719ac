/** What a view shows while it has nothing else to show: loading, empty, failed, refused, missing. */

import { html, useEffect, useState } from "../vendor/preact.js";
import { Link } from "../core/router.js";
import { Icon } from "./icons.js";

const TITLES = {
  0: "No answer from the server",
  401: "A key is needed",
  403: "This key may not do that",
  404: "Not found",
  409: "That is in the way",
  413: "That is too large",
  422: "Something in the request is wrong",
  429: "Too much at once",
  502: "The language model failed",
  503: "A part of the server is down",
  504: "That took too long",
};

/** Says what is loaded, after a moment, so that quick responses do not flicker. */
export function Loading({ what }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return html`<div class="state" role="status">${shown && html`<span class="spinner" aria-hidden="true"></span> Loading ${what}…`}</div>`;
}

/** There is nothing yet: says what would be here, and offers the next step as its children. */
export function Empty({ title, text, icon = "documents", children }) {
  return html`<section class="state empty"><${Icon} name=${icon} /><h2>${title}</h2>${text && html`<p>${text}</p>`}${children}</section>`;
}

export function Missing({ title, text }) {
  return html`<section class="state empty"><${Icon} name="warning" /><h1>${title}</h1><p>${text}</p><p><${Link} to="/">To the corpora<//></p></section>`;
}

/** A view that could not be loaded. */
export function Failed({ error, retry }) {
  const refused = error.status === 401 || error.status === 403;
  return html`
    <section class=${`state failed ${refused ? "refused" : ""}`} role="alert">
      <${Icon} name="warning" />
      <h2>${titleOf(error)}</h2>
      <p>${error.message}</p>
      ${error.requestId && html`<p class="faint">Request ${error.requestId}</p>`}
      ${retry && !refused && html`<button onClick=${retry}><${Icon} name="again" /> Try again</button>`}
    </section>`;
}

/** An action that failed, beside what was tried. */
export function Notice({ error, dismiss }) {
  if (!error) return null;
  return html`
    <div class="notice failed" role="alert">
      <${Icon} name="warning" />
      <div>
        <strong>${titleOf(error)}.</strong> ${error.message}
        ${error.retryAfter && html` Try again in ${Math.ceil(error.retryAfter)} s.`}
        ${error.errors?.length > 0 && html`<ul>${error.errors.map((one) => html`<li><code>${one.field}</code> ${one.message}</li>`)}</ul>`}
      </div>
      ${dismiss && html`<button class="quiet icon-only" aria-label="Dismiss" onClick=${dismiss}><${Icon} name="close" /></button>`}
    </div>`;
}

function titleOf(error) {
  return TITLES[error.status] || error.title || "Something went wrong";
}
