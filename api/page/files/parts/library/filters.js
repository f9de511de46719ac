/** The filters of the list of documents. They are in the address, so that a list can be sent to somebody. */

import { html, useEffect, useId, useState } from "../../vendor/preact.js";
import { explainFilter } from "../../core/json.js";
import { ConditionsField, FILTER_HINT } from "../conditions.js";

export const STATES = ["indexed", "queued", "loading", "extracting", "writing", "paused", "failed", "cancelled", "deleting"];

/** What the query of an address asks of the list: its parameters, or `error` if the filter is none. */
export function readFilters(query) {
  const [state, key, filter, enabled] = ["state", "key", "filter", "enabled"].map((name) => query.get(name) || "");
  const params = { state, enabled };
  const wrong = explainFilter(filter);
  if (wrong) return { params: null, isSet: true, error: wrong };
  let where = filter.trim() ? JSON.parse(filter) : null;
  if (key.endsWith("*") && key.length > 1) {
    const begins = { $key: { $prefix: key.slice(0, -1) } };
    where = where ? { $and: [begins, where] } : begins;
  } else if (key && key !== "*") {
    params.key = key;
  }
  if (where) params.filter = JSON.stringify(where);
  return { params, where, isSet: Boolean(state || (key && key !== "*") || filter || enabled), error: null };
}

export function Filters({ query, change, error }) {
  const id = useId();
  const [key, setKey] = useState(query.get("key") || "");
  const [filter, setFilter] = useState(query.get("filter") || "");
  useEffect(() => setKey(query.get("key") || ""), [query.get("key")]);
  useEffect(() => setFilter(query.get("filter") || ""), [query.get("filter")]);
  const apply = (event) => {
    event.preventDefault();
    change({ key: key.trim(), filter: filter.trim() });
  };
  const shown = query.get("enabled") === "false" ? "disabled" : query.get("state") || "";
  const pick = (event) => {
    const { value } = event.target;
    change(value === "disabled" ? { state: "", enabled: "false" } : { state: value, enabled: "" });
  };
  return html`
    <form class="filters" role="search" aria-label="Documents" onSubmit=${apply}>
      <div class="field"><label for=${`${id}-state`}>State</label>
        <select id=${`${id}-state`} value=${shown} onChange=${pick}>
          <option value="">all</option>
          ${STATES.map((state) => html`<option value=${state} selected=${state === shown}>${state}</option>`)}
          <option value="disabled" selected=${shown === "disabled"}>disabled</option>
        </select></div>
      <div class="field"><label for=${`${id}-key`}>Key</label>
        <input id=${`${id}-key`} type="text" dir="auto" spellcheck="false" autocomplete="off" value=${key} placeholder="notes/*" onInput=${(event) => setKey(event.target.value)} onBlur=${apply} /></div>
      <details class="filters-metadata" open=${Boolean(filter || error) || undefined}>
        <summary>Metadata</summary>
        <${ConditionsField} label="Only documents whose metadata fit" jsonLabel="Metadata as JSON" value=${filter} change=${setFilter} wrong=${error} hint=${FILTER_HINT} onBlur=${apply} onEnter=${apply} />
      </details>
      <button class="unseen" tabindex="-1">Apply</button>
    </form>`;
}
