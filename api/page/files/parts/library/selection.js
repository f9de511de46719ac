/** What can be done with several documents at once. */

import { html, useState } from "../../vendor/preact.js";
import { corpusPath, patch, post } from "../../core/api.js";
import { useAction } from "../../core/resource.js";
import { number, plural } from "../../core/text.js";
import { announce } from "../announce.js";
import { Confirm } from "../dialog.js";
import { Notice } from "../states.js";

const AT_ONCE = 4;
const MOST_KEYS = 1000;

/**
 * @param {{corpus: string, selected: any[], clear: () => void, changed: (jobs: string[]) => void,
 *   removed: (ids: string[]) => void}} props
 */
export function Selection({ corpus, selected, clear, changed, removed }) {
  const [asks, setAsks] = useState(false);
  const [done, setDone] = useState(0);
  const act = useAction(async (method) => {
    setDone(0);
    const jobs = await forEach(selected, method, () => setDone((before) => before + 1));
    clear();
    changed(jobs);
  });
  const deletion = useAction(async () => {
    const jobs = await deleteKeys(corpus, selected.map((one) => one.key));
    setAsks(false);
    removed(selected.map((one) => one.id));
    announce(`${plural(selected.length, "document")} deleted.`);
    clear();
    changed(jobs);
  });
  if (!selected.length) return null;
  const at = (one, ...parts) => corpusPath(corpus, "documents", one.id, ...parts);
  const failed = selected.filter((one) => one.state === "failed" || one.state === "cancelled");
  const retry = async (one) => (failed.includes(one) ? (await post(at(one, "retry"))).job.id : null);
  const enable = (enabled) => async (one) => (one.enabled === enabled ? null : void (await patch(at(one), { enabled })));
  const what = plural(selected.length, "document");
  return html`
    <div class="selection" role="group" aria-label="Selected documents">
      <strong>${what} selected</strong>
      ${act.busy ? html`<span class="faint" role="status">${number(done)} of ${number(selected.length)}…</span>` : html`
        <button onClick=${() => setAsks(true)}>Delete…</button>
        ${failed.length > 0 && html`<button onClick=${() => act.run(retry)}>Retry ${number(failed.length)}</button>`}
        ${selected.some((one) => one.enabled) && html`<button onClick=${() => act.run(enable(false))}>Disable</button>`}
        ${selected.some((one) => !one.enabled) && html`<button onClick=${() => act.run(enable(true))}>Enable</button>`}
        <button class="quiet" onClick=${clear}>Clear</button>`}
      <${Notice} error=${act.error} dismiss=${act.clear} />
      ${asks && html`
        <${Confirm} title=${`Delete ${what}?`} action=${`Delete ${what}`} busy=${deletion.busy} error=${deletion.error} confirm=${deletion.run} close=${() => setAsks(false)}>
          <p>They are invisible at once to every search, question and walk in the graph. Facts and names that only they state go with them. This cannot be undone.</p>
          <ul class="plain names">${selected.slice(0, 8).map((one) => html`<li dir="auto">${one.title || one.key}</li>`)}${selected.length > 8 && html`<li class="faint">and ${number(selected.length - 8)} more</li>`}</ul>
        <//>`}
    </div>`;
}

/** Deletes all documents that match a metadata filter. */
export function DeleteMatching({ corpus, where, changed }) {
  const [asks, setAsks] = useState(false);
  const deletion = useAction(async () => {
    const { job } = await post(corpusPath(corpus, "documents", "delete"), { filter: where });
    setAsks(false);
    changed([job.id]);
  });
  return html`
    <button class="quiet" onClick=${() => setAsks(true)}>Delete all that match…</button>
    ${asks && html`
      <${Confirm} title="Delete all documents that match?" action="Delete them" busy=${deletion.busy} error=${deletion.error} confirm=${deletion.run} close=${() => setAsks(false)}>
        <p>Every indexed document that matches is deleted, also those that are not loaded into the list yet:</p>
        <pre>${JSON.stringify(where, null, 2)}</pre>
      <//>`}`;
}

async function deleteKeys(corpus, keys) {
  const jobs = [];
  for (let at = 0; at < keys.length; at += MOST_KEYS) {
    jobs.push((await post(corpusPath(corpus, "documents", "delete"), { keys: keys.slice(at, at + MOST_KEYS) })).job.id);
  }
  return jobs;
}

/** Runs a method for each item, some at a time; stops at the first error. Returns what is not null. */
async function forEach(items, method, tell) {
  const results = [];
  const left = [...items];
  const work = async () => {
    while (left.length) {
      const result = await method(left.shift());
      if (result) results.push(result);
      tell();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
