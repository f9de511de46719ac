/** The text of a page with the passages over it: tinted in turn, numbered, and selected by a click or by their number. */

import { html, useMemo } from "../../vendor/preact.js";
import { Points, cutByChunks } from "../../core/points.js";
import { joinLines } from "../../core/text.js";
import { PassageText } from "../tables.js";

const MOST_POINTS = 200_000;

/**
 * @param {{points: Points, isPage: boolean, chunks: any[], following: any, isFirst: boolean, selected: string, marks: any[],
 *   select: (id: string) => void}} props `isPage`: the text is that of a page,
 *   whose lines are joined. `following` is the chunk after the shown ones, if there is one on the page;
 *   `isFirst` tells that no chunk of the page comes before.
 */
export function SourceText({ points: read, isPage, chunks, following, isFirst, selected, marks, select }) {
  const points = useMemo(() => (isPage ? new Points(joinLines(read.text)) : read), [read, isPage]);
  const range = useMemo(() => rangeOf(points, chunks, following, isFirst), [points, chunks, following, isFirst]);
  const pieces = useMemo(() => cutByChunks(points, chunks, range, marks), [points, chunks, range, marks]);
  const begun = new Set();
  let heading = null;
  return html`
    <div class="source-text" dir="auto" lang="">
      ${pieces.map((piece) => {
        const starting = piece.chunks.filter((at) => !begun.has(at));
        const labels = starting.map((at) => {
          begun.add(at);
          const chunk = chunks[at];
          const shown = chunk.heading && chunk.heading !== heading ? chunk.heading : "";
          heading = chunk.heading || heading;
          return html`${shown && html`<span class="chunk-heading" dir="auto">${shown}</span>`}<${Number} chunk=${chunk} isSelected=${chunk.id === selected} select=${select} />`;
        });
        return html`${labels}<${Piece} piece=${piece} chunks=${chunks} selected=${selected} select=${select} />`;
      })}
      ${range.isCut && html`<p class="hint">The text goes on; no more of it is shown here. The original has all of it.</p>`}
    </div>`;
}

function Number({ chunk, isSelected, select }) {
  const label = `Passage ${chunk.position + 1}${chunk.heading ? `, ${chunk.heading}` : ""}`;
  return html`<button class="chunk-number" id=${`chunk-${chunk.id}`} aria-pressed=${isSelected} aria-label=${label} title=${label} onClick=${() => select(chunk.id)}>${chunk.position + 1}</button>`;
}

function Piece({ piece, chunks, selected, select }) {
  if (!piece.chunks.length) return html`<span class="outside">${piece.text}</span>`;
  const at = piece.chunks.find((one) => chunks[one].id === selected) ?? piece.chunks[piece.chunks.length - 1];
  const chunk = chunks[at];
  const names = ["chunk", chunk.position % 2 ? "odd" : "even", chunk.id === selected && "selected", piece.chunks.length > 1 && "shared"];
  const click = () => {
    if (!String(getSelection())) select(chunk.id); // the reader may be copying a part of it
  };
  return html`<span class=${names.filter(Boolean).join(" ")} onClick=${click}>${piece.marked ? html`<mark>${piece.text}</mark>` : piece.text}</span>`;
}

function rangeOf(points, chunks, following, isFirst) {
  const start = isFirst || !chunks.length ? 0 : chunks[0].span.start;
  const end = following ? Math.max(following.span.start, ...chunks.map((one) => one.span.end)) : points.length;
  const most = Math.max(start + MOST_POINTS, ...chunks.map((one) => one.span.end));
  return { start, end: Math.min(end, most), isCut: end > most };
}

/** Passages that have no place in a text: they were cut by whoever sent them. */
export function CutPassages({ chunks, selected, select }) {
  return html`
    <ol class="plain stack">${chunks.map((chunk) => html`
      <li key=${chunk.id} class=${`cut-passage ${chunk.id === selected ? "selected" : ""}`}>
        <${Number} chunk=${chunk} isSelected=${chunk.id === selected} select=${select} />
        <${PassageText} chunk=${chunk} />
      </li>`)}</ol>`;
}
