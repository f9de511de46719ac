/** What a search returned: hits in the order that the reader chose, timing, notes, and why there are none. */

import { html } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { useResource } from "../core/resource.js";
import { Link, viewOf } from "../core/router.js";
import { number, plural, seconds } from "../core/text.js";
import { Empty } from "../parts/states.js";
import { Hit } from "./hit.js";
import { SIGNALS } from "./signals.js";

/** Returns hits with their ranks, by a signal, or as they were ranked. A hit without the signal comes last. */
export function order(hits, by) {
  const ranked = hits.map((hit, i) => ({ hit, rank: i + 1 }));
  if (!SIGNALS.some(([name]) => name === by)) return ranked;
  return ranked.sort((a, b) => (b.hit.signals[by] ?? -Infinity) - (a.hit.signals[by] ?? -Infinity) || a.rank - b.rank);
}

export function Order({ value, change }) {
  return html`
    <label class="row order"><span class="faint">Order</span>
      <select value=${value} onChange=${(event) => change(event.target.value)}>
        <option value="">as ranked</option>
        ${SIGNALS.map(([name, word, unit]) => html`<option value=${name} selected=${name === value}>by ${unit} (${word.toLowerCase()})</option>`)}
      </select>
    </label>`;
}

/** @param {{prefix: string, standing?: (hit: any) => any}} props `prefix`: of the ids of the hits. */
export function Hits({ corpus, hits, by, scale, prefix, standing = () => null }) {
  return html`
    <ol class="hits plain">
      ${order(hits, by).map(({ hit, rank }) => html`<${Hit} key=${hit.chunk.id} corpus=${corpus} hit=${hit} rank=${rank} scale=${scale} id=${`${prefix}-${rank}`} standing=${standing(hit)} />`)}
    </ol>`;
}

/** How long it took, what it cost, and what the search says of itself. */
export function Told({ result }) {
  const { total, ...stages } = result.timing;
  const rows = Object.entries(stages);
  const { usage } = result;
  return html`
    <div class="told">
      <details class="timing">
        <summary>${plural(result.hits.length, "hit")} in ${seconds(total ?? rows.reduce((sum, [, one]) => sum + one, 0))}${usage.calls > 0 && `, ${plural(usage.calls, "model call")}, ${number(usage.prompt_tokens + usage.completion_tokens)} tokens`}</summary>
        <dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${seconds(value)}</dd></div>`)}${result.generation !== null && html`<div><dt>generation of the corpus</dt><dd>${number(result.generation)}</dd></div>`}</dl>
      </details>
      ${result.notes.length > 0 && html`<ul class="notes plain">${result.notes.map((note) => html`<li class="faint" dir="auto">${note}</li>`)}</ul>`}
    </div>`;
}

/** Why there is nothing: the corpus is empty, or what the request asks for leaves nothing. */
export function NoHits({ corpus, asked, change }) {
  const about = useResource(corpus, (signal) => get(corpusPath(corpus), {}, signal));
  if (about.value && about.value.counts.chunks === 0) return html`<${NoDocuments} corpus=${corpus} />`;
  const bars = [
    asked.filter && ["The filter leaves only documents that match it.", "Search without the filter", { filter: "" }],
    asked.min && [`Hits need a cosine of at least ${asked.min}. That of a good hit is often below 0.7.`, "Search without the least similarity", { min_similarity: "" }],
    asked.searcher.name === "sparse" && ["The searcher sparse finds only passages with words of the question.", "Search with the default searcher", { searcher: "", options: "" }],
  ].filter(Boolean);
  return html`
    <${Empty} icon="search" title="Nothing was found" text=${bars.length ? "" : "No passage has anything to do with these words. Try others, or another searcher."}>
      ${bars.map(([why, label, changes]) => html`<p>${why}</p><button onClick=${() => change(changes)}>${label}</button>`)}
    <//>`;
}

export function NoDocuments({ corpus }) {
  return html`
    <${Empty} icon="documents" title="This corpus has no documents yet" text="Passages can be searched as soon as the first documents are indexed.">
      <${Link} class="button primary" to=${viewOf(corpus, "documents")}>Add documents<//>
    <//>`;
}
