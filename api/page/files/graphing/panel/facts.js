/** The facts of an entity, those that most passages assert first; each with these passages. */

import { html, useState } from "../../vendor/preact.js";
import { number, plural } from "../../core/text.js";
import { StatedPassage } from "../../parts/stated.js";

const FIRST = 8;
const AT_ONCE = 3; // passages of a fact

export function Facts({ corpus, details, choose }) {
  const [shown, setShown] = useState(FIRST);
  const { facts, fact_count: count, entity } = details;
  return html`
    <section class="part-of">
      <h3>Facts <span class="faint">${count > facts.length ? `${facts.length} of ${number(count)}` : count}</span></h3>
      ${count === 0 && html`<p class="faint">No passage states a fact of it.</p>`}
      <ul class="facts plain">
        ${facts.slice(0, shown).map((fact) => html`<${Fact} key=${`${fact.subject.id} ${fact.predicate} ${fact.object.id}`} corpus=${corpus} fact=${fact} entity=${entity} choose=${choose} />`)}
      </ul>
      ${facts.length > shown && html`<button class="link" onClick=${() => setShown(facts.length)}>Show ${plural(facts.length - shown, "more fact")}</button>`}
    </section>`;
}

function Fact({ corpus, fact, entity, choose }) {
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState(AT_ONCE);
  const { subject, predicate, object, chunk_ids: ids } = fact;
  const end = (one) => (one.id === entity.id ? html`<strong dir="auto">${one.name}</strong>` : html`<button class="link" dir="auto" onClick=${() => choose(one.id, one)}>${one.name}</button>`);
  return html`
    <li>
      <p>${end(subject)} <em dir="auto">${predicate}</em> ${end(object)}${" "}
        <button class="link stating" aria-expanded=${String(isOpen)} aria-label=${`${isOpen ? "Hide" : "Show"} ${plural(ids.length, "passage")} that ${ids.length === 1 ? "states" : "state"} it`} onClick=${() => setOpen(!isOpen)}>${plural(ids.length, "passage")}</button></p>
      ${isOpen && html`
        <div class="stack part">
          ${ids.slice(0, shown).map((id) => html`<${StatedPassage} key=${id} corpus=${corpus} id=${id} words=${[subject.name, object.name]} />`)}
          ${ids.length > shown && html`<button class="link" onClick=${() => setShown(shown + 10)}>Show ${plural(Math.min(10, ids.length - shown), "more passage")}</button>`}
        </div>`}
    </li>`;
}
