/** Places in long texts. The server counts code points, strings count UTF-16 units, and most texts have as many of both. */

const STEP = 4096;

/** A text whose parts are named in code points. */
export class Points {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.units = /[\ud800-\udbff][\udc00-\udfff]/.test(text) ? index(text) : null;
  }

  /** The part from `start` to `end`, in code points. */
  slice(start, end = Infinity) {
    return this.units ? this.text.slice(this.unitOf(start), this.unitOf(end)) : this.text.slice(start, end);
  }

  /** The number of code points. */
  get length() {
    return this.units ? this.units.length : this.text.length;
  }

  /** The place in UTF-16 units of a place in code points. */
  unitOf(point) {
    if (!this.units) return point;
    if (point >= this.units.length) return this.text.length;
    let unit = this.units.starts[Math.floor(point / STEP)];
    for (let left = point % STEP; left > 0; left -= 1) unit += this.text.codePointAt(unit) > 0xffff ? 2 : 1;
    return unit;
  }
}

/** The place in units of each `STEP`th code point, and how many there are. */
function index(text) {
  const starts = [];
  let length = 0;
  for (let unit = 0; unit < text.length; length += 1) {
    if (length % STEP === 0) starts.push(unit);
    unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
  }
  return { starts, length };
}

/**
 * Cuts a text where chunks begin and end.
 *
 * @param {Points} points
 * @param {{id: string, span: {start: number, end: number}}[]} chunks By their start; they may overlap.
 * @param {{start: number, end: number}} range What is shown of the text.
 * @param {{start: number, end: number}[]} marks
 * @returns {{text: string, chunks: number[], marked: boolean, start: number}[]} `chunks` are indexes of those that the
 *   piece belongs to.
 */
export function cutByChunks(points, chunks, range, marks = []) {
  const edges = new Set([range.start, range.end]);
  for (const { start, end } of [...chunks.map((one) => one.span), ...marks]) {
    for (const edge of [start, end]) if (edge > range.start && edge < range.end) edges.add(edge);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  const pieces = [];
  for (let n = 0; n + 1 < sorted.length; n += 1) {
    const [start, end] = [sorted[n], sorted[n + 1]];
    const over = [];
    chunks.forEach(({ span }, at) => span.start < end && span.end > start && over.push(at));
    const marked = marks.some((mark) => mark.start < end && mark.end > start);
    pieces.push({ text: points.slice(start, end), chunks: over, marked, start });
  }
  return pieces;
}
