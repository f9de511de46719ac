/** What was chosen (a passage, a step), beside the view where there is room, and in a dialog where there is not. */

import { html, useEffect, useId, useRef, useState } from "../vendor/preact.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icons.js";

const WIDE = "(min-width: 68rem)";

/** True where the inspector stands beside the view. */
export function useIsWide() {
  const [wide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const change = () => setWide(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return wide;
}

/** `of` names what is shown: when it changes, the heading gets the focus. `close` gives it back. */
export function Inspector({ title, of, close, children }) {
  const wide = useIsWide();
  if (!wide) return html`<${Dialog} title=${title} close=${close}>${children}<//>`;
  return html`<${Beside} key=${of} title=${title} close=${close}>${children}<//>`;
}

function Beside({ title, close, children }) {
  const id = useId();
  const heading = useRef(null);
  useEffect(() => {
    heading.current.focus({ preventScroll: true });
  }, []);
  const keys = (event) => {
    if (event.key === "Escape") close();
  };
  return html`
    <section class="card inspector-card" aria-labelledby=${id} onKeyDown=${keys}>
      <header><h2 id=${id} tabindex="-1" ref=${heading}>${title}</h2>
        <button class="quiet icon-only" aria-label="Close" onClick=${close}><${Icon} name="close" /></button></header>
      ${children}
    </section>`;
}
