/** A filter of documents: plain conditions, and the same as JSON for those who want more. */

import { html, useId, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { CONDITIONS, needsValue, readConditions, writeConditions } from "../core/conditions.js";
import { Icon } from "./icons.js";

/** What the JSON of a filter may hold. */
export const FILTER_HINT = html`Metadata, <code>$key</code>, <code>$id</code> or <code>$title</code>, with <code>$eq $ne $gt $gte $lt $lte $in $nin $prefix $contains $exists $and $or $not</code>.`;

const NEW = { field: "", condition: "$eq", value: "" };
const ALWAYS = ["$key", "$title"]; // fields that every document has

/**
 * @param {{label: string, jsonLabel: string, value: string, change: (text: string) => void, wrong: string, hint: any,
 *   onBlur?: (event: any) => void, onEnter?: (event: any) => void, reference?: {current: any}}} props `value`: JSON, or
 *   nothing. `wrong`: what is wrong with it. `onEnter`: Enter in the JSON; `reference` gets its element.
 */
export function ConditionsField({ label, jsonLabel, value, change, wrong, hint, onBlur, onEnter, reference }) {
  const id = useId();
  const written = useRef(value); // what these conditions were written as, so that a half-typed one stays
  const [rows, setRows] = useState(() => readConditions(value));
  const latest = useRef(rows); // several keys may be typed before the page is drawn again
  const show = (next) => {
    latest.current = next;
    setRows(next);
  };
  useLayoutEffect(() => { // before the next key: else an older value would replace what was typed after it
    if (value === written.current) return;
    written.current = value;
    show(readConditions(value));
  }, [value]);
  const set = (next) => {
    show(next);
    written.current = writeConditions(next);
    if (written.current !== value) change(written.current);
  };
  const keys = (event) => {
    if (onEnter && event.key === "Enter" && !event.shiftKey) onEnter(event);
  };
  const edit = (at, changes) => set(latest.current.map((row, i) => (i === at ? { ...row, ...changes } : row)));
  return html`
    <fieldset class="conditions">
      <legend>${label}</legend>
      ${rows
        ? html`
          ${rows.length > 0 && html`<ul class="plain condition-rows">${rows.map((row, i) => html`
            <${Row} key=${i} id=${`${id}-${i}`} row=${row} edit=${(changes) => edit(i, changes)} remove=${() => set(latest.current.filter((_, at) => at !== i))} onBlur=${onBlur} />`)}</ul>`}
          <div><button type="button" onClick=${() => set([...latest.current, NEW])}><${Icon} name="add" /> Add a condition</button></div>`
        : html`<p class="hint">This filter is written as JSON.</p>`}
      <datalist id=${`${id}-fields`}>${ALWAYS.map((one) => html`<option value=${one} />`)}</datalist>
      <details class="as-json" open=${!rows || Boolean(wrong) || undefined}>
        <summary>As JSON</summary>
        <label class="unseen" for=${`${id}-json`}>${jsonLabel}</label>
        <textarea id=${`${id}-json`} ref=${reference} rows="2" class="code" spellcheck="false" dir="ltr" placeholder=${'{"year": {"$gte": 1990}}'} value=${value}
          aria-invalid=${wrong ? "true" : undefined} aria-describedby=${`${id}-hint`} onInput=${(event) => change(event.target.value)} onBlur=${onBlur} onKeyDown=${keys} />
        <p class=${wrong ? "hint wrong" : "hint"} id=${`${id}-hint`} role=${wrong ? "alert" : undefined}>${wrong ? html`<strong>${wrong}</strong>` : hint}</p>
      </details>
    </fieldset>`;
}

function Row({ id, row, edit, remove, onBlur }) {
  const list = `${id.slice(0, id.lastIndexOf("-"))}-fields`;
  return html`
    <li class="condition">
      <input type="text" class="condition-field" aria-label="Field" placeholder="year" list=${list} spellcheck="false" autocomplete="off" value=${row.field} onInput=${(event) => edit({ field: event.target.value })} onBlur=${onBlur} />
      <select aria-label="Condition" onChange=${(event) => edit({ condition: event.target.value })}>
        ${CONDITIONS.map(([name, words]) => html`<option value=${name} selected=${name === row.condition}>${words}</option>`)}
      </select>
      ${needsValue(row.condition) && html`<input type="text" class="condition-value" aria-label="Value" placeholder="1990" dir="auto" autocomplete="off" value=${row.value} onInput=${(event) => edit({ value: event.target.value })} onBlur=${onBlur} />`}
      <button type="button" class="quiet icon-only" aria-label="Remove the condition" onClick=${remove}><${Icon} name="close" /></button>
    </li>`;
}
