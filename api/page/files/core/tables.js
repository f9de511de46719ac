/** Tables in the text of a passage: rows are lines whose cells bars separate, as loaders and Markdown write them. */

const RULE = /^:?-+:?$/;
const DRAWN = /^\s*\+(?:[-=]{2,}\+)+\s*$/; // a rule of a table that is drawn with signs, as RFCs have them
const FIGURE = /\d/;
const PERIOD = /^(?:(?:[QH][1-4]|FY) ?)?(?:1[89]|20)\d\d$|[A-Za-z]{3,} \d\d?, (?:1[89]|20)\d\d$/;
const MOST_BETWEEN = 2; // lines without cells within a table, which are labels
const LONGEST_LABEL = 160;

const isMarkdown = (line) => /^\s*\|.*\|\s*$/.test(line);
const isRow = (line) => line.length <= 2000 && (line.includes(" | ") || line.startsWith("| ") || isMarkdown(line) || DRAWN.test(line));

/**
 * Returns the parts of a text in order, with places in code points: `{start, end}` for text, and for a table also `rows`
 * of `{isHeader, isLabel, cells: [{start, end}]}`. A table has two rows or more.
 */
export function splitTables(text) {
  const lines = [];
  let at = 0;
  for (const line of text.split("\n")) {
    const length = Array.from(line).length;
    lines.push({ line, start: at, end: at + length });
    at += length + 1;
  }
  const parts = [];
  let from = 0;
  for (let n = 0; n < lines.length; n += 1) {
    if (!isRow(lines[n].line)) continue;
    const last = endOf(lines, n);
    const rows = lines.slice(n, last + 1);
    if (rows.filter(({ line }) => isRow(line) && !DRAWN.test(line)).length > 1) {
      if (lines[n].start > from) parts.push({ start: from, end: lines[n].start });
      parts.push({ start: lines[n].start, end: lines[last].end, rows: readRows(rows) });
      from = Math.min(lines[last].end + 1, at);
    }
    n = last;
  }
  if (from < at - 1 || !parts.length) parts.push({ start: from, end: Math.max(at - 1, from) });
  return parts;
}

/** The last row of the table that begins at a line. */
function endOf(lines, first) {
  let last = first;
  let between = 0;
  for (let n = first + 1; n < lines.length && between <= MOST_BETWEEN; n += 1) {
    const { line } = lines[n];
    if (isRow(line)) [last, between] = [n, 0];
    else if (line.length > LONGEST_LABEL || /[.!?。]$/.test(line.trim())) break;
    else between += line.trim() ? 1 : 0;
  }
  return last;
}

function readRows(lines) {
  const read = lines.filter(({ line }) => line.trim()).map(({ line, start }) => ({ isLabel: !isRow(line), cells: cellsOf(line, start) }));
  const isRule = ({ cells }) => (cells.length > 1 && cells.every(({ text }) => RULE.test(text))) || (cells.length === 1 && DRAWN.test(cells[0].text));
  const first = read.findIndex((row) => !isRule(row));
  const rule = read.findIndex((row, n) => n > first && isRule(row)) - first;
  const rows = read.filter((row) => !isRule(row));
  const header = rule > 0 && rule < rows.length ? rule : countHeader(rows);
  return rows.map((row, n) => ({ ...row, isHeader: n < header }));
}

/** The first rows without a figure, but periods. */
function countHeader(rows) {
  const n = rows.findIndex(({ isLabel, cells }) => isLabel || cells.some(({ text }) => FIGURE.test(text) && !PERIOD.test(text)));
  return n > 0 ? n : n < 0 ? 1 : 0;
}

/** The cells of a line, with their places. */
function cellsOf(line, start) {
  const points = Array.from(line);
  const typed = isMarkdown(line);
  const isBar = (n) =>
    points[n] === "|" && (typed ? points[n - 1] !== "\\" : (n === 0 || /\s/.test(points[n - 1])) && (n === points.length - 1 || /\s/.test(points[n + 1])));
  const cells = [];
  let from = 0;
  for (let n = 0; n <= points.length; n += 1) {
    if (n < points.length && !isBar(n)) continue;
    let [a, b] = [from, n];
    while (a < b && /\s/.test(points[a])) a += 1;
    while (b > a && /\s/.test(points[b - 1])) b -= 1;
    cells.push({ start: start + a, end: start + b, text: points.slice(a, b).join("") });
    from = n + 1;
  }
  return typed ? cells.slice(1, -1) : cells;
}
