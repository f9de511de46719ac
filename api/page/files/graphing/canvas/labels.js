/** Which labels are drawn: the important first, none over another. */

const CELL = 14;

/** The places that are taken on the screen, in cells. */
export class Taken {
  constructor() {
    this.cells = new Set();
  }

  /** Takes a rectangle, unless a part of it is taken. */
  take(x, y, width, height) {
    const cells = [];
    for (let column = Math.floor(x / CELL); column <= Math.floor((x + width) / CELL); column += 1) {
      for (let row = Math.floor(y / CELL); row <= Math.floor((y + height) / CELL); row += 1) {
        const cell = column * 100_003 + row;
        if (this.cells.has(cell)) return false;
        cells.push(cell);
      }
    }
    for (const cell of cells) this.cells.add(cell);
    return true;
  }
}

const LONGEST = 32;
const short = new Map();

/** Cuts a name for the drawing; its whole text is in the panel and the list. */
export function shorten(label) {
  let found = short.get(label);
  if (found === undefined) {
    const letters = Array.from(label.replace(/\s+/g, " ").trim());
    found = letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("").trim()}…` : letters.join("");
    if (short.size > 5000) short.clear();
    short.set(label, found);
  }
  return found;
}
