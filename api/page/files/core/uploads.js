/** Uploads: files are sent in batches that the server takes, one after the other, also while the reader looks elsewhere. */

import { useEffect, useState } from "../vendor/preact.js";
import { corpusPath, randomKey } from "./api.js";
import { Problem, unreachable } from "./problem.js";

const MOST_FILES = 1000;
const MOST_BYTES = 64_000_000;
const PAUSES = [1, 4, 10]; // seconds before a batch is sent again that got no answer

/** @typedef {{file: File, key: string}} Picked */

/**
 * @typedef {object} Upload
 * @property {"sending" | "waiting" | "done" | "failed" | "stopped"} state
 * @property {number} files How many there are.
 * @property {number} sentFiles
 * @property {number} bytes
 * @property {number} sentBytes
 * @property {string[]} jobs Ids of the jobs that the batches began.
 * @property {number} queued Documents that wait for a worker.
 * @property {number} unchanged
 * @property {{source: string, reason: string}[]} rejected
 * @property {any} error
 */

const uploads = new Map();
const listeners = new Set();

/** The upload into a corpus that runs, or the last one; null without any. */
export function useUpload(corpus) {
  const [, draw] = useState(0);
  useEffect(() => {
    const listen = () => draw((before) => before + 1);
    listeners.add(listen);
    return () => listeners.delete(listen);
  }, []);
  return uploads.get(corpus)?.state || null;
}

/**
 * Begins to send files into a corpus.
 *
 * @param {string} corpus
 * @param {Picked[]} picked
 * @param {{onConflict: string}} options
 */
export function beginUpload(corpus, picked, { onConflict }) {
  const upload = { corpus, onConflict, batches: makeBatches(picked), abort: null, request: null };
  uploads.set(corpus, upload);
  const bytes = picked.reduce((sum, one) => sum + one.file.size, 0);
  change(upload, { state: "sending", files: picked.length, sentFiles: 0, bytes, sentBytes: 0, jobs: [], queued: 0, unchanged: 0, rejected: [], error: null });
  return run(upload);
}

/** Goes on with an upload that failed or was stopped. The batch that failed has the same key: it is taken once. */
export function continueUpload(corpus) {
  const upload = uploads.get(corpus);
  if (upload && upload.state.state !== "sending") run(upload);
}

export function stopUpload(corpus) {
  const upload = uploads.get(corpus);
  change(upload, { state: "stopped" });
  upload.request?.abort();
}

export function dismissUpload(corpus) {
  uploads.delete(corpus);
  for (const listen of listeners) listen();
}

/** Groups files. A large file is alone, so that a limit which it exceeds concerns no other. */
export function makeBatches(picked) {
  const batches = [];
  let batch = null;
  for (const one of picked) {
    if (!batch || batch.files.length >= MOST_FILES || batch.bytes + one.file.size > MOST_BYTES) {
      batch = { files: [], bytes: 0, key: randomKey() };
      batches.push(batch);
    }
    batch.files.push(one);
    batch.bytes += one.file.size;
  }
  return batches;
}

function change(upload, changes) {
  upload.state = { ...upload.state, ...changes };
  for (const listen of listeners) listen();
}

async function run(upload) {
  change(upload, { state: "sending", error: null });
  addEventListener("beforeunload", warn);
  try {
    while (upload.batches.length && upload.state.state !== "stopped") {
      await sendNext(upload);
    }
    if (!upload.batches.length) change(upload, { state: "done" });
  } catch (error) {
    if (upload.state.state !== "stopped") change(upload, { state: "failed", error });
  } finally {
    removeEventListener("beforeunload", warn);
  }
  return upload.state;
}

async function sendNext(upload) {
  const [batch] = upload.batches;
  const before = upload.state;
  const progress = (sent) => change(upload, { sentBytes: before.sentBytes + Math.min(sent, batch.bytes) });
  try {
    const answer = await sendPatiently(upload, batch, progress);
    upload.batches.shift();
    const states = answer.documents;
    change(upload, {
      sentBytes: before.sentBytes + batch.bytes,
      sentFiles: before.sentFiles + batch.files.length,
      jobs: [...before.jobs, answer.job.id],
      queued: before.queued + states.filter((one) => !one.unchanged && !one.skipped).length,
      unchanged: before.unchanged + states.filter((one) => one.unchanged || one.skipped).length,
      rejected: [...before.rejected, ...answer.rejected],
    });
  } catch (error) {
    change(upload, { sentBytes: before.sentBytes });
    if (!(error instanceof Problem)) throw error;
    const isTooLarge = error.status === 413;
    if (isTooLarge && batch.files.length > 1) {
      upload.batches.splice(0, 1, ...halve(batch));
      return;
    }
    const refused = error.errors.filter((one) => one.type === "rejected");
    if (!isTooLarge && !refused.length) throw error;
    upload.batches.shift();
    const rejected = isTooLarge ? [{ source: batch.files[0].key, reason: error.message }] : refused.map((one) => ({ source: one.field, reason: one.message }));
    change(upload, {
      sentBytes: before.sentBytes + batch.bytes,
      sentFiles: before.sentFiles + batch.files.length,
      rejected: [...before.rejected, ...rejected],
    });
  }
}

function halve(batch) {
  const middle = Math.ceil(batch.files.length / 2);
  return [batch.files.slice(0, middle), batch.files.slice(middle)].map((files) => ({
    files,
    bytes: files.reduce((sum, one) => sum + one.file.size, 0),
    key: randomKey(),
  }));
}

/** Sends a batch; again after a pause if no answer came, or if the server says when. */
async function sendPatiently(upload, batch, progress) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      change(upload, { state: "sending" });
      return await send(upload, batch, progress);
    } catch (error) {
      const mayPass = error instanceof Problem && [0, 409, 429, 502, 503].includes(error.status) && !error.errors.length;
      if (!mayPass || attempt >= PAUSES.length || upload.state.state === "stopped") throw error;
      change(upload, { state: "waiting" });
      await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter || PAUSES[attempt])));
      if (upload.state.state === "stopped") throw error;
    }
  }
}

/** `fetch` does not tell how much of a body is sent. */
function send(upload, batch, progress) {
  const request = new XMLHttpRequest();
  upload.request = request;
  return new Promise((resolve, reject) => {
    request.open("POST", corpusPath(upload.corpus, "documents"));
    request.setRequestHeader("Idempotency-Key", batch.key);
    request.responseType = "text";
    request.upload.onprogress = (event) => progress(event.total ? (batch.bytes * event.loaded) / event.total : 0);
    request.onload = () => {
      const body = parse(request.responseText);
      const retry = Number(request.getResponseHeader("Retry-After"));
      if (request.status >= 200 && request.status < 300 && body) resolve(body);
      else reject(new Problem(request.status, body || {}, retry > 0 ? retry : null));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    request.send(formOf(batch.files, { on_conflict: upload.onConflict }));
  });
}

/** The body of an upload, or of an estimate. A quote in a name does not survive the form, so the manifest has the key. */
export function formOf(picked, fields = {}) {
  const form = new FormData();
  const manifest = {};
  for (const { file, key } of picked) {
    const name = key.replaceAll('"', "'");
    if (name !== key) manifest[name] = { key };
    form.append("file", file, name);
  }
  if (Object.keys(manifest).length) form.append("manifest", JSON.stringify(manifest));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function warn(event) {
  event.preventDefault();
}
