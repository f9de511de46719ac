/** One job: how far it is while it runs, and what came of it. */

import { html, useState } from "../vendor/preact.js";
import { address, get, post, randomKey } from "../core/api.js";
import { useAction, useResource } from "../core/resource.js";
import { Link, viewOf } from "../core/router.js";
import { useSession } from "../core/session.js";
import { number, plural, seconds, time } from "../core/text.js";
import { Confirm } from "../parts/dialog.js";
import { JobProgress, countDocuments, isOver, jobTitle, outcome, useJob } from "../parts/jobs.js";
import { Failed, Loading, Notice } from "../parts/states.js";
import { State } from "../parts/tags.js";
import { View } from "../parts/view.js";

export default function Job({ corpus, id }) {
  const { job, error, again, change } = useJob(id);
  const mayWrite = useSession().may("write");
  if (error && !job) return html`<${Failed} error=${error} retry=${again} />`;
  if (!job) return html`<${Loading} what="the job" />`;
  return html`
    <${View} title=${jobTitle(job)} context=${corpus} actions=${mayWrite && html`<${Actions} job=${job} change=${change} again=${again} />`}>
      <section class="card stack" aria-label="Progress">
        <div class="row"><${State} state=${job.state} /><span class="faint">begun ${time(job.created_at)}${job.finished_at && `, ended ${time(job.finished_at)}`}</span></div>
        ${isOver(job) ? html`<p class="outcome">${outcome(job)}</p>` : html`<${JobProgress} job=${job} />`}
        ${job.state === "paused" && html`<${Paused} corpus=${corpus} job=${job} />`}
        ${error && html`<${Notice} error=${error} /><div><button onClick=${again}>Follow it again</button></div>`}
        <${Facts} job=${job} />
      </section>
      ${job.counts.failed > 0 && html`<${Failures} corpus=${corpus} job=${job} />`}
      <p class="row"><${Link} to=${viewOf(corpus, "documents")}>To the documents<//><${Link} to=${viewOf(corpus, "jobs")}>All jobs<//></p>
    <//>`;
}

function Facts({ job }) {
  const { all, done } = countDocuments(job);
  const took = job.started_at ? (new Date(job.finished_at || Date.now()) - new Date(job.started_at)) / 1000 : 0;
  const tokens = job.usage.prompt_tokens + job.usage.completion_tokens;
  const facts = [
    !isOver(job) && ["Documents", Object.entries(job.counts).map(([state, count]) => `${number(count)} ${state}`).join(" · ")],
    job.progress.passages_total > 0 && ["Passages", `${number(job.progress.passages)} of ${number(job.progress.passages_total)}`],
    took > 0 && [job.finished_at ? "Time" : "Running for", seconds(took)],
    took > 1 && done > 0 && all > 1 && ["Speed", `${(done / took).toFixed(1)} documents a second`],
    job.usage.calls > 0 && ["Language model", `${plural(job.usage.calls, "call")}, ${number(tokens)} tokens`],
    job.token_budget !== null && ["Budget", `${number(job.tokens)} of ${number(job.token_budget)} tokens`],
    job.fits && ["Schema", `${plural(job.fits.within, "fact")} within, ${number(job.fits.outside)} outside, ${number(job.fits.unnamed)} without a relation`],
    job.malformed_triples > 0 && ["Skipped", plural(job.malformed_triples, "malformed triple")],
  ].filter(Boolean);
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Why a job is paused: its budget, or a model that refuses; documents carry the reason. */
function Paused({ corpus, job }) {
  const waiting = useResource(["paused", job.id], (signal) => get(`/v1/corpora/${encodeURIComponent(corpus)}/documents`, { state: "paused", limit: 1 }, signal));
  const reason = waiting.value?.data[0]?.reason;
  return html`<p>${reason || "Its budget is used up."} Resume it to go on; nothing is sent again, and what is paid for is kept.</p>`;
}

function Failures({ corpus, job }) {
  const { failures, counts } = job;
  const documents = viewOf(corpus, "documents");
  return html`
    <section class="card stack" aria-labelledby="failures">
      <h2 id="failures">${plural(counts.failed, "document")} failed</h2>
      <dl class="reasons">${failures.map(({ key, reason }) => html`<div><dt dir="auto"><${Link} to=${address(documents, { key })}>${key}<//></dt><dd dir="auto">${reason}</dd></div>`)}</dl>
      <p>${counts.failed > failures.length && `These are the first ${failures.length}. `}<${Link} to=${address(documents, { state: "failed" })}>All documents that failed<//>, where they can be retried.</p>
    </section>`;
}

function Actions({ job, change, again }) {
  const [asks, setAsks] = useState(false);
  const [tokens, setTokens] = useState("");
  const at = (act) => `/v1/jobs/${encodeURIComponent(job.id)}/${act}`;
  const cancel = useAction(async () => {
    change(await post(at("cancel")));
    setAsks(false);
    again();
  });
  const resume = useAction(async () => {
    const body = tokens ? { budget: { tokens: Number(tokens) } } : {};
    change(await post(at("resume"), body, { headers: { "Idempotency-Key": randomKey() } }));
    again();
  });
  if (isOver(job)) return null;
  return html`
    ${job.state === "paused" && html`
      ${job.token_budget !== null && html`<label class="inline">Tokens <input type="number" min="1" step="1" value=${tokens} placeholder="as many again" onInput=${(event) => setTokens(event.target.value)} /></label>`}
      <button class="primary" disabled=${resume.busy} onClick=${resume.run}>Resume</button>`}
    <button onClick=${() => setAsks(true)}>Cancel the job…</button>
    <${Notice} error=${resume.error} dismiss=${resume.clear} />
    ${asks && html`
      <${Confirm} title="Cancel the job?" action="Cancel the job" busy=${cancel.busy} error=${cancel.error} confirm=${cancel.run} close=${() => setAsks(false)}>
        <p>${job.kind === "reindex" ? "The corpus stays as it was." : "What is finished stays. Documents that wait are not indexed; each can be retried later."}</p>
      <//>`}`;
}
