/** The signals of a hit as bars with numbers: one scale for all hits that are shown, so that bars can be compared. */

import { html } from "../vendor/preact.js";

export const SIGNALS = [
  ["dense", "Meaning", "cosine", 3],
  ["sparse", "Words", "BM25", 2],
  ["graph", "Graph", "PageRank", 4],
];

/** Returns the greatest value of each signal among hits. */
export function scaleOf(hits) {
  return Object.fromEntries(SIGNALS.map(([name]) => [name, Math.max(0, ...hits.map((hit) => hit.signals[name] ?? 0))]));
}

export function Signals({ signals, scale }) {
  return html`
    <dl class="signals">
      ${SIGNALS.map(([name, word, unit, digits]) => {
        const value = signals[name];
        const share = value > 0 && scale[name] > 0 ? value / scale[name] : 0;
        return html`
          <div class=${`signal ${name}`}>
            <dt>${word} <span class="faint">${unit}</span></dt>
            <dd>${value === null ? html`<span class="faint">not used</span>` : value.toFixed(digits)}</dd>
            <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6" /><rect class="value" width=${100 * share} height="6" /></svg>
          </div>`;
      })}
    </dl>`;
}

/** What the features add to the score of a hit, the largest first. */
export function Contributions({ contributions }) {
  const rows = Object.entries(contributions).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  if (!rows.length) return null;
  const most = Math.abs(rows[0][1]) || 1;
  return html`
    <details class="contributions">
      <summary>What each feature adds to the score</summary>
      <table>
        <thead><tr><th scope="col">Feature</th><th scope="col">Adds</th><th><span class="unseen">As a bar</span></th></tr></thead>
        <tbody>
          ${rows.map(([name, value]) => html`
            <tr><td><code>${name}</code></td><td class="figure">${value.toFixed(3)}</td>
            <td><svg class="bar two-sided" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
              <rect class="track" width="100" height="6" /><rect class=${value < 0 ? "less" : "value"} x=${value < 0 ? 50 - (50 * -value) / most : 50} width=${(50 * Math.abs(value)) / most} height="6" /></svg></td></tr>`)}
        </tbody>
      </table>
    </details>`;
}
