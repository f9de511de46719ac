/** The settings of a question, in a part that is closed until it is wanted. */

import { html, useId } from "../../vendor/preact.js";
import { useSession } from "../../core/session.js";
import { Icon } from "../../parts/icons.js";
import { ConditionsField, FILTER_HINT } from "../../parts/conditions.js";
import { StrategyPicker } from "../../parts/strategy.js";
import { UNSUPPORTED, describe } from "./settings.js";

/** @param {{settings: import("./settings.js").Settings, change: (changes: any) => void, wrong: Record<string, string>}} props */
export function SettingsForm({ settings, change, wrong }) {
  const session = useSession();
  const said = describe(settings);
  const field = (name, label, hint, more) => html`<${Field} name=${name} label=${label} hint=${hint} wrong=${wrong[name]} value=${settings[name]} change=${change} ...${more} />`;
  return html`
    <details class="ask-settings" open=${Object.keys(wrong).length > 0 || undefined}>
      <summary><${Icon} name="settings" /><span>Settings</span>
        <span class="faint" dir="auto">${said.length ? said.join(" · ") : "the server's defaults"}</span></summary>
      <div class="stack ask-settings-body">
        <${StrategyPicker} kind="reasoner" label="Reasoner" value=${settings.reasoner} change=${(reasoner) => change({ reasoner })} />
        <${StrategyPicker} kind="searcher" label="Searcher" value=${settings.searcher} change=${(searcher) => change({ searcher })} />
        <div class="ask-fields">
          ${field("k", "Passages per retrieval", "Empty: the reasoner's own number.", { type: "number", min: 1, max: 1000 })}
          <${Choice} settings=${settings} change=${change} />
          ${field("as_of", "In force on", "Only documents that are in force on this day. Empty: today.", { type: "date" })}
          ${field("calls", "At most, calls of models", "Empty: the server's limit.", { type: "number", min: 1 })}
          ${field("tokens", "At most, tokens", "Prompt and completion together.", { type: "number", min: 1 })}
          ${field("seconds", "At most, seconds", "Then the answer is made from what is known.", { type: "number", min: 1, step: "any" })}
        </div>
        <${ConditionsField} label="Only documents whose metadata fit" jsonLabel="Filter as JSON" value=${settings.filter} change=${(filter) => change({ filter })} wrong=${wrong.filter} hint=${FILTER_HINT} />
        ${field("instructions", "Instructions", "How the answer is to be written, such as “in one sentence, in German”.", { isLong: true })}
        ${session.web && html`<label class="row"><input type="checkbox" checked=${settings.web} onChange=${(event) => change({ web: event.target.checked })} /> The web may be searched for this question</label>`}
        ${said.length > 0 && html`<div><button type="button" onClick=${() => change(null)}>Back to the defaults</button></div>`}
      </div>
    </details>`;
}

function Field({ name, label, hint, wrong, value, change, isLong, type = "text", ...rest }) {
  const id = useId();
  const common = {
    id, value, dir: "auto", "aria-describedby": `${id}-hint`,
    "aria-invalid": wrong ? "true" : undefined,
    onInput: (event) => change({ [name]: event.target.value }),
  };
  return html`
    <div class=${`field ${wrong ? "wrong" : ""}`}>
      <label for=${id}>${label}</label>
      ${isLong ? html`<textarea rows="2" ...${common}></textarea>` : html`<input type=${type} ...${common} ...${rest} />`}
      <p class="hint" id=${`${id}-hint`}>${wrong ? html`<strong>${wrong}</strong>` : hint}</p>
    </div>`;
}

function Choice({ settings, change }) {
  const id = useId();
  return html`
    <div class="field">
      <label for=${id}>Where no passage states the answer</label>
      <select id=${id} onChange=${(event) => change({ unsupported: event.target.value })}>
        <option value="" selected=${settings.unsupported === ""}>the server's default</option>
        ${Object.entries(UNSUPPORTED).map(([name, words]) => html`<option value=${name} selected=${settings.unsupported === name}>${words}</option>`)}
      </select>
    </div>`;
}
