/** The jobs of a corpus, the newest first. */

import { html } from "../vendor/preact.js";
import { get } from "../core/api.js";
import { usePages } from "../core/paging.js";
import { Link, useQuery, viewOf } from "../core/router.js";
import { time } from "../core/text.js";
import { JobProgress, isOver, jobTitle, outcome, useJob } from "../parts/jobs.js";
import { Empty, Failed, Loading, Notice } from "../parts/states.js";
import { State } from "../parts/tags.js";
import { View } from "../parts/view.js";

const STATES = ["queued", "running", "paused", "done", "failed", "cancelled"];
const FOLLOWED = 4;

export default function Jobs({ corpus }) {
  const [query, change] = useQuery();
  const state = query.get("state") || "";
  const list = usePages(["jobs", corpus, state], (cursor, signal) => get("/v1/jobs", { corpus, state, limit: 50, cursor }, signal));
  const { rows } = list;
  const followed = rows.filter((one) => !isOver(one)).slice(0, FOLLOWED).map((one) => one.id);
  return html`
    <${View} title="Jobs" context=${corpus}>
      <div class="filters"><div class="field"><label for="job-state">State</label>
        <select id="job-state" value=${state} onChange=${(event) => change({ state: event.target.value })}>
          <option value="">all</option>${STATES.map((one) => html`<option value=${one} selected=${one === state}>${one}</option>`)}
        </select></div></div>
      ${list.state === "failed" && !rows.length && html`<${Failed} error=${list.error} retry=${list.refresh} />`}
      ${list.state === "loading" && !rows.length && html`<${Loading} what="the jobs" />`}
      ${list.state === "ready" && !rows.length && html`
        <${Empty} icon="jobs" title=${state ? `No job is ${state}` : "No jobs yet"} text="Adding, deleting and reindexing documents are jobs: each can be left, and found again here.">
          ${state ? html`<button onClick=${() => change({ state: "" })}>Show all jobs</button>` : html`<${Link} class="button" to=${viewOf(corpus, "documents")}>To the documents<//>`}
        <//>`}
      ${rows.length > 0 && html`
        <ul class="plain card jobs">${rows.map((job) => html`<li key=${job.id}>${followed.includes(job.id) ? html`<${LiveJob} corpus=${corpus} known=${job} />` : html`<${JobLine} corpus=${corpus} job=${job} />`}</li>`)}</ul>`}
      ${!list.isWhole && rows.length > 0 && list.state === "ready" && html`<div><button onClick=${list.more}>Show more</button></div>`}
      ${list.state === "failed" && rows.length > 0 && html`<${Notice} error=${list.error} />`}
    <//>`;
}

function LiveJob({ corpus, known }) {
  const { job } = useJob(known.id);
  return html`<${JobLine} corpus=${corpus} job=${job || known} />`;
}

function JobLine({ corpus, job }) {
  return html`
    <div class="job-line">
      <div class="row"><${Link} to=${viewOf(corpus, "jobs", job.id)}>${jobTitle(job)}<//><${State} state=${job.state} /><span class="faint">${time(job.created_at)}</span></div>
      ${isOver(job) ? html`<p class=${job.counts.failed ? "wrong" : "faint"}>${outcome(job)}</p>` : html`<${JobProgress} job=${job} />`}
    </div>`;
}
