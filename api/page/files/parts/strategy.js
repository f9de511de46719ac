/** The choice of a strategy (a searcher, a reasoner, …) and of its options, made from `GET /v1/strategies`. */

import { html, useId } from "../vendor/preact.js";
import { get } from "../core/api.js";
import { useResource } from "../core/resource.js";

/** Loads the strategies once for all users of the page's parts. */
let known = null;
export function loadStrategies() {
  known ||= get("/v1/strategies").catch((error) => {
    known = null;
    throw error;
  });
  return known;
}

/**
 * @param {{kind: string, label: string, value: {name: string, options: Record<string, any>},
 *   change: (value: {name: string, options: Record<string, any>}) => void}} props `name` empty: the server's default.
 *   `options` has only what differs from the defaults.
 */
export function StrategyPicker({ kind, label, value, change }) {
  const strategies = useResource("strategies", loadStrategies);
  const id = useId();
  const all = (strategies.value?.data || []).filter((one) => one.kind === kind);
  const chosen = all.find((one) => one.name === value.name);
  const properties = Object.entries(chosen?.options.properties || {});
  const setOption = (name, option) => {
    const options = { ...value.options };
    if (option === undefined) delete options[name];
    else options[name] = option;
    change({ ...value, options });
  };
  return html`
    <fieldset class="strategy">
      <legend class="unseen">${label}</legend>
      <div class="field">
        <label for=${id}>${label}</label>
        <select id=${id} value=${value.name} onChange=${(event) => change({ name: event.target.value, options: {} })}>
          <option value="">the server's default</option>
          ${all.map((one) => html`<option value=${one.name} selected=${one.name === value.name}>${one.name}${one.needs_model ? " (needs a model)" : ""}</option>`)}
        </select>
        ${chosen && html`<p class="hint">${chosen.description}${chosen.source && ` ${chosen.source}`}</p>`}
        ${strategies.error && html`<p class="hint">The list of strategies could not be loaded: ${strategies.error.message}</p>`}
      </div>
      ${properties.map(([name, schema]) => html`<${Option} key=${`${value.name}.${name}`} name=${name} schema=${schema} value=${value.options[name]} change=${(option) => setOption(name, option)} />`)}
    </fieldset>`;
}

/** One option by its JSON schema. What is neither a number, a truth value, a choice nor text is written as JSON. */
function Option({ name, schema, value, change }) {
  const id = useId();
  const [type, nullable] = typeOf(schema);
  const byDefault = schema.default === null || schema.default === undefined ? "" : typeof schema.default === "string" ? schema.default : JSON.stringify(schema.default);
  const common = { id, name, "aria-describedby": `${id}-hint` };
  let input;
  if (type.enum || schema.shipped) {
    const choices = type.enum || schema.shipped;
    input = html`<select ...${common} onChange=${(event) => change(event.target.value || undefined)}>
      <option value="">${byDefault || "default"}</option>
      ${choices.filter((one) => one !== schema.default).map((one) => html`<option value=${one} selected=${one === value}>${one}</option>`)}
    </select>`;
  } else if (type.type === "boolean") {
    input = html`<input type="checkbox" ...${common} checked=${value ?? schema.default} onChange=${(event) => change(event.target.checked === schema.default ? undefined : event.target.checked)} />`;
  } else if (type.type === "integer" || type.type === "number") {
    input = html`<input type="number" ...${common} value=${value ?? ""} placeholder=${byDefault || (nullable ? "none" : "")}
      step=${type.type === "integer" ? 1 : "any"} min=${type.minimum ?? type.exclusiveMinimum} max=${type.maximum ?? type.exclusiveMaximum}
      onInput=${(event) => change(event.target.value === "" ? undefined : Number(event.target.value))} />`;
  } else {
    const isText = type.type === "string";
    input = html`<input type="text" ...${common} value=${value === undefined ? "" : isText ? value : JSON.stringify(value)} placeholder=${byDefault}
      onChange=${(event) => change(event.target.value === "" ? undefined : isText ? event.target.value : parse(event.target.value))} />`;
  }
  return html`<div class="field option"><label for=${id}>${name.replaceAll("_", " ")}</label>${input}<p class="hint" id=${`${id}-hint`}>${schema.description || ""}</p></div>`;
}

function typeOf(schema) {
  const alternatives = schema.anyOf || [schema];
  return [alternatives.find((one) => one.type !== "null") || schema, alternatives.some((one) => one.type === "null")];
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text; // the server says what is wrong with it
  }
}
