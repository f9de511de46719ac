/** What files would cost: told at once for few of them, else when the reader asks. */

import { html, useEffect, useState } from "../../vendor/preact.js";
import { corpusPath, post } from "../../core/api.js";
import { useAction } from "../../core/resource.js";
import { number, plural, seconds } from "../../core/text.js";
import { formOf, makeBatches } from "../../core/uploads.js";
import { Notice } from "../states.js";

const SMALL_FILES = 50;
const SMALL_BYTES = 5_000_000;
const MOST_NOTES = 5;

export function Estimate({ corpus, picked, size }) {
  const [result, setResult] = useState(null);
  const names = picked.map((one) => one.key).join("\n");
  const { run, busy, error } = useAction(async () => {
    const parts = [];
    for (const batch of makeBatches(picked)) parts.push(await post(corpusPath(corpus, "estimates"), formOf(batch.files)));
    setResult(join(parts));
  });
  useEffect(() => {
    setResult(null);
    if (picked.length && picked.length <= SMALL_FILES && size <= SMALL_BYTES) run();
  }, [names]);
  if (busy) return html`<p class="faint" role="status"><span class="spinner" aria-hidden="true"></span> Estimating…</p>`;
  if (error?.errors?.length && error.status === 422) return html`<${Rejected} title="None of these files can be read" rejected=${error.errors.map((one) => ({ source: one.field, reason: one.message }))} />`;
  if (error) return html`<${Notice} error=${error} />`;
  if (!result) return picked.length > 0 && html`<div><button onClick=${run}>Estimate the cost</button> <span class="hint">It reads all files once, and writes nothing.</span></div>`;
  return html`
    <div class="stack estimate" role="status">
      <p>${told(result)}</p>
      ${result.rejected.length > 0 && html`<${Rejected} title=${`${plural(result.rejected.length, "file")} cannot be read`} rejected=${result.rejected} />`}
      ${result.notes.slice(0, MOST_NOTES).map(({ key, note }) => html`<p class="notice fair"><span><strong dir="auto">${key}</strong>: <span dir="auto">${note}</span></span></p>`)}
      ${result.notes.length > MOST_NOTES && html`<p class="faint">and ${plural(result.notes.length - MOST_NOTES, "more note")}</p>`}
      ${result.model && html`<details><summary>What that assumes</summary><ul>${result.model.assumptions.map((one) => html`<li>${one}</li>`)}</ul></details>`}
    </div>`;
}

function told({ documents, unchanged, chunks, tokens, model }) {
  const changed = documents - unchanged;
  const parts = [changed ? `${plural(changed, "document")} to index, ${plural(chunks, "passage")}, ${number(tokens)} tokens to embed` : "Nothing to index"];
  if (unchanged) parts.push(`${number(unchanged)} unchanged`);
  parts.push(model ? `the language model: ${plural(model.calls, "call")}, ${number(model.prompt_tokens + model.completion_tokens)} tokens, about ${seconds(model.seconds)}` : "no calls of a language model");
  return `${parts.join("; ")}.`;
}

function join(parts) {
  const sum = (name) => parts.reduce((total, one) => total + one[name], 0);
  const models = parts.map((one) => one.model).filter(Boolean);
  const modelSum = (name) => models.reduce((total, one) => total + one[name], 0);
  return {
    documents: sum("documents"), unchanged: sum("unchanged"), chunks: sum("chunks"), tokens: sum("tokens"),
    rejected: parts.flatMap((one) => one.rejected),
    notes: parts.flatMap((one) => one.notes),
    model: models.length ? { calls: modelSum("calls"), prompt_tokens: modelSum("prompt_tokens"), completion_tokens: modelSum("completion_tokens"), seconds: modelSum("seconds"), assumptions: models[0].assumptions } : null,
  };
}

/** Files that the server refuses, each with its reason. */
export function Rejected({ title, rejected }) {
  return html`
    <details class="notice-like" open=${rejected.length <= 5}>
      <summary>${title}</summary>
      <dl class="reasons">${rejected.slice(0, 200).map(({ source, reason }) => html`<div><dt dir="auto">${source}</dt><dd dir="auto">${reason}</dd></div>`)}</dl>
      ${rejected.length > 200 && html`<p class="faint">and ${number(rejected.length - 200)} more</p>`}
    </details>`;
}
