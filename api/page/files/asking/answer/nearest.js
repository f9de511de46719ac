/** Passages beside an answer: its sources; the nearest ones of a question that is declined; what is found meanwhile. */

import { html } from "../../vendor/preact.js";
import { pageName, readable } from "../../core/text.js";
import { Icon } from "../../parts/icons.js";
import { Sources, pathOf } from "./sources.js";

const MOST = 5;

/**
 * What is shown beside an answer: its sources; of a declined one the passages that are nearest to the question.
 *
 * @param {{answer: any, active: number | null, point: any, open: (cited: any) => void, verdicts: any[]}} props
 */
export function PassagesOf({ answer, active, point, open, verdicts }) {
  const title = answer.abstained ? "Nearest passages" : "Sources";
  if (!hasPassages(answer)) return null;
  return html`
    <h3>${title}</h3>
    ${answer.citations.length
      ? html`<${Sources} citations=${answer.citations} active=${active} point=${point} open=${open} verdicts=${verdicts} />`
      : html`<ol class="plain sources">${nearestOf(answer).map((hit) => html`<${Nearest} key=${hit.url || hit.chunk.id} hit=${hit} open=${open} />`)}</ol>`}`;
}

/** True for an answer that has sources, or nearest passages. */
export const hasPassages = (answer) => answer.citations.length > 0 || nearestOf(answer).length > 0;

/** The first passages of the steps of a declined answer, each once; passages that were deleted since are left out. */
function nearestOf(answer) {
  if (!answer.abstained) return [];
  const found = new Map();
  for (const hit of answer.steps.flatMap((step) => step.hits)) {
    if (hit.chunk.text && !found.has(hit.url || hit.chunk.id)) found.set(hit.url || hit.chunk.id, hit);
  }
  return [...found.values()].slice(0, MOST);
}

/** The first passages of a question that runs, by the names of their documents: its events have no texts. */
export function FoundSoFar({ hits, open }) {
  if (!hits.length) return null;
  return html`
    <h3>Found so far</h3>
    <ol class="plain sources">
      ${hits.slice(0, MOST).map(({ chunk_id, url, document }) => html`
        <li class="answer-source" key=${chunk_id || url}>
          <div>
            <button class="source-title" onClick=${() => open({ chunk_id, url, document, page: null, quote: "", source_span: null })}><span dir="auto">${document.title || document.key}</span></button>
            ${pathOf(document) && html` <span class="faint" dir="auto">${pathOf(document)}</span>`}
          </div>
        </li>`)}
    </ol>`;
}

function Nearest({ hit, open }) {
  const { chunk, document, url, page_label } = hit;
  const cited = { chunk_id: chunk.id, url, corpus: hit.corpus, document, page: chunk.page, page_label, quote: url ? chunk.text : "", source_span: null };
  return html`
    <li class="answer-source">
      <div>
        <button class="source-title" onClick=${() => open(cited)}><span dir="auto">${document.title || document.key}</span></button>
        ${pathOf(document) && html` <span class="faint" dir="auto">${pathOf(document)}</span>`}
        ${chunk.page !== null && html` <span class="faint">${pageName(chunk.page, page_label)}</span>`}
        ${hit.part_of && html` <span class="faint" dir="auto">${hit.part_of}</span>`}
        ${url && html` <span class="tag"><${Icon} name="link" />web</span>`}
        <p class="source-quote nearest-text" dir="auto">${readable(chunk)}</p>
      </div>
    </li>`;
}
