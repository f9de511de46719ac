/** What differs between two texts, by words. */

const LONGEST = 1500; // words: the comparison takes the product of both lengths

/**
 * Returns the pieces of both texts in order: those of one text only, and those of both. Words are those of the
 * language, so that Chinese, too, is compared by words.
 *
 * @returns {{text: string, side: "both" | "before" | "after"}[]}
 */
export function compareWords(before, after) {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  const start = countSame(a, b, (words, i) => words[i]);
  const rest = Math.min(a.length, b.length) - start;
  const end = Math.min(rest, countSame(a, b, (words, i) => words[words.length - 1 - i]));
  const [midA, midB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const middle = midA.length > LONGEST || midB.length > LONGEST ? replaced(midA, midB) : compareMiddle(midA, midB);
  return join([...both(a.slice(0, start)), ...middle, ...both(a.slice(a.length - end))]);
}

const both = (words) => words.map((text) => ({ text, side: "both" }));
const replaced = (a, b) => [...a.map((text) => ({ text, side: "before" })), ...b.map((text) => ({ text, side: "after" }))];

function wordsOf(text) {
  return Array.from(new Intl.Segmenter(undefined, { granularity: "word" }).segment(text), (piece) => piece.segment);
}

function countSame(a, b, at) {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && at(a, n) === at(b, n)) n += 1;
  return n;
}

/** The longest common subsequence. */
function compareMiddle(a, b) {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      lengths[at] = a[i] === b[j] ? lengths[at + width + 1] + 1 : Math.max(lengths[at + width], lengths[at + 1]);
    }
  }
  const pieces = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const at = i * width + j;
    if (a[i] === b[j]) {
      pieces.push({ text: a[i], side: "both" });
      i += 1;
      j += 1;
    } else if (lengths[at + width] >= lengths[at + 1]) pieces.push({ text: a[i++], side: "before" });
    else pieces.push({ text: b[j++], side: "after" });
  }
  return [...pieces, ...replaced(a.slice(i), b.slice(j))];
}

function join(pieces) {
  const joined = [];
  for (const piece of pieces) {
    const last = joined[joined.length - 1];
    if (last && last.side === piece.side) last.text += piece.text;
    else joined.push({ ...piece });
  }
  return joined;
}
