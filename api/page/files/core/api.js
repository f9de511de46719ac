/** Requests to the server of this page. Paths begin with `/v1`; the session's cookie goes with each of them. */

import { Problem, isAbort, problemOf, unreachable } from "./problem.js";
import { readEvents } from "./events.js";

/** Called for each response 401, so that the page asks for a key. */
let refused = () => {};

/** @param {() => void} call */
export function onRefused(call) {
  refused = call;
}

/**
 * Sends a request and returns the JSON of its response, or null if it has none.
 *
 * @param {string} method
 * @param {string} path
 * @param {{query?: Record<string, any>, body?: any, headers?: Record<string, string>, signal?: AbortSignal}} options
 * @throws {Problem}
 */
export async function call(method, path, options = {}) {
  const response = await send(method, path, options);
  if (response.status === 204) return null;
  const type = response.headers.get("Content-Type") || "";
  return type.includes("json") ? response.json() : response.text();
}

export const get = (path, query, signal) => call("GET", path, { query, signal });
export const post = (path, body, options = {}) => call("POST", path, { ...options, body: body ?? {} });
export const patch = (path, body) => call("PATCH", path, { body });
export const remove = (path) => call("DELETE", path);

/**
 * Follows a stream of server-sent events until it ends. Goes on from the last event if the connection breaks.
 *
 * @param {string} path
 * @param {(event: {kind: string, data: any, id: string}) => void} receive
 * @param {{signal?: AbortSignal, ends?: string[]}} options `ends`: the events after which nothing follows.
 */
export async function follow(path, receive, { signal, ends = ["answer", "error", "done"] } = {}) {
  let last = "";
  for (let attempt = 0; ; attempt += 1) {
    let ended = false;
    try {
      const response = await send("GET", path, { signal, headers: last ? { "Last-Event-ID": last } : {} });
      for await (const event of readEvents(response.body)) {
        attempt = 0;
        last = event.id || last;
        receive(event);
        if (ends.includes(event.kind)) {
          ended = true;
          break;
        }
      }
      if (ended || response.status === 204) return;
    } catch (error) {
      if (isAbort(error)) throw error;
      if (error instanceof Problem && error.status > 0 && error.status < 500 && error.status !== 429) throw error;
      if (attempt >= 5) throw error instanceof Problem ? error : unreachable();
    }
    await wait(Math.min(8000, 300 * 2 ** attempt), signal);
  }
}

/**
 * Sends a request and returns its response, whatever it holds.
 *
 * @throws {Problem} for a status of 400 and more, and where no response comes.
 */
export async function send(method, path, { query, body, headers = {}, signal } = {}) {
  const isForm = body instanceof FormData;
  let response;
  try {
    response = await fetch(address(path, query), {
      method,
      signal,
      credentials: "same-origin",
      headers: body === undefined || isForm ? headers : { "Content-Type": "application/json", ...headers },
      body: body === undefined || isForm ? body : JSON.stringify(body),
    });
  } catch (error) {
    throw isAbort(error) ? error : unreachable();
  }
  if (response.ok) return response;
  if (response.status === 401 && path !== "/v1/session") refused();
  throw await problemOf(response);
}

/** Returns the address of a path with its query; values that are empty, null or undefined are left out. */
export function address(path, query = {}) {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** Returns the path of a corpus' resource: `corpusPath("reports", "documents", id)`. */
export function corpusPath(corpus, ...parts) {
  return ["/v1/corpora", corpus, ...parts].map((part, i) => (i ? encodeURIComponent(part) : part)).join("/");
}

/** A random key for `Idempotency-Key`. `crypto.randomUUID` is missing where the page is not loaded securely. */
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function wait(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
