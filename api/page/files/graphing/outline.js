/** The subgraph as a list: each node with its neighbours, which open on request. The way of keys and screen readers. */

import { html, useState } from "../vendor/preact.js";
import { plural } from "../core/text.js";
import { Icon } from "../parts/icons.js";
import { kindOf, saysOf } from "./model.js";

const PAGE = 40; // neighbours that are listed at once

/** @param {{model: any, version: number, chosen: any, choose: (id: string) => void, expand: (id: string) => void}} props */
export function Outline({ model, chosen, choose, expand }) {
  const start = model.nodes.get(model.start);
  return html`
    <nav class="outline" aria-label="The drawn nodes as a list">
      <ul class="plain">
        <${Entry} model=${model} node=${start} edges=${[]} above=${[]} chosen=${chosen} choose=${choose} expand=${expand} isOpenFirst />
      </ul>
    </nav>`;
}

function Entry({ model, node, edges, above, chosen, choose, expand, isOpenFirst = false }) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const [shown, setShown] = useState(PAGE);
  if (!node) return null;
  const others = model.neighbours(node.id).filter((one) => !above.includes(one.node.id));
  const label = `${isOpen ? "Hide" : "Show"} the ${plural(others.length, "other neighbour")} of ${node.label}`;
  return html`
    <li>
      <div class="entry">
        ${others.length > 0
          ? html`<button class="quiet icon-only" aria-expanded=${String(isOpen)} aria-label=${label} onClick=${() => setOpen(!isOpen)}><${Icon} name=${isOpen ? "down" : "right"} /></button>`
          : html`<span class="no-entry"></span>`}
        <div>
          <button class="link" dir="auto" aria-current=${chosen?.id === node.id ? "true" : undefined} onClick=${() => choose(node.id)}>${node.label}</button>${" "}
          <span class="faint">${kindOf(node)}${others.length > 0 && `, ${plural(others.length, "neighbour")}`}</span>
          ${edges.length > 0 && html`<p class="faint" dir="auto">${[...new Set(edges.map(saysOf))].join("; ")}</p>`}
        </div>
      </div>
      ${isOpen && html`
        <ul class="plain">
          ${others.slice(0, shown).map((one) => html`<${Entry} key=${one.node.id} model=${model} node=${one.node} edges=${one.edges} above=${[...above, node.id]} chosen=${chosen} choose=${choose} expand=${expand} />`)}
          ${others.length > shown && html`<li><button class="link" onClick=${() => setShown(shown + PAGE)}>Show ${Math.min(PAGE, others.length - shown)} more of ${others.length}</button></li>`}
          ${node.kind === "entity" && html`<li><button class="link" onClick=${() => expand(node.id)}>Add more neighbours of ${node.label}</button></li>`}
        </ul>`}
    </li>`;
}
