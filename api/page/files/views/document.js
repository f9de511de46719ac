/** A document: what it is, its source with the passages as they were cut, and the page of a PDF beside it. */

import { html, useState } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { useResource } from "../core/resource.js";
import { Link, useQuery, viewOf } from "../core/router.js";
import { useSession } from "../core/session.js";
import { FollowedJob } from "../parts/jobs.js";
import { DocumentAccess } from "../parts/source/access.js";
import { DocumentActions } from "../parts/source/actions.js";
import { Details } from "../parts/source/details.js";
import { Source } from "../parts/source/source.js";
import { Empty, Failed, Loading } from "../parts/states.js";
import { State } from "../parts/tags.js";
import { View } from "../parts/view.js";

export default function Document({ corpus, id }) {
  const session = useSession();
  const [query, change] = useQuery();
  const path = corpusPath(corpus, "documents", id);
  const document = useResource(["document", path], (signal) => get(path, {}, signal));
  const [jobs, setJobs] = useState([]);
  const [gone, setGone] = useState(null);
  const started = (job) => {
    setJobs((before) => [job, ...before.filter((one) => one !== job)].slice(0, 3));
    document.reload();
  };
  if (gone) return html`<${Gone} corpus=${corpus} name=${gone.name} job=${gone.job} />`;
  if (document.error?.status === 404) return html`<${Absent} corpus=${corpus} />`;
  if (document.error && !document.value) return html`<${Failed} error=${document.error} retry=${document.reload} />`;
  if (!document.value) return html`<${Loading} what="the document" />`;
  const shown = document.value;
  const name = shown.title || shown.key;
  const isOutside = !shown.readable || !shown.enabled;
  return html`
    <${View} title=${name} context=${corpus} wide actions=${html`<${DocumentActions} path=${path} document=${shown} mayWrite=${session.may("write")} started=${started} changed=${document.reload} deleted=${(job) => setGone({ name, job })} />`}>
      <p class="row under-title"><${State} state=${shown.state} />${!shown.enabled && html`<span class="tag fair">disabled</span>`}<span class="faint" dir="auto">${shown.key}</span></p>
      <${DocumentAccess} path=${path} document=${shown} mayChange=${session.may("admin")} changed=${document.reload} />
      ${shown.reason && html`<div class="notice failed"><div><strong>${shown.state === "paused" ? "It is paused." : "It could not be indexed."}</strong> <span dir="auto">${shown.reason}</span></div></div>`}
      ${isOutside && shown.state !== "failed" && html`<p class="hint">${shown.enabled ? "No search sees it yet: it is not indexed." : "No search, question or walk in the graph sees it until it is enabled."}</p>`}
      ${jobs.map((job) => html`<${FollowedJob} key=${job} corpus=${corpus} id=${job} ended=${document.reload} />`)}
      <${Details} path=${path} document=${shown} mayWrite=${session.may("write")} started=${started} />
      <${Source} key=${shown.content_hash} corpus=${corpus} path=${path} document=${shown} query=${query} change=${change} />
    <//>`;
}

function Gone({ corpus, name, job }) {
  return html`
    <${View} title="The document is gone" context=${corpus}>
      <p><bdi>${name}</bdi> is deleted: no search, question or walk in the graph sees it any more. Answers that are kept and stood on it say that they are withdrawn.</p>
      ${job && html`<${FollowedJob} corpus=${corpus} id=${job} />`}
      <p><${Link} class="button" to=${viewOf(corpus, "documents")}>To the documents<//></p>
    <//>`;
}

function Absent({ corpus }) {
  return html`
    <${View} title="This document is not here" context=${corpus}>
      <${Empty} icon="warning" title="Nothing has this address" text="It was deleted or never there, or this key may not see it."><${Link} class="button" to=${viewOf(corpus, "documents")}>To the documents<//><//>
    <//>`;
}
