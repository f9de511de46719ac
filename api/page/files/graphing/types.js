/** The types of the drawn entities: their colours, and which one is shown alone. */

import { html } from "../vendor/preact.js";
import { announce } from "../parts/announce.js";

/** @param {{model: any, only: string, show: (type: string) => void}} props `only`: the type that is shown alone; "": all. */
export function Types({ model, only, show }) {
  const found = model.countTypes();
  if (only && !found.has(only)) found.set(only, 0);
  if (!found.size) return null;
  const toggle = (type) => {
    show(type === only ? "" : type);
    announce(type === only ? "Entities of all types are shown." : `Only entities of the type ${type} are shown.`);
  };
  return html`
    <div class="chips types" role="group" aria-label="Only entities of a type">
      ${[...found].map(([type, count]) => html`
        <button key=${type} aria-pressed=${String(type === only)} onClick=${() => toggle(type)}><i class=${`mark entity ${type}`} style=${{ color: model.colourOf(type) }}></i> ${type} <span class="faint">${count}</span></button>`)}
    </div>`;
}
