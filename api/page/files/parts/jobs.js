/** Jobs: what they do, how far they are, and how they ended. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { follow, get } from "../core/api.js";
import { isAbort } from "../core/problem.js";
import { Link, viewOf } from "../core/router.js";
import { bytes, number, plural, seconds } from "../core/text.js";
import { announce } from "./announce.js";
import { Progress, State } from "./tags.js";

const TITLES = { ingest: "Adding documents", delete: "Deleting documents", drop: "Deleting the corpus", reindex: "Reindexing", restore: "Restoring" };
const ORDER = ["indexed", "deleted", "unchanged", "skipped", "cancelled", "failed"];
const OVER = ["done", "failed", "cancelled"];

export const jobTitle = (job) => TITLES[job.kind] || job.kind;
export const isOver = (job) => OVER.includes(job.state);
export const isSettled = (job) => isOver(job) || job.state === "paused";

/**
 * Follows a job until it is over or paused.
 *
 * @param {string} id
 * @param {(job: any) => void} [ended] Called when it is so, also if it was so before it was first read: whoever began
 *   the job may show what the job has changed since.
 * @returns {{job: any, error: any, again: () => void, change: (job: any) => void}} `again` follows it anew.
 */
export function useJob(id, ended) {
  const [job, setJob] = useState(null);
  const [error, setError] = useState(null);
  const [round, setRound] = useState(0);
  const latest = useRef(ended);
  latest.current = ended;
  useEffect(() => {
    const abort = new AbortController();
    let ran = false;
    const receive = ({ kind, data }) => {
      if (kind === "error") {
        setError(Object.assign(new Error(data.detail), data));
        return;
      }
      setJob(data);
      setError(null);
      ran ||= !isSettled(data);
      if (kind !== "end") return;
      if (ran) announce(`${jobTitle(data)}: ${data.state}.`);
      latest.current?.(data);
    };
    setError(null);
    (async () => {
      try {
        setJob(await get(`/v1/jobs/${encodeURIComponent(id)}`, {}, abort.signal));
        await follow(`/v1/jobs/${encodeURIComponent(id)}/events`, receive, { signal: abort.signal, ends: ["end", "error"] });
      } catch (failure) {
        if (!isAbort(failure) && !abort.signal.aborted) setError(failure);
      }
    })();
    return () => abort.abort();
  }, [id, round]);
  return { job, error, again: () => setRound((before) => before + 1), change: setJob };
}

/** The documents of a job that need nothing more, and all of them. */
export function countDocuments(job) {
  const entries = Object.entries(job.counts);
  const all = entries.reduce((sum, [, count]) => sum + count, 0);
  const open = entries.filter(([state]) => ["queued", "loading", "extracting", "writing", "deleting", "paused"].includes(state));
  return { all, done: all - open.reduce((sum, [, count]) => sum + count, 0) };
}

/** How far a job is: a bar while it runs, and words. */
export function JobProgress({ job }) {
  const { all, done } = countDocuments(job);
  const { bytes: size, bytes_total: total, passages, passages_total: cut, seconds_left: left } = job.progress;
  const share = shareOf(job);
  const words = [
    share !== null && `${Math.floor(100 * share)} %`,
    `${number(done)} of ${plural(all, "document")}`,
    cut > 0 && `${number(passages)} of ${plural(cut, "passage")}${done < all && cut > 0 ? " so far" : ""}`,
    total > 0 && `${bytes(size)} of ${bytes(total)}`,
    !isSettled(job) && left !== null && `about ${seconds(left)} left`,
    job.state === "paused" && all > done && `${plural(all - done, "document")}${total > size ? `, ${bytes(total - size)}` : ""} left`,
  ].filter(Boolean);
  if (isOver(job)) return html`<p class="faint">${outcome(job)}</p>`;
  return html`<${Progress} value=${job.state === "queued" ? null : share} label=${job.state === "queued" ? waiting(job) : words.join(" · ")} />`;
}

/** The share of a job that is done, by bytes if they are known; below 1 while documents are not done. */
function shareOf(job) {
  const { all, done } = countDocuments(job);
  const { bytes: size, bytes_total: total } = job.progress;
  const share = total ? size / total : all ? done / all : null;
  return share === null || done === all ? share : Math.min(share, 0.99);
}

/** What a queued job waits for, such as "waits for a worker, 3 documents (41 MB) ahead of it". */
function waiting({ ahead }) {
  return ahead && ahead.documents ? `waits for a worker, ${plural(ahead.documents, "document")} (${bytes(ahead.bytes)}) ahead of it` : "waits for a worker";
}

/** What came of a job, such as "12 indexed · 1 failed". */
export function outcome(job) {
  const parts = Object.entries(job.counts).filter(([, count]) => count).sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
  return parts.length ? parts.map(([state, count]) => `${number(count)} ${state}`).join(" · ") : "There was nothing to do.";
}

/** One line about a job that is followed, with a link to it. */
export function FollowedJob({ corpus, id, ended }) {
  const { job, error } = useJob(id, ended);
  if (error) return html`<p class="hint">A job cannot be followed: ${error.message}</p>`;
  if (!job) return html`<p class="faint">Loading the job…</p>`;
  return html`
    <div class="followed">
      <div class="row"><${Link} to=${viewOf(corpus, "jobs", id)}>${jobTitle(job)}<//><${State} state=${job.state} /></div>
      <${JobProgress} job=${job} />
      ${job.counts.failed > 0 && html`<${Link} to=${`${viewOf(corpus, "documents")}?state=failed`}>See what failed<//>`}
    </div>`;
}
