/** The shortest ways from an entity to another, drawn and in words. */

import { html } from "../../vendor/preact.js";
import { corpusPath, get } from "../../core/api.js";
import { useResource } from "../../core/resource.js";
import { plural } from "../../core/text.js";
import { Path } from "../../parts/path.js";
import { Loading, Notice } from "../../parts/states.js";
import { EntityBox } from "../entity_box.js";

export function Ways({ corpus, entity, to, go }) {
  const isAsked = to && to !== entity.id;
  return html`
    <section class="part-of">
      <h3>Ways to another entity</h3>
      <${EntityBox} corpus=${corpus} label=${`Ways from ${entity.name} to`} placeholder="To…" choose=${(other) => go({ to: other.id, at: entity.id })} />
      ${isAsked && html`<${Found} corpus=${corpus} entity=${entity} to=${to} go=${go} />`}
    </section>`;
}

function Found({ corpus, entity, to, go }) {
  const other = useResource([corpus, to], (signal) => get(corpusPath(corpus, "entities", to), { facts: 0, passages: 0 }, signal));
  const found = useResource([corpus, entity.id, to], (signal) => get(corpusPath(corpus, "entities", entity.id, "ways"), { to, limit: 3 }, signal));
  const name = other.value?.entity.name || "the other entity";
  const error = found.error || other.error;
  if (error) return html`<${Notice} error=${error} dismiss=${() => go({ to: "" })} />`;
  if (!found.value || !other.value) return html`<${Loading} what="the ways" />`;
  const { ways, complete } = found.value;
  return html`
    <p aria-live="polite">${ways.length ? `${plural(ways.length, "way")} to ` : "No way of eight edges or fewer leads to "}<strong dir="auto">${name}</strong>. <button class="link" onClick=${() => go({ to: "" })}>Close</button></p>
    ${!complete && html`<p class="faint">There may be others: not all nodes were looked at.</p>`}
    <ol class="ways plain">${ways.map((way, i) => html`<li><${Path} corpus=${corpus} steps=${way.steps} from=${entity.name} label=${`Way ${i + 1} to ${name}`} /></li>`)}</ol>`;
}
