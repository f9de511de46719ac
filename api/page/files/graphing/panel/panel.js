/** What is known of the chosen node: of an entity its facts, names, passages and ways; of a passage its text. */

import { html } from "../../vendor/preact.js";
import { address, corpusPath, get } from "../../core/api.js";
import { useResource } from "../../core/resource.js";
import { Link, viewOf } from "../../core/router.js";
import { number, plural } from "../../core/text.js";
import { Icon } from "../../parts/icons.js";
import { Passage } from "../../parts/passage.js";
import { Failed, Loading } from "../../parts/states.js";
import { StatedPassage } from "../../parts/stated.js";
import { spansOf } from "../../core/text.js";
import { Facts } from "./facts.js";
import { Names } from "./names.js";
import { Ways } from "./ways.js";

/** @param {{corpus: string, node: any, model: any, round: number, choose: (id: string, known?: any) => void,
 *   open: (id: string) => void, go: (changes: any) => void, to: string, changed: (id: string) => void}} props `round` changes
 *   when the entities of the corpus have. */
export function Panel(props) {
  return props.node.kind === "passage" ? html`<${PassagePanel} ...${props} />` : html`<${EntityPanel} key=${props.node.id} ...${props} />`;
}

function PassagePanel({ corpus, node, model, choose }) {
  const entities = model.neighbours(node.id).filter((one) => one.node.kind === "entity").map((one) => one.node);
  return html`
    <section class="panel card stack" aria-label="The chosen passage">
      <p class="faint">Passage</p>
      <${StatedPassage} key=${node.id} corpus=${corpus} id=${node.id} words=${entities.map((one) => one.label)} />
      ${entities.length > 0 && html`
        <h3>It mentions, of what is drawn</h3>
        <ul class="chips plain">${entities.map((one) => html`<li><button onClick=${() => choose(one.id)} dir="auto">${one.label}</button></li>`)}</ul>`}
    </section>`;
}

function EntityPanel({ corpus, node, model, round, choose, open, go, to, changed }) {
  const found = useResource([corpus, node.id, round], (signal) => get(corpusPath(corpus, "entities", node.id), { facts: 50, passages: 10 }, signal));
  const { value } = found;
  const name = value?.entity.name || node.label;
  return html`
    <section class="panel card stack" aria-label="The chosen entity">
      <header class="stack">
        <h2 dir="auto">${name}</h2>
        <p class="faint">${node.type ? `Entity of the type ${node.type}` : "Entity"} in ${plural(value?.entity.passages ?? node.passages, "passage")}, ${plural(model.neighbours(node.id).length, "neighbour")} drawn</p>
        <div class="row">
          <button onClick=${() => open(node.id)}><${Icon} name="add" /> Add its neighbours</button>
          ${node.id !== model.start && html`<button onClick=${() => go({ entity: node.id, at: "", more: "" })}><${Icon} name="graph" /> Start from here</button>`}
          <${Link} class="button" to=${address(viewOf(corpus, "search"), { q: name })}><${Icon} name="search" /> Search<//>
        </div>
      </header>
      ${found.error && html`<${Failed} error=${found.error} retry=${found.reload} />`}
      ${!value && !found.error && html`<${Loading} what="the entity" />`}
      ${value && html`
        <${Facts} corpus=${corpus} details=${value} choose=${choose} />
        <${Names} corpus=${corpus} details=${value} choose=${choose} changed=${changed} />
        <${Ways} corpus=${corpus} entity=${value.entity} to=${to} go=${go} />
        <${Passages} corpus=${corpus} details=${value} />`}
    </section>`;
}

function Passages({ corpus, details }) {
  const { entity, passages } = details;
  if (!passages.length) return null;
  return html`
    <details>
      <summary><h3>Passages</h3> <span class="faint">${passages.length < entity.passages ? `${passages.length} of ${number(entity.passages)}` : passages.length}</span></summary>
      <div class="stack part">
        ${passages.map(({ chunk, document }) => html`<${Passage} key=${chunk.id} corpus=${corpus} document=${document} chunk=${chunk} spans=${spansOf(chunk.text, [entity.name])} />`)}
        ${passages.length < entity.passages && html`<p><${Link} to=${address(viewOf(corpus, "search"), { q: entity.name, k: 50 })}>Search for the others<//></p>`}
      </div>
    </details>`;
}
