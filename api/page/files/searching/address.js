/** What a search asks for, and how the address of the view says it. */

/** @typedef {{name: string, options: Record<string, any>}} Strategy `name` empty: the server's default. */

/**
 * @typedef {object} Asked
 * @property {string} q
 * @property {Strategy} searcher
 * @property {Strategy | null} other A second searcher, whose hits are shown beside those of the first.
 * @property {string} k As it was typed; empty for the server's default. So are `min` and `filter`.
 * @property {string} min
 * @property {string} filter
 * @property {string} asOf A day; empty for today.
 * @property {string} context
 * @property {boolean} grouped
 * @property {boolean} features
 * @property {boolean} web
 */

const DEFAULT = "default"; // the name of the server's default searcher in `with`

/** @param {URLSearchParams} query @returns {Asked} */
export function readAsked(query) {
  const text = (name) => query.get(name) || "";
  return {
    q: text("q"),
    searcher: strategyOf(text("searcher"), text("options")),
    other: query.has("with") ? strategyOf(text("with") === DEFAULT ? "" : text("with"), text("with_options")) : null,
    k: text("k"),
    min: text("min_similarity"),
    filter: text("filter"),
    asOf: text("as_of"),
    context: text("context"),
    grouped: text("group_by") === "document",
    features: text("explain") === "features",
    web: text("web") === "1",
  };
}

/** Returns the values of the address' query for a search; empty ones are left out by `useQuery`. */
export function writeAsked(asked) {
  return {
    q: asked.q.trim(),
    searcher: asked.searcher.name,
    options: writeOptions(asked.searcher),
    with: asked.other && (asked.other.name || DEFAULT),
    with_options: asked.other && writeOptions(asked.other),
    k: asked.k.trim(),
    min_similarity: asked.min.trim(),
    filter: asked.filter.trim(),
    as_of: asked.asOf,
    context: asked.context === "0" ? "" : asked.context,
    group_by: asked.grouped ? "document" : "",
    explain: asked.features ? "features" : "",
    web: asked.web ? "1" : "",
  };
}

/** The body of `POST …/search` for one of the searchers. The filter is an object by now: `explainFilter` comes first. */
export function bodyOf(asked, searcher) {
  const body = { query: asked.q, explain: asked.features ? "features" : true };
  if (searcher.name) Object.assign(body, { searcher: searcher.name, searcher_options: searcher.options });
  if (asked.k) body.k = numberOf(asked.k);
  if (asked.min) body.min_similarity = numberOf(asked.min);
  if (asked.filter) body.filter = JSON.parse(asked.filter);
  if (asked.asOf) body.as_of = asked.asOf;
  if (asked.context) body.context = numberOf(asked.context);
  if (asked.grouped) body.group_by = "document";
  if (asked.web) body.web = true;
  return body;
}

export const nameOf = (strategy) => strategy.name || "the default searcher";

/** Names that differ for two searchers, also where one is searched twice with other options. */
export function namesOf(first, second) {
  const names = [nameOf(first), nameOf(second)];
  if (names[0] !== names[1]) return names;
  return [first, second].map((one, i) => `${names[i]} ${writeOptions(one) || "as it is"}`);
}

/** Reads a searcher and its options; `NAME:key=value,…`, as the command line writes it, is understood, too. */
function strategyOf(text, options) {
  const [name, written] = text.split(/:(.*)/s);
  return { name, options: options ? readObject(options) : written ? readPairs(written) : {} };
}

function readPairs(written) {
  const pairs = written.split(/,(?![^[]*\])/).map((pair) => pair.split(/=(.*)/s));
  return Object.fromEntries(pairs.filter(([name, value]) => name && value !== undefined).map(([name, value]) => [name, readValue(value)]));
}

function readValue(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text.replace(/^\[(.*)\]$/s, "$1");
  }
}

function readObject(text) {
  const value = readValue(text);
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

const writeOptions = (strategy) => (Object.keys(strategy.options).length ? JSON.stringify(strategy.options) : "");

/** A text that is no number is sent as it is, so that the server says what is wrong. */
const numberOf = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
