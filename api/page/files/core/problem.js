/** What goes wrong between the page and the server, in words. */

/** A refused or failed request. `detail` is the server's own sentence, which names the thing and the remedy. */
export class Problem extends Error {
  /**
   * @param {number} status The HTTP status; 0 if no response came.
   * @param {{title?: string, detail?: string, errors?: {field?: string, message?: string}[], request_id?: string,
   *   code?: string}} body
   * @param {number | null} retryAfter Seconds.
   */
  constructor(status, body = {}, retryAfter = null) {
    super(body.detail || body.title || `The server answered ${status}.`);
    this.name = "Problem";
    this.status = status;
    this.title = body.title || "";
    this.detail = this.message;
    this.errors = body.errors || [];
    this.requestId = body.request_id || "";
    this.code = body.code || "";
    this.retryAfter = retryAfter;
  }
}

/** No response came: the server is down, or the network is. */
export function unreachable() {
  return new Problem(0, { title: "No answer", detail: "The server does not answer. Is it running, and is this machine connected to it?" });
}

/** @param {Response} response */
export async function problemOf(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    // A proxy answers with a page of its own; the status says what it means.
  }
  const retry = Number(response.headers.get("Retry-After"));
  return new Problem(response.status, body, Number.isFinite(retry) && retry > 0 ? retry : null);
}

/** True for an error that only says that the page no longer waits for the response. */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}
