/** The form of a search: the question, and what is rarely changed behind "Options". */

import { html, useEffect, useId, useRef, useState } from "../vendor/preact.js";
import { explainFilter } from "../core/json.js";
import { ConditionsField, FILTER_HINT } from "../parts/conditions.js";
import { Icon } from "../parts/icons.js";
import { Notice } from "../parts/states.js";
import { StrategyPicker } from "../parts/strategy.js";
import { nameOf } from "./address.js";

/** @param {{asked: import("./address.js").Asked, search: (asked: any) => void, error: any}} props */
export function SearchForm({ asked, search, error }) {
  const [draft, setDraft] = useState(asked);
  const [wrong, setWrong] = useState("");
  const [isOpen, setOpen] = useState(() => Boolean(explainFilter(asked.filter)));
  const filter = useRef(null);
  const id = useId();
  const key = JSON.stringify(asked);
  useEffect(() => {
    setDraft(asked);
    setWrong(explainFilter(asked.filter));
  }, [key]);
  useEffect(() => {
    if (error) setOpen(true);
  }, [error]);
  const set = (changes) => setDraft((before) => ({ ...before, ...changes }));
  const submit = (event) => {
    event.preventDefault();
    const told = explainFilter(draft.filter);
    setWrong(told);
    if (!told) return search(draft);
    setOpen(true);
    return setTimeout(() => filter.current?.focus());
  };
  return html`
    <form class="stack search-form" role="search" onSubmit=${submit}>
      <div class="row">
        <label class="unseen" for=${`${id}-q`}>Question or words</label>
        <input id=${`${id}-q`} class="grow" type="search" dir="auto" placeholder="A question, or words" autocomplete="off" value=${draft.q} onInput=${(event) => set({ q: event.target.value })} />
        <button class="primary" disabled=${!draft.q.trim()}><${Icon} name="search" /> Search</button>
      </div>
      <${Notice} error=${error} />
      <details class="options" open=${isOpen} onToggle=${(event) => setOpen(event.target.open)}>
        <summary><${Icon} name="settings" /> Options <span class="faint">${summaryOf(draft)}</span></summary>
        <div class="stack">
          <${Searchers} draft=${draft} set=${set} />
          <${Numbers} draft=${draft} set=${set} id=${id} />
          <${ConditionsField} label="Only documents whose metadata fit" jsonLabel="Filter of documents as JSON" value=${draft.filter} change=${(text) => set({ filter: text })} wrong=${wrong} hint=${FILTER_HINT}
            reference=${filter} onBlur=${() => setWrong(explainFilter(draft.filter))} />
          <${Choices} draft=${draft} set=${set} />
        </div>
      </details>
    </form>`;
}

function Searchers({ draft, set }) {
  const compared = draft.other !== null;
  return html`
    <div class=${compared ? "split even" : ""}>
      <${StrategyPicker} kind="searcher" label=${compared ? "First searcher" : "Searcher"} value=${draft.searcher} change=${(searcher) => set({ searcher })} />
      ${compared && html`<${StrategyPicker} kind="searcher" label="Second searcher" value=${draft.other} change=${(other) => set({ other })} />`}
    </div>
    <label class="choice">
      <input type="checkbox" checked=${compared} onChange=${(event) => set({ other: event.target.checked ? { name: draft.searcher.name === "dense" ? "bridged" : "dense", options: {} } : null })} />
      <span>Compare with a second searcher <span class="faint">what each of them finds, side by side</span></span>
    </label>`;
}

function Numbers({ draft, set, id }) {
  return html`
    <div class="numbers">
      <div class="field"><label for=${`${id}-k`}>Hits</label>
        <input id=${`${id}-k`} type="number" min="1" max="1000" step="1" placeholder="5" value=${draft.k} onInput=${(event) => set({ k: event.target.value })} />
        <p class="hint">1 to 1,000; 5 if nothing is set.</p></div>
      <div class="field"><label for=${`${id}-min`}>Least similarity</label>
        <input id=${`${id}-min`} type="number" min="-1" max="1" step="any" placeholder="none" value=${draft.min} onInput=${(event) => set({ min: event.target.value })} />
        <p class="hint">The cosine that a hit has at least.</p></div>
      <div class="field"><label for=${`${id}-as-of`}>In force on</label>
        <input id=${`${id}-as-of`} type="date" value=${draft.asOf} onInput=${(event) => set({ asOf: event.target.value })} />
        <p class="hint">Only documents that are in force on this day; today if nothing is set.</p></div>
      <div class="field"><label for=${`${id}-context`}>Passages around a hit</label>
        <select id=${`${id}-context`} value=${draft.context || "0"} onChange=${(event) => set({ context: event.target.value })}>
          ${["0", "1", "2", "3", "4", "5"].map((one) => html`<option value=${one} selected=${one === (draft.context || "0")}>${one === "0" ? "none" : `${one} before and after`}</option>`)}
        </select>
        <p class="hint">Its neighbours in the document.</p></div>
    </div>`;
}

const CHOICES = [
  ["grouped", "One hit for each document", "its best passage, and the places of the others"],
  ["features", "What each feature adds to the score", "of the searcher bridged"],
  ["web", "The web may be asked", "the searcher web sends the question to a search engine"],
];

function Choices({ draft, set }) {
  return html`
    <div class="choices">
      ${CHOICES.map(([name, label, hint]) => html`
        <label class="choice"><input type="checkbox" checked=${draft[name]} onChange=${(event) => set({ [name]: event.target.checked })} /><span>${label} <span class="faint">${hint}</span></span></label>`)}
    </div>`;
}

/** What differs from the defaults, in words. */
function summaryOf(draft) {
  const said = [draft.other ? `${nameOf(draft.searcher)} and ${nameOf(draft.other)}` : draft.searcher.name];
  if (draft.k) said.push(`${draft.k} hits`);
  if (draft.min) said.push(`similarity from ${draft.min}`);
  if (draft.filter.trim()) said.push("filtered");
  if (draft.asOf) said.push(`in force on ${draft.asOf}`);
  if (draft.context && draft.context !== "0") said.push(`${draft.context} around`);
  if (draft.grouped) said.push("by document");
  if (draft.features) said.push("features");
  if (draft.web) said.push("with the web");
  return said.filter(Boolean).join(" · ");
}
