/** The text of a passage as it is shown: tables as tables, and all else as text, with marks. */

import { html } from "../vendor/preact.js";
import { splitTables } from "../core/tables.js";
import { cutAt, joinLines } from "../core/text.js";

/**
 * @param {{chunk: any, spans?: any[], cell?: any, className?: string}} props `spans` are marked; `cell` is the cell of a
 *   table that is cited. Places are code points of `chunk.text`.
 */
export function PassageText({ chunk, spans = [], cell = null, className = "" }) {
  const points = Array.from(chunk.text);
  return html`
    <div class=${`passage-parts ${className}`}>
      ${splitTables(chunk.text, chunk.heading).map((part) => (part.rows
        ? html`<${Grid} points=${points} rows=${part.rows} spans=${spans} cell=${cell} />`
        : html`<${Prose} points=${points} part=${part} spans=${spans} joined=${Boolean(chunk.page)} />`))}
    </div>`;
}

function Prose({ points, part, spans, joined }) {
  const text = points.slice(part.start, part.end).join("").trimEnd();
  if (!text.trim()) return null;
  return html`<p class="passage-text" dir="auto">${marked(joined ? joinLines(text) : text, spans, part.start)}</p>`;
}

function Grid({ points, rows, spans, cell }) {
  const width = Math.max(...rows.map(({ cells }) => cells.length));
  const show = ({ start, end }) => marked(points.slice(start, end).join(""), spans, start);
  const isCited = ({ start, end }) => Boolean(cell?.span) && start <= cell.span.start && cell.span.end <= end;
  return html`
    <div class="scroll" tabindex="0" role="group" aria-label="A table of the passage">
      <table class="passage-table" dir="auto">
        <tbody>
          ${rows.map(({ isHeader, isLabel, cells }) => html`
            <tr>
              ${cells.map((one, n) => ((isHeader || n === 0) && one.end > one.start
                ? html`<th scope=${isHeader ? "col" : "row"} colspan=${isLabel ? width : 1}>${show(one)}</th>`
                : html`<td class=${isCited(one) ? "cited-cell" : ""} aria-current=${isCited(one) ? "true" : null}>${show(one)}</td>`))}
            </tr>`)}
        </tbody>
      </table>
    </div>`;
}

/** A text that begins at a place, with the parts of the spans in it marked. */
function marked(text, spans, start) {
  const own = spans.map((span) => ({ start: Math.max(span.start - start, 0), end: span.end - start })).filter(({ end }) => end > 0);
  return cutAt(text, own).map((piece) => (piece.marked ? html`<mark>${piece.text}</mark>` : piece.text));
}
