/** An upload while it is sent, and the jobs that it began. */

import { html } from "../../vendor/preact.js";
import { bytes, number, plural } from "../../core/text.js";
import { continueUpload, dismissUpload, stopUpload } from "../../core/uploads.js";
import { Icon } from "../icons.js";
import { Link, viewOf } from "../../core/router.js";
import { FollowedJob } from "../jobs.js";
import { Notice } from "../states.js";
import { Progress } from "../tags.js";
import { Rejected } from "./estimate.js";

const SHOWN_JOBS = 5;

export function UploadStatus({ corpus, upload, ended }) {
  const { state, files, sentFiles, bytes: all, sentBytes, rejected, queued, jobs, error } = upload;
  const isBusy = state === "sending" || state === "waiting";
  const share = all ? sentBytes / all : files ? sentFiles / files : 1;
  return html`
    <section class="card stack" aria-label="Upload">
      <div class="row between"><h2>${TITLES[state]}</h2>${!isBusy && html`<button class="quiet icon-only" aria-label="Dismiss" onClick=${() => dismissUpload(corpus)}><${Icon} name="close" /></button>`}</div>
      ${state !== "done" && html`<${Progress} value=${share} label=${`${bytes(sentBytes)} of ${bytes(all)} · ${number(sentFiles)} of ${plural(files, "file")}${state === "waiting" ? " · the server is busy; it goes on by itself" : ""}`} />`}
      ${state === "done" && html`<p>${told(upload)}</p>`}
      <${Notice} error=${error} />
      ${rejected.length > 0 && html`<${Rejected} title=${`${plural(rejected.length, "file")} refused`} rejected=${rejected} />`}
      ${jobs.slice(-SHOWN_JOBS).map((id) => html`<${FollowedJob} key=${id} corpus=${corpus} id=${id} ended=${ended} />`)}
      ${jobs.length > SHOWN_JOBS && html`<p class="faint">and ${plural(jobs.length - SHOWN_JOBS, "earlier job")}, which the list of jobs has</p>`}
      ${state === "done" && queued > 0 && html`<p><${Link} class="button" to=${viewOf(corpus)}><${Icon} name="ask" /> Ask a question<//></p>`}
      ${isBusy && html`<p class="hint">Stay on this page until all is sent; what is sent already is indexed in any case.</p>`}
      ${state !== "done" && html`<div class="actions start">
        ${isBusy && html`<button onClick=${() => stopUpload(corpus)}>Stop</button>`}
        ${(state === "failed" || state === "stopped") && html`<button class="primary" onClick=${() => continueUpload(corpus)}>Go on</button>`}
      </div>`}
    </section>`;
}

const TITLES = { sending: "Sending files", waiting: "Sending files", done: "All files are sent", failed: "The upload was interrupted", stopped: "The upload is stopped" };

function told({ queued, unchanged, rejected }) {
  const parts = [`${plural(queued, "document")} to index`];
  if (unchanged) parts.push(`${number(unchanged)} unchanged or kept`);
  if (rejected.length) parts.push(`${number(rejected.length)} refused`);
  return `${parts.join(", ")}.`;
}
