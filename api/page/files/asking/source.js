/** Requests about questions. A question is a resource: it is answered by the server whether the page waits or not. */

import { call, corpusPath, follow, get, patch, post, remove } from "../core/api.js";

/**
 * @typedef {{id: string, question: string, request: any, state: "running" | "done" | "failed" | "cancelled",
 *   asked_at: string, answered_at: string | null, generation: number | null, answer: any, problem: any, kept: boolean,
 *   again_of: string | null, follows: string | null, verification: any, outdated: boolean, withdrawn?: boolean}} Question
 */

/** The events after which a stream has nothing more. */
const ENDS = ["answer", "error"];

const path = (corpus, ...parts) => corpusPath(corpus, "questions", ...parts);

let justAsked = null; // its view follows, and need not read it again

/** Asks, and returns the question, which runs. @returns {Promise<Question>} */
export async function ask(corpus, request) {
  justAsked = await post(path(corpus), request);
  return justAsked;
}

/** The question as it was asked just now, once; else as the server has it. @returns {Promise<Question>} */
export async function takeQuestion(corpus, id, signal) {
  const taken = justAsked;
  justAsked = null;
  return taken?.id === id ? taken : readQuestion(corpus, id, signal);
}

/** @returns {Promise<Question>} */
export const readQuestion = (corpus, id, signal) => get(path(corpus, id), {}, signal);

/** The newest questions first, without their steps. @returns {Promise<{data: Question[], next_cursor: string | null}>} */
export const listQuestions = (corpus, query, signal) => get(path(corpus), query, signal);

/** Receives the events of a question from its beginning, until it is answered or has failed. */
export const followQuestion = (corpus, id, receive, signal) => follow(`${path(corpus, id)}/events`, receive, { signal, ends: ENDS });

export const cancelQuestion = (corpus, id) => post(path(corpus, id, "cancel"));
export const keepQuestion = (corpus, id, kept) => patch(path(corpus, id), { kept });
export const deleteQuestion = (corpus, id) => remove(path(corpus, id));

/** Asks the same question again, and returns the new one. @returns {Promise<Question>} */
export const askAgain = (corpus, id) => post(path(corpus, id, "again"));

/** What changed since the question that this one asks again. */
export const readChanges = (corpus, id, signal) => get(path(corpus, id, "changes"), {}, signal);

/** Starts the verification of an answer; its events come on the question's stream. */
export const verifyQuestion = (corpus, id) => post(path(corpus, id, "verify"));

/** One passage with its neighbours. */
export const readPassage = (corpus, id, signal) => get(corpusPath(corpus, "chunks", id), {}, signal);

export const readDocument = (corpus, id, signal) => get(corpusPath(corpus, "documents", id), {}, signal);

/** The address of the image of a PDF's page with the quote marked. */
export function pageImage(corpus, documentId, page, quote, width) {
  const query = new URLSearchParams({ width: String(width), mark: quote });
  return `${corpusPath(corpus, "documents", documentId, "pages", String(page), "image")}?${query}`;
}

/** An entity by its exact name, with the facts that passages assert about it; null if there is none. */
export async function readFactsOf(corpus, name, signal) {
  const found = await get(corpusPath(corpus, "entities"), { query: name, limit: 1 }, signal);
  const best = found.data[0];
  if (!best || !["exact", "spelling"].includes(best.match)) return null;
  return call("GET", corpusPath(corpus, "entities", best.entity.id), { query: { facts: 200, passages: 0 }, signal });
}
