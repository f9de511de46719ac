/** JSON that readers type. What is wrong with it is said in words with its place: `JSON.parse` speaks as each browser does. */

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\p{L}\p{N}_.])/uy;
const DEEPEST = 200;
const EXAMPLE = '{"year": {"$gte": 1990}}';

/** Where a text is no JSON, and what is needed there. */
class Fault {
  constructor(at, needed) {
    this.at = at;
    this.needed = needed;
  }
}

/**
 * Reads JSON.
 *
 * @param {string} text
 * @returns {{value: any, wrong: string}} `wrong`: what is wrong with the text, as a sentence; "" for JSON.
 */
export function readJson(text) {
  try {
    return { value: JSON.parse(text), wrong: "" };
  } catch {
    return { value: undefined, wrong: explain(text) };
  }
}

/** Says what is wrong with the text of a filter of documents; "" for a filter, and for no text. */
export function explainFilter(text) {
  if (!text.trim()) return "";
  const { value, wrong } = readJson(text);
  if (wrong) return `The filter is not JSON. ${wrong} An example: ${EXAMPLE}`;
  return isObject(value) ? "" : `The filter is not an object: it stands in braces, and names fields with their conditions. An example: ${EXAMPLE}`;
}

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function explain(text) {
  const fault = findFault(text);
  if (!fault) return "It is nested too deeply.";
  const before = text.slice(0, fault.at);
  const lines = before.split("\n");
  const place = `character ${Array.from(lines[lines.length - 1]).length + 1}${text.includes("\n") ? ` of line ${lines.length}` : ""}`;
  const [found] = Array.from(text.slice(fault.at));
  const there = found === undefined ? "but the text ends" : found === "\n" ? "not the end of the line" : `not ${found}`;
  return `At ${place}, ${fault.needed} is needed, ${there}.`;
}

/** @returns {Fault | null} null where the text is JSON, or too deep to be looked at. */
function findFault(text) {
  let at = 0;
  const skip = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return Boolean(found);
  };
  const fail = (needed) => {
    throw new Fault(at, needed);
  };
  const string = (needed) => {
    if (skip(STRING)) return;
    if (text[at] !== '"') fail(needed);
    const open = text.slice(at + 1).search(/["\n]/);
    at = open < 0 ? text.length : at + 1 + open;
    fail(text[at] === '"' ? "text without unknown \\ signs" : "the closing double quote");
  };
  const list = (close, item) => {
    at += 1;
    skip(SPACE);
    if (text[at] === close) {
      at += 1;
      return;
    }
    for (;;) {
      item();
      skip(SPACE);
      if (text[at] !== "," && text[at] !== close) fail(`a comma or ${close}`);
      at += 1;
      if (text[at - 1] === close) return;
      skip(SPACE);
    }
  };
  const value = (depth) => {
    if (depth > DEEPEST) throw new RangeError("too deep");
    if (text[at] === "{") list("}", () => member(depth));
    else if (text[at] === "[") list("]", () => value(depth + 1));
    else if (text[at] === '"' || !skip(SCALAR)) string('a value such as "Paris", 1990, true or ["en", "de"]');
  };
  const member = (depth) => {
    string("a name in double quotes");
    skip(SPACE);
    if (text[at] !== ":") fail("a colon");
    at += 1;
    skip(SPACE);
    value(depth + 1);
  };
  try {
    skip(SPACE);
    value(0);
    skip(SPACE);
    if (at < text.length) fail("the end of the text");
    return null;
  } catch (error) {
    if (error instanceof Fault) return error;
    if (error instanceof RangeError) return null;
    throw error;
  }
}
