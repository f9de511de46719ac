/** Two searchers side by side: what both found, what only one of them found, and the hits of each. */

import { html } from "../vendor/preact.js";
import { plural } from "../core/text.js";
import { Hits, Told } from "./results.js";
import { scaleOf } from "./signals.js";

/** @param {{corpus: string, results: any[], names: string[], by: string, asked: any}} props */
export function Comparison({ corpus, results, names, by }) {
  const scale = scaleOf(results.flatMap((one) => one.hits));
  const ranks = results.map((one) => new Map(one.hits.map((hit, i) => [hit.chunk.id, i + 1])));
  return html`
    <${Overview} results=${results} names=${names} ranks=${ranks} />
    <div class="split even">
      ${results.map((result, i) => html`
        <section class="stack" aria-labelledby=${`side-${i}`}>
          <h2 id=${`side-${i}`}>${names[i]}</h2>
          <${Told} result=${result} />
          ${result.hits.length === 0 && html`<p class="faint">It found nothing.</p>`}
          <${Hits} corpus=${corpus} hits=${result.hits} by=${by} scale=${scale} prefix=${`side-${i}-hit`} standing=${(hit) => html`<${Standing} rank=${ranks[1 - i].get(hit.chunk.id)} other=${names[1 - i]} />`} />
        </section>`)}
    </div>`;
}

function Standing({ rank, other }) {
  return rank ? html`<span class="tag good">also rank ${rank} with ${other}</span>` : html`<span class="tag fair">only here</span>`;
}

/** All passages that either found, in the order of the better of their ranks. */
function Overview({ results, names, ranks }) {
  const hits = new Map(results.flatMap((one) => one.hits.map((hit) => [hit.chunk.id, hit])));
  const best = (id) => Math.min(...ranks.map((one) => one.get(id) ?? Infinity));
  const ids = [...hits.keys()].sort((a, b) => best(a) - best(b));
  const common = ids.filter((id) => ranks.every((one) => one.has(id))).length;
  const only = ranks.map((one, i) => `${one.size - common} only ${names[i]}`);
  return html`
    <section class="card stack overview" aria-labelledby="overview">
      <h2 id="overview">${common === ids.length && ids.length ? "Both found the same passages" : `${plural(common, "passage")} in common`}</h2>
      <p>Of ${plural(ids.length, "passage")}, both found ${common}, ${only.join(", and ")}.</p>
      <div class="scroll" tabindex="0" role="group" aria-label="Ranks of each passage">
        <table>
          <thead><tr><th scope="col">Passage</th>${names.map((name) => html`<th scope="col" class="figure">${name}</th>`)}</tr></thead>
          <tbody>
            ${ids.map((id) => html`
              <tr class=${ranks.every((one) => one.has(id)) ? "both" : ""}>
                <th scope="row" dir="auto">${nameOf(hits.get(id))}</th>
                ${ranks.map((one, side) => html`<td class="figure">${one.has(id) ? html`<a href=${`#side-${side}-hit-${one.get(id)}`}>${one.get(id)}</a>` : html`<span class="faint">not found</span>`}</td>`)}
              </tr>`)}
          </tbody>
        </table>
      </div>
    </section>`;
}

const nameOf = ({ document, chunk }) => [document.title || document.key, chunk.heading].filter(Boolean).join(" › ");
