/** Tables in the text of a passage: rows are lines whose cells bars separate, or lines of fields, as loaders and Markdown write them. */

const RULE = /^:?-+(?:\+-+)*:?$/;
const DRAWN = /^\s*(?:\+(?:[-=]{2,}\+)+|-{2,}(?:\+-{2,})+)\s*$/; // a rule of a table that is drawn with signs, as RFCs have them
const FIGURE = /\d/;
const PERIOD = /^(?:(?:[QH][1-4]|FY) ?)?(?:1[89]|20)\d\d$|[A-Za-z]{3,} \d\d?, (?:1[89]|20)\d\d$/;
const MOST_BETWEEN = 2; // lines without cells within a table, which are labels
const LONGEST_LABEL = 160;

const isMarkdown = (line) => /^\s*\|.*\|\s*$/.test(line);
const isRow = (line) => line.length <= 2000 && (line.includes(" | ") || line.startsWith("| ") || isMarkdown(line) || DRAWN.test(line));

/**
 * Returns the parts of a text in order, with places in code points: `{start, end}` for text, and for a table also `rows`
 * of `{isHeader, isLabel, cells: [{start, end}]}`. A table has two rows or more. `heading` is that of the passage: its
 * last part has the names of the columns if the passage begins within a table, whose first rows are no header then.
 */
export function splitTables(text, heading = "") {
  const isCut = heading.slice(heading.lastIndexOf(" › ") + 1).includes(" | ");
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
    const isTable = isRow(lines[n].line);
    if (!isTable && !recordOf(lines[n])) continue;
    const last = isTable ? endOf(lines, n) : endOfRecords(lines, n);
    const rows = lines.slice(n, last + 1);
    if (rows.filter(({ line }) => !isTable || (isRow(line) && !DRAWN.test(line))).length > 1) {
      if (lines[n].start > from) parts.push({ start: from, end: lines[n].start });
      parts.push({ start: lines[n].start, end: lines[last].end, rows: readRecords(rows) ?? readRows(rows, isCut && lines.slice(0, n).every(({ line }) => !line.trim())) });
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

/** The last of the lines with fields that begin with one, as loaders write the rows of delimited text. */
function endOfRecords(lines, first) {
  const [{ name }] = recordOf(lines[first]);
  let last = first;
  while (last + 1 < lines.length && recordOf(lines[last + 1])?.[0].name.text === name.text) last += 1;
  return last;
}

/** The fields of a line (`City: Ulm; River: Danube`), of which each cell has its name; null if there are none. */
function recordOf({ line, start }) {
  const separator = line.includes(" | ") ? " | " : "; ";
  if (line.length > 20_000 || !line.includes(separator) || !line.includes(": ")) return null;
  const fields = [];
  let at = start;
  for (const part of line.split(separator)) {
    const length = Array.from(part).length;
    const [, name, value] = /^([^:;|]{1,200}): (.*)$/.exec(part) ?? [];
    const named = name ? Array.from(name).length : 0;
    if (name) fields.push({ name: { start: at, end: at + named, text: name }, value: { start: at + named + 2, end: at + length, text: value } });
    else if (!fields.length) return null;
    else {
      const { value: last } = fields.at(-1); // a part without a name belongs to the value before it
      fields[fields.length - 1].value = { start: last.start, end: at + length, text: `${last.text}${separator}${part}` };
    }
    at += length + Array.from(separator).length;
  }
  return fields.length > 1 ? fields : null;
}

/** The rows of a table whose rows name their cells, each name once, as its header; null if it is none. */
function readRecords(lines) {
  const filled = lines.filter(({ line }) => line.trim());
  const records = filled.map(recordOf);
  const body = records[0] ? records : records.slice(1); // a workbook has a row of names above
  if (!body.length || body.some((fields) => !fields)) return null;
  const names = new Map();
  for (const fields of body) for (const { name } of fields) if (!names.has(name.text)) names.set(name.text, name);
  if (names.size > 2 * Math.max(...body.map((fields) => fields.length))) return null; // they share too few names
  const header = { isHeader: true, isLabel: false, cells: [...names.values()] };
  return [header, ...body.map((fields) => {
    const values = new Map(fields.map(({ name, value }) => [name.text, value]));
    const { end } = fields.at(-1).value;
    return { isHeader: false, isLabel: false, cells: [...names.keys()].map((name) => values.get(name) ?? { start: end, end, text: "" }) };
  })];
}

function readRows(lines, isCut) {
  const read = lines.filter(({ line }) => line.trim()).map(({ line, start }) => ({ isLabel: !isRow(line), cells: cellsOf(line, start) }));
  const isRule = ({ cells }) => (cells.length > 1 && cells.every(({ text }) => RULE.test(text))) || (cells.length === 1 && DRAWN.test(cells[0].text));
  const first = read.findIndex((row) => !isRule(row));
  const rule = read.findIndex((row, n) => n > first && isRule(row)) - first;
  const rows = read.filter((row) => !isRule(row));
  const header = rule > 0 && rule < rows.length ? rule : countHeader(rows);
  return rows.map((row, n) => ({ ...row, isHeader: !isCut && n < header }));
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
