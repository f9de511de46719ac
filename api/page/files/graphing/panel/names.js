/** Names of an entity: likely other names, and merged ones; merging it with another, and undoing that. */

import { html, useState } from "../../vendor/preact.js";
import { corpusPath, get, post } from "../../core/api.js";
import { useAction } from "../../core/resource.js";
import { useSession } from "../../core/session.js";
import { announce } from "../../parts/announce.js";
import { Confirm, Dialog } from "../../parts/dialog.js";
import { EntityBox } from "../entity_box.js";

export function Names({ corpus, details, choose, changed }) {
  const { entity, synonyms, merged } = details;
  const may = useSession().may("write");
  const [other, setOther] = useState(null);
  const [isAsking, setAsking] = useState(false);
  const [undone, setUndone] = useState(null);
  if (!synonyms.length && !merged.length && !may) return null;
  return html`
    <section class="part-of">
      <h3>Names</h3>
      ${synonyms.length > 0 && html`
        <p class="faint">Likely other names of it</p>
        <ul class="chips plain">${synonyms.map((one) => html`<li><button dir="auto" title=${`Likeness of the names: ${one.score.toFixed(2)}`} onClick=${() => choose(one.entity.id, one.entity)}>${one.entity.name} <span class="faint">${one.score.toFixed(2)}</span></button></li>`)}</ul>`}
      ${merged.length > 0 && html`
        <p class="faint">Merged into it</p>
        <ul class="plain merged">${merged.map((one) => html`<li><span dir="auto">${one.name}</span>${may && html` <button class="link" aria-label=${`Undo the merge of ${one.name}`} onClick=${() => setUndone(one)}>Undo</button>`}</li>`)}</ul>`}
      ${may && html`<button class="link" onClick=${() => setAsking(true)}>It is the same as another entity…</button>`}
      ${isAsking && html`<${Choose} corpus=${corpus} entity=${entity} close=${() => setAsking(false)} choose=${(one) => { setAsking(false); setOther(one); }} />`}
      ${other && html`<${Merge} corpus=${corpus} entity=${entity} other=${other} close=${() => setOther(null)} changed=${changed} />`}
      ${undone && html`<${Undo} corpus=${corpus} entity=${entity} merged=${undone} close=${() => setUndone(null)} changed=${changed} />`}
    </section>`;
}

function Choose({ corpus, entity, close, choose }) {
  return html`
    <${Dialog} title="Which entity is it?" close=${close}>
      <p><strong dir="auto">${entity.name}</strong> is another name of:</p>
      <${EntityBox} corpus=${corpus} label="The entity that it is" choose=${choose} />
    <//>`;
}

function Merge({ corpus, entity, other, close, changed }) {
  const { run, busy, error } = useAction(async () => {
    await post(corpusPath(corpus, "entities", entity.id, "merge"), { into: other.id });
    await isRead(corpus, other.id, entity.id, true);
    announce(`${entity.name} is merged into ${other.name}.`);
    close();
    changed(other.id);
  });
  return html`
    <${Confirm} title="Merge two entities" action="Merge them" busy=${busy} error=${error} confirm=${run} close=${close}>
      <p>From then on, searches, answers and the graph take <strong dir="auto">${entity.name}</strong> for <strong dir="auto">${other.name}</strong>. Passages stay as they are. It can be undone here.</p>
    <//>`;
}

function Undo({ corpus, entity, merged, close, changed }) {
  const { run, busy, error } = useAction(async () => {
    const merge = await findMerge(corpus, merged.id);
    if (!merge) throw new Error(`The merge of ${merged.name} is undone already. Load the page again.`);
    await post(corpusPath(corpus, "merges", merge.id, "undo"));
    await isRead(corpus, entity.id, merged.id, false);
    announce(`${merged.name} and ${entity.name} are two entities again.`);
    close();
    changed(entity.id);
  });
  return html`
    <${Confirm} title="Undo a merge" action="Undo the merge" busy=${busy} error=${error} confirm=${run} close=${close}>
      <p><strong dir="auto">${merged.name}</strong> and <strong dir="auto">${entity.name}</strong> are two entities again, as if they had never been merged.</p>
    <//>`;
}

const PAUSE = 400; // milliseconds
const TRIES = 12;

/** Waits until the graph shows a change: processes that answer follow the record by some seconds. */
async function isRead(corpus, id, other, isMerged) {
  for (let i = 0; i < TRIES; i += 1) {
    const { merged } = await get(corpusPath(corpus, "entities", id), { facts: 0, passages: 0 });
    if (merged.some((one) => one.id === other) === isMerged) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** Returns the merge of an entity into another, or null. */
async function findMerge(corpus, id) {
  for (let cursor; ; ) {
    const page = await get(corpusPath(corpus, "merges"), { limit: 200, cursor });
    const found = page.data.find((one) => one.entity.id === id);
    if (found || !page.next_cursor) return found || null;
    cursor = page.next_cursor;
  }
}
