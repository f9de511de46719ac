/** Texts: spans in code points, numbers and times for readers. */

/**
 * Spans of the server count Unicode code points, strings of JavaScript count UTF-16 units. Cuts a text at spans.
 *
 * @param {string} text
 * @param {{start: number, end: number}[]} spans
 * @returns {{text: string, marked: boolean}[]} The pieces in order; overlapping spans are joined.
 */
export function cutAt(text, spans) {
  const points = Array.from(text);
  const sorted = spans.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start);
  const pieces = [];
  let at = 0;
  const add = (end, marked) => {
    if (end > at) pieces.push({ text: points.slice(at, end).join(""), marked });
    at = Math.max(at, end);
  };
  for (const { start, end } of sorted) {
    add(Math.min(start, points.length), false);
    add(Math.min(end, points.length), true);
  }
  add(points.length, false);
  return pieces;
}

/** Returns the span of a quote in a text, in code points, or null. */
export function find(text, quote) {
  const at = quote ? text.indexOf(quote) : -1;
  if (at < 0) return null;
  const start = Array.from(text.slice(0, at)).length;
  return { start, end: start + Array.from(quote).length };
}

/** Returns the spans, in code points, of all places where a text has one of the words, in whatever case. */
export function spansOf(text, words) {
  const spans = [];
  for (const word of words) {
    if (!word.trim()) continue;
    const pattern = new RegExp(word.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu");
    for (const { index, 0: found } of text.matchAll(pattern)) {
      const start = Array.from(text.slice(0, index)).length;
      spans.push({ start, end: start + Array.from(found).length });
    }
  }
  return spans;
}

const NUMBERS = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const number = (value) => NUMBERS.format(value);
export const compact = (value) => COMPACT.format(value);

/** `plural(2, "document")` is "2 documents". */
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** A time as the reader's system writes it. */
export const time = (iso) => (iso ? TIMES.format(new Date(iso)) : "");

export function seconds(value) {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 60) return `${value.toFixed(1)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(value % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return `${(value / 1000 ** power).toFixed(power && value / 1000 ** power < 10 ? 1 : 0)} ${units[power]}`;
}
