/** A step, opened: its question and answer, what it stands on, its reviews, and its passages with the quotes marked. */

import { html, useState } from "../../vendor/preact.js";
import { useResource } from "../../core/resource.js";
import { plural, toSentenceEnd } from "../../core/text.js";
import { Passage } from "../../parts/passage.js";
import { Loading, Notice } from "../../parts/states.js";
import { readPassage } from "../source.js";
import { namesOfSteps } from "../steps.js";
import { StepState, factsOf } from "./plan.js";

const AT_FIRST = 5;

/** @param {{corpus: string, step: any, steps: any[], running: boolean, open: (cited: any) => void}} props `steps`: of the plan. */
export function StepDetails({ corpus, step, steps, running, open }) {
  return html`
    <div class="stack">
      <p dir="auto" class="step-question">${step.question}</p>
      ${step.answer && html`<p dir="auto" class="step-answer"><strong>${step.answer}</strong></p>`}
      <p class="row"><${StepState} step=${step} running=${running} /><span class="faint">${[...factsOf(step), step.verdict && `verdict: ${step.verdict}`].filter(Boolean).join(" · ")}</span></p>
      ${step.unstated && html`<p class="faint">Not stated by any passage: <span dir="auto">${step.unstated}</span></p>`}
      ${step.parents.length > 0 && html`<p class="faint">It used ${step.parents.length > 1 ? "the answers" : "the answer"} of ${namesOfSteps(step.parents, steps)}.</p>`}
      <${Reviews} reviews=${step.reviews} />
      <${Searches} searches=${step.searches} />
      <${Passages} corpus=${corpus} step=${step} open=${open} />
    </div>`;
}

function Reviews({ reviews }) {
  if (!reviews.length) return null;
  return html`<div><h3>Reviews</h3><ul>${reviews.map((one) => html`<li><strong>${one.verdict}</strong> <span dir="auto">${one.text}</span></li>`)}</ul></div>`;
}

function Searches({ searches }) {
  if (!searches.length) return null;
  return html`<div><h3>Searches</h3><ul>${searches.map((one) => html`<li><span dir="auto">“${one.query}”</span> <span class="faint">${one.searcher}, ${plural(one.hits.length, "passage")}</span></li>`)}</ul></div>`;
}

/** The passages that bear the answer first. While the question runs, the texts of the others are not known yet. */
function Passages({ corpus, step, open }) {
  const [all, setAll] = useState(false);
  const found = passagesOf(step);
  if (!found.length) return html`<p class="faint">No passages yet.</p>`;
  const shown = all ? found : found.slice(0, AT_FIRST);
  return html`
    <div class="stack"><h3>Passages</h3>
      ${shown.map((one) => html`<${StepPassage} key=${one.id} corpus=${corpus} found=${one} open=${open} />`)}
      ${found.length > shown.length && html`<div><button onClick=${() => setAll(true)}>Show all ${found.length}</button></div>`}
    </div>`;
}

function passagesOf(step) {
  const found = new Map();
  const add = (id, more) => found.set(id, { id, spans: [], ...found.get(id), ...more });
  for (const quote of step.quotes) {
    const id = quote.url || quote.chunk_id;
    add(id, { url: quote.url, corpus: quote.corpus, document: quote.document, quote: quote.quote, spans: [...(found.get(id)?.spans || []), quote.source_span] });
  }
  for (const hit of step.hits) add(hit.url || hit.chunk.id, { url: hit.url, corpus: hit.corpus, document: hit.document, chunk: hit.chunk, page_label: hit.page_label });
  for (const search of step.searches) for (const hit of search.hits) {
    const id = hit.url || hit.chunk_id;
    if (!found.has(id)) add(id, { url: hit.url, document: hit.document });
  }
  return [...found.values()];
}

function StepPassage({ corpus, found, open }) {
  const isKnown = Boolean(found.chunk) || Boolean(found.url);
  const read = useResource(isKnown ? null : ["passage", corpus, found.id], (signal) => readPassage(corpus, found.id, signal));
  const chunk = found.chunk || read.value;
  if (found.url && !found.chunk) return html`<p><a href=${found.url} rel="noopener noreferrer nofollow" target="_blank" dir="auto">${found.document.title || found.url}</a></p>`;
  if (read.error) return html`<${Notice} error=${read.error} />`;
  if (!chunk) return html`<${Loading} what="the passage" />`;
  const document = { id: read.value?.document_id, ...found.document };
  const target = { chunk_id: found.id, url: found.url, document, page: chunk.page, page_label: found.page_label, quote: found.quote || "", source_span: found.spans[0] || null };
  return html`
    <${Passage} corpus=${found.corpus || corpus} document=${document} chunk=${chunk} spans=${toSentenceEnd(chunk.text, found.spans)} quote=${found.quote}>
      <div><button class="quiet" onClick=${() => open(target)}>Open<span class="unseen"> the passage of ${document.title || document.key}</span></button></div>
    <//>`;
}
