/** One hit: what was found and where, its signals, why it is there, and the whole passage on request. */

import { html, useState } from "../vendor/preact.js";
import { corpusPath, address, get } from "../core/api.js";
import { useResource } from "../core/resource.js";
import { Link, viewOf } from "../core/router.js";
import { joinLines, pageName } from "../core/text.js";
import { Icon } from "../parts/icons.js";
import { Marked, passageAddress } from "../parts/passage.js";
import { Path } from "../parts/path.js";
import { Loading, Notice } from "../parts/states.js";
import { PassageText } from "../parts/tables.js";
import { Contributions, Signals } from "./signals.js";

/**
 * @param {{corpus: string, hit: any, rank: number, scale: Record<string, number>, id: string, standing?: any}} props
 *   `standing`: what is said of the hit beside its rank, such as its rank with another searcher.
 */
export function Hit({ corpus, hit, rank, scale, id, standing }) {
  const { chunk, document, snippet } = hit;
  const title = document.title || document.key || hit.url;
  return html`
    <li class="card hit" id=${id}>
      <div class="hit-text">
        <header>
          <span class="rank" aria-label=${`Rank ${rank}`}>${rank}</span>
          <h3>${hit.url === null
            ? html`<${Link} to=${passageAddress(corpus, document.id, chunk.id, snippet.text)} dir="auto">${title}<//>`
            : html`<${WebLink} url=${hit.url} title=${title} />`}</h3>
          ${document.key && document.key !== title && html`<span class="faint" dir="auto">${document.key}</span>`}
          ${hit.part_of && hit.part_of !== title && html`<span class="faint" dir="auto">${hit.part_of}</span>`}
          ${chunk.page && html`<span class="faint">${pageName(chunk.page, hit.page_label)}</span>`}
          ${hit.validity && html`<${InForce} validity=${hit.validity} />`}
          ${standing}
        </header>
        <p class="snippet"><${Marked} text=${chunk.page ? joinLines(snippet.text) : snippet.text} spans=${snippet.marks} /></p>
        <${Why} reasons=${hit.reasons} />
        <${Path} corpus=${corpus} steps=${hit.path} label="How the question leads to this passage" />
        <${Whole} corpus=${corpus} hit=${hit} />
        <${Others} corpus=${corpus} document=${document} others=${hit.other_passages} />
        <${Versions} corpus=${corpus} versions=${hit.versions} />
        <${Contributions} contributions=${hit.contributions} />
      </div>
      <div class="hit-signals">
        <p class="score"><span class="faint">Score</span> ${hit.score.toFixed(3)}</p>
        <${Signals} signals=${hit.signals} scale=${scale} />
      </div>
    </li>`;
}

/** From when to when the document is in force, with the sentences that say so. */
function InForce({ validity }) {
  const { valid_from: from, valid_to: to, statements } = validity;
  if (!from && !to) return null;
  const said = statements.map((one) => one.text || `${one.states}: ${one.value}`).join("\n");
  const days = from && to ? `in force ${from} to ${to}` : from ? `in force from ${from}` : `in force until ${to}`;
  return html`<span class="faint" title=${said}>${days}</span>`;
}

/** A passage of the web; an address that is not of the web is shown as text. */
function WebLink({ url, title }) {
  const isWeb = /^https?:\/\//i.test(url);
  return html`${isWeb ? html`<a href=${url} rel="noopener noreferrer nofollow" target="_blank" dir="auto">${title}</a>` : html`<span dir="auto">${title}</span>`} <span class="faint" dir="ltr">${url}</span>`;
}

/** The reasons of `bridged`; titles stand between asterisks. */
function Why({ reasons }) {
  if (!reasons.length) return null;
  return html`
    <ul class="why" aria-label="Why it was found">
      ${reasons.map((reason) => html`<li dir="auto">${reason.split(/\*([^*]+)\*/).map((piece, i) => (i % 2 ? html`<cite>${piece}</cite>` : piece))}</li>`)}
    </ul>`;
}

function Whole({ corpus, hit }) {
  const [isOpen, setOpen] = useState(hit.before.length + hit.after.length > 0);
  const { chunk, snippet } = hit;
  const marks = snippet.marks.map(({ start, end }) => ({ start: start + snippet.span.start, end: end + snippet.span.start }));
  const isAll = snippet.text.length === chunk.text.length;
  if (hit.url !== null && isAll) return null;
  return html`
    <details class="whole" open=${isOpen} onToggle=${(event) => setOpen(event.target.open)}>
      <summary>${isAll ? "The passage, and what stands beside it" : "The whole passage"}</summary>
      ${isOpen && html`
        <div class="stack">
          ${hit.before.map((one) => html`<${Beside} corpus=${corpus} chunk=${one} document=${hit.document} word="before" />`)}
          <${PassageText} chunk=${chunk} spans=${marks} />
          ${hit.after.map((one) => html`<${Beside} corpus=${corpus} chunk=${one} document=${hit.document} word="after" />`)}
          ${hit.url === null && hit.before.length + hit.after.length === 0 && html`<${Neighbours} corpus=${corpus} hit=${hit} />`}
        </div>`}
    </details>`;
}

/** The passages before and after the hit, on request. */
function Neighbours({ corpus, hit }) {
  const [wanted, setWanted] = useState(false);
  const near = useResource(wanted ? [corpus, hit.chunk.id] : null, (signal) => get(corpusPath(corpus, "chunks", hit.chunk.id), {}, signal));
  if (!wanted) return html`<div><button class="link" onClick=${() => setWanted(true)}>Show the passages beside it</button></div>`;
  if (near.error) return html`<${Notice} error=${near.error} />`;
  if (!near.value) return html`<${Loading} what="the passages beside it" />`;
  const { previous, next } = near.value;
  if (!previous && !next) return html`<p class="faint">The document has no other passage.</p>`;
  return html`
    ${previous && html`<${Beside} corpus=${corpus} chunk=${previous} document=${hit.document} word="before" />`}
    ${next && html`<${Beside} corpus=${corpus} chunk=${next} document=${hit.document} word="after" />`}`;
}

function Beside({ corpus, chunk, document, word }) {
  return html`
    <div class="beside">
      <p class="faint"><${Link} to=${passageAddress(corpus, document.id, chunk.id)}>Passage ${chunk.position + 1}, ${word} the hit<//></p>
      <${PassageText} chunk=${chunk} />
    </div>`;
}

function Others({ corpus, document, others }) {
  if (!others.length) return null;
  return html`
    <p class="others"><span class="faint">Also in this document:</span>
      ${others.map((one) => html` <${Link} to=${passageAddress(corpus, document.id, one.id)}>passage ${one.position + 1}${one.page ? `, page ${one.page}` : ""}<//>`)}
    </p>`;
}

const VERSIONS = 8;

function Versions({ corpus, versions }) {
  if (!versions.length) return null;
  const rest = versions.length - VERSIONS;
  return html`
    <p class="others"><span class="faint">Other versions:</span>
      ${versions.slice(0, VERSIONS).map((one) => html` <${Link} to=${address(viewOf(corpus, "documents", one.id))} dir="auto">${one.title || one.key}<//>`)}
      ${rest > 0 && html` <span class="faint">and ${rest} more</span>`}
    </p>`;
}

/** A link to the question's names in the graph. */
export function GraphLink({ corpus, name }) {
  return html`<${Link} to=${address(viewOf(corpus, "graph"), { name })}><${Icon} name="graph" /> ${name}<//>`;
}
