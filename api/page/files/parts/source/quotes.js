/** Finding a quote in a text, and texts that fit into an address. */

import { find } from "../../core/text.js";

const MOST_ENCODED = 6_000; // proxies often take addresses of 8 kB

/** The span of a quote in code points, also if its white space differs; null without it. */
export function findQuote(text, quote) {
  if (!quote?.trim()) return null;
  const exact = find(text, quote);
  if (exact) return exact;
  const words = quote.trim().split(/\s+/).slice(0, 400).map((word) => word.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"));
  const found = new RegExp(words.join("\\s+"), "u").exec(text);
  return found ? find(text, found[0]) : null;
}

/** The beginning of a text whose encoded form is short enough, in whole characters. */
export function fitAddress(text, most = 4000) {
  let points = Array.from(text.trim()).slice(0, most);
  while (encodeURIComponent(points.join("")).length > MOST_ENCODED) points = points.slice(0, Math.floor(points.length * 0.8));
  return points.join("");
}
