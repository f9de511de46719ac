/** The text of an answer with its markers as buttons, and with the words marked that a source bears. */

import { html } from "../../vendor/preact.js";
import { Markdown } from "../../parts/markdown.js";

/**
 * @param {{text: string, citations: any[], active: number | null, point: (marker: number | null) => void,
 *   open: (citation: any) => void}} props `active`: the marker that is pointed at.
 */
export function CitedText({ text, citations, active, point, open }) {
  const byMarker = new Map();
  for (const one of citations) if (!byMarker.has(one.marker)) byMarker.set(one.marker, one);
  const spans = active === null ? [] : toUnits(text, citations.filter((one) => one.marker === active).map((one) => one.answer_span));
  let cursor = 0; // pieces come in the order of the text
  const inline = (piece) => {
    const found = text.indexOf(piece, cursor);
    const start = found < 0 ? cursor : found;
    cursor = start + piece.length;
    return cutAtMarkers(piece, byMarker).map(({ words, citation, at }) =>
      citation ? html`<${Marker} citation=${citation} active=${active} point=${point} open=${open} />` : markWords(words, start + at, spans));
  };
  return html`<${Markdown} text=${text} inline=${inline} />`;
}

function Marker({ citation, active, point, open }) {
  const { marker, document, quote } = citation;
  const off = () => point(null);
  return html`<button type="button" class=${`marker ${active === marker ? "on" : ""}`} aria-label=${`Source ${marker}: ${document.title || document.key}`} title=${quote}
    onMouseEnter=${() => point(marker)} onMouseLeave=${off} onFocus=${() => point(marker)} onBlur=${off} onClick=${() => open(citation)}>${marker}</button>`;
}

/** Cuts a piece at the markers of citations. A number in brackets that no citation has stays as it is. */
function cutAtMarkers(piece, byMarker) {
  const cut = [];
  let at = 0;
  for (const found of piece.matchAll(/ ?\[(\d{1,4})\]/g)) {
    const citation = byMarker.get(Number(found[1]));
    if (!citation) continue;
    if (found.index > at) cut.push({ words: piece.slice(at, found.index), at });
    cut.push({ citation, at: found.index });
    at = found.index + found[0].length;
  }
  if (at < piece.length) cut.push({ words: piece.slice(at), at });
  return cut;
}

/** Spans in code points as spans in the units of strings. */
function toUnits(text, spans) {
  const points = Array.from(text);
  const unitsAt = (end) => points.slice(0, end).join("").length;
  return spans.map(({ start, end }) => ({ start: unitsAt(start), end: unitsAt(end) }));
}

function markWords(words, start, spans) {
  const end = start + words.length;
  const cuts = [...new Set([start, end, ...spans.flatMap((one) => [one.start, one.end]).filter((at) => at > start && at < end)])].sort((a, b) => a - b);
  if (cuts.length === 2 && !spans.some((one) => one.start <= start && one.end >= end)) return words;
  return cuts.slice(1).map((to, i) => {
    const from = cuts[i];
    const part = words.slice(from - start, to - start);
    return spans.some((one) => one.start <= from && one.end >= to) ? html`<mark class="borne">${part}</mark>` : part;
  });
}
