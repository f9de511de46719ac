/** Filters of documents as a list of plain conditions, and as the JSON that the server takes. */

import { isObject, readJson } from "./json.js";

/** The conditions by their names in JSON. `needsValue` is false where the field alone says it. */
export const CONDITIONS = [
  ["$eq", "is"],
  ["$ne", "is not"],
  ["$gte", "is at least"],
  ["$lte", "is at most"],
  ["$gt", "is more than"],
  ["$lt", "is less than"],
  ["$prefix", "begins with"],
  ["$contains", "contains"],
  ["$exists", "is there"],
];
const KNOWN = new Set(CONDITIONS.map(([name]) => name));

export const needsValue = (condition) => condition !== "$exists";

/** @typedef {{field: string, condition: string, value: string}} Condition `value` as it is typed. */

/**
 * Reads the conditions of a filter.
 *
 * @param {string} text JSON, or nothing.
 * @returns {Condition[] | null} null for a filter that is more than a list of conditions, and for what is no JSON.
 */
export function readConditions(text) {
  if (!text.trim()) return [];
  const { value, wrong } = readJson(text);
  return wrong || !isObject(value) ? null : conditionsOf(value);
}

function conditionsOf(filter) {
  const found = [];
  for (const [field, asked] of Object.entries(filter)) {
    const some = field === "$and" ? ofAll(asked) : ofField(field, asked);
    if (!some) return null;
    found.push(...some);
  }
  return found;
}

function ofAll(filters) {
  if (!Array.isArray(filters) || !filters.every(isObject)) return null;
  const each = filters.map(conditionsOf);
  return each.includes(null) ? null : each.flat();
}

function ofField(field, asked) {
  if (field === "$or" || field === "$not") return null;
  if (!isObject(asked)) return isPlain(asked) ? [{ field, condition: "$eq", value: typed(asked) }] : null;
  const entries = Object.entries(asked);
  const isSimple = entries.every(([name, value]) => KNOWN.has(name) && isPlain(value) && (needsValue(name) || value === true));
  return isSimple ? entries.map(([condition, value]) => ({ field, condition, value: needsValue(condition) ? typed(value) : "" })) : null;
}

const isPlain = (value) => ["string", "number", "boolean"].includes(typeof value);

/** A text that would be read as another value stands in quotes. */
const typed = (value) => (typeof value === "string" && valueOf(value) === value ? value : JSON.stringify(value));

/** What was typed: a number, true or false, a text in quotes, or a text. */
function valueOf(text) {
  const trimmed = text.trim();
  const { value, wrong } = readJson(trimmed);
  return !wrong && isPlain(value) ? value : trimmed;
}

/** Returns conditions as JSON, without conditions that are not complete. @param {Condition[]} conditions */
export function writeConditions(conditions) {
  const each = conditions.filter(isComplete).map(({ field, condition, value }) => [field.trim(), condition, needsValue(condition) ? valueOf(value) : true]);
  if (!each.length) return "";
  const places = new Set(each.map(([field, condition]) => JSON.stringify([field, condition])));
  if (places.size < each.length) return JSON.stringify({ $and: each.map(([field, condition, value]) => ({ [field]: { [condition]: value } })) });
  const byField = {};
  for (const [field, condition, value] of each) byField[field] = { ...byField[field], [condition]: value };
  return JSON.stringify(Object.fromEntries(Object.entries(byField).map(([field, asked]) => [field, isEqual(asked) ? asked.$eq : asked])));
}

const isEqual = (asked) => Object.keys(asked).join() === "$eq";

const isComplete = ({ field, condition, value }) => field.trim() !== "" && (!needsValue(condition) || value.trim() !== "");
