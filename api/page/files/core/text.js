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

const CLOSING = /[.!?…。．！？｡؟۔।]/u;

/** Spans of quotes with the mark that ends their sentence: models copy a sentence without it. */
export function toSentenceEnd(text, spans) {
  const points = Array.from(text);
  return spans.map(({ start, end }) => {
    let to = end;
    while (to < points.length && CLOSING.test(points[to])) to += 1;
    const isInside = to < points.length && /[\p{L}\p{N}]/u.test(points[to]); // 3.5, example.org
    return { start, end: isInside ? end : to };
  });
}

const NEW_ITEM = /^[ \t]*(?:[-–—•*▪◦‣#|>]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]?/;
const BEFORE_NONE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]$/u;
const AFTER_NONE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/**
 * Joins the lines of paragraphs, which a PDF file breaks where its page ends. No place moves: a break becomes a space, or
 * nothing visible between the signs of scripts without spaces. Items of lists and rows of tables keep their lines.
 */
export function joinLines(text) {
  const lines = text.split("\n");
  return lines.reduce((joined, line, i) => {
    const before = lines[i - 1];
    if (!before.trim() || !line.trim() || NEW_ITEM.test(line) || before.trimStart().startsWith("|")) return `${joined}\n${line}`;
    return `${joined}${BEFORE_NONE.test(before) && AFTER_NONE.test(line) ? "\u200b" : " "}${line}`;
  });
}

/** A cell of a table by the names of its row and column. */
export const cellName = (cell) => [cell.row, cell.column].filter(Boolean).join(" × ");

/** The number of a page, with its label if that is another one: `page 7 (iv)`. */
export const pageName = (page, label) => (label ? `page ${page} (${label})` : `page ${page}`);

/** The text of a passage as it is read: those of files with pages in whole paragraphs. */
export const readable = (chunk) => (chunk.page ? joinLines(chunk.text) : chunk.text);

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
