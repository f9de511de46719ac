/** The settings of a question: as they stand in the address, as they are sent, and as they are told. */

import { explainFilter } from "../../core/json.js";

/**
 * @typedef {{reasoner: {name: string, options: any}, searcher: {name: string, options: any}, k: string, filter: string, as_of: string,
 *   calls: string, tokens: string, seconds: string, unsupported: string, web: boolean, instructions: string}} Settings
 *   Texts as they are typed; empty: the server's default.
 */

const TEXTS = ["k", "filter", "as_of", "calls", "tokens", "seconds", "unsupported", "instructions"];
const NUMBERS = ["k", "calls", "tokens", "seconds"];

export const UNSUPPORTED = {
  infer: "give answers that are inferred from passages",
  abstain: "give only answers that passages state",
  memory: "also give answers from the model's memory",
};

/** Reads the settings of an address. @param {URLSearchParams} query @returns {Settings} */
export function readSettings(query) {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, query.get(name) || ""]));
  return { ...texts, web: query.get("web") === "1", reasoner: readStrategy(query, "reasoner"), searcher: readStrategy(query, "searcher") };
}

function readStrategy(query, kind) {
  let options = {};
  try {
    options = JSON.parse(query.get(`${kind}_options`) || "{}");
  } catch {
    // An address that was typed wrongly has no options.
  }
  return { name: query.get(kind) || "", options };
}

/** Returns settings as the values of an address; null for the defaults, which an address leaves out. */
export function toQuery(settings) {
  const changes = Object.fromEntries(TEXTS.map((name) => [name, settings[name] || null]));
  changes.web = settings.web ? "1" : null;
  for (const kind of ["reasoner", "searcher"]) {
    const { name, options } = settings[kind];
    changes[kind] = name || null;
    changes[`${kind}_options`] = name && Object.keys(options).length ? JSON.stringify(options) : null;
  }
  return changes;
}

/** Returns the body of a request. Texts that are no values are left out; `check` tells them. */
export function toRequest(question, settings) {
  const budget = dropEmpty({ calls: toNumber(settings.calls), tokens: toNumber(settings.tokens), seconds: toNumber(settings.seconds) });
  return dropEmpty({
    question,
    reasoner: settings.reasoner.name,
    options: settings.reasoner.name ? settings.reasoner.options : null,
    searcher: settings.searcher.name,
    searcher_options: settings.searcher.name ? settings.searcher.options : null,
    k: toNumber(settings.k),
    filter: settings.filter.trim() ? JSON.parse(settings.filter) : null,
    as_of: settings.as_of,
    budget,
    unsupported: settings.unsupported,
    instructions: settings.instructions.trim(),
    web: settings.web || null,
  });
}

/** Returns the settings of a request that was sent, to change it and ask again. @returns {Settings} */
export function fromRequest(request) {
  const text = (value) => (value === null || value === undefined ? "" : String(value));
  return {
    reasoner: { name: text(request.reasoner), options: request.options || {} },
    searcher: { name: text(request.searcher), options: request.searcher_options || {} },
    k: text(request.k),
    filter: request.filter ? JSON.stringify(request.filter) : "",
    as_of: text(request.as_of),
    calls: text(request.budget?.calls),
    tokens: text(request.budget?.tokens),
    seconds: text(request.budget?.seconds),
    unsupported: text(request.unsupported),
    instructions: text(request.instructions),
    web: Boolean(request.web),
  };
}

/** Says in words what is wrong with settings, by the name of the field. @returns {Record<string, string>} */
export function check(settings) {
  const wrong = {};
  for (const name of NUMBERS) {
    const value = settings[name];
    if (value === "") continue;
    const number = Number(value);
    const whole = name !== "seconds";
    if (!Number.isFinite(number) || number <= 0 || (whole && !Number.isInteger(number))) wrong[name] = `A ${whole ? "whole " : ""}number above 0 is needed, not “${value}”.`;
    else if (name === "k" && number > 1000) wrong[name] = "At most 1,000 passages can be retrieved.";
  }
  const filter = explainFilter(settings.filter);
  if (filter) wrong.filter = filter;
  return wrong;
}

/** Says what differs from the defaults: `["the reasoner par (k=3)", …]`. */
export function describe(settings) {
  const said = [];
  for (const kind of ["reasoner", "searcher"]) {
    const { name, options } = settings[kind];
    const more = Object.entries(options).map(([option, value]) => `${option}=${typeof value === "string" ? value : JSON.stringify(value)}`);
    if (name) said.push(`the ${kind} ${name}${more.length ? ` (${more.join(", ")})` : ""}`);
  }
  if (settings.k) said.push(`${settings.k} passages per retrieval`);
  if (settings.filter) said.push(`the filter ${settings.filter}`);
  if (settings.as_of) said.push(`in force on ${settings.as_of}`);
  const budget = ["calls", "tokens", "seconds"].filter((name) => settings[name]).map((name) => `${settings[name]} ${name}`);
  if (budget.length) said.push(`at most ${budget.join(", ")}`);
  if (settings.unsupported) said.push(UNSUPPORTED[settings.unsupported] || settings.unsupported);
  if (settings.web) said.push("the web may be searched");
  if (settings.instructions) said.push("instructions for the answer");
  return said;
}

const toNumber = (text) => (text === "" || !Number.isFinite(Number(text)) ? null : Number(text));

function dropEmpty(values) {
  const isEmpty = (value) => value === null || value === undefined || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => name === "filter" ? value !== null : !isEmpty(value)));
}
