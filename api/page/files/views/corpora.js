/** The corpora of this server: list, create, rename, delete. */

import { html, useState } from "../vendor/preact.js";
import { corpusPath, get, patch, remove } from "../core/api.js";
import { usePages } from "../core/paging.js";
import { useAction, useResource } from "../core/resource.js";
import { Link, navigate, viewOf } from "../core/router.js";
import { useSession } from "../core/session.js";
import { plural, time } from "../core/text.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icons.js";
import { NewCorpus } from "../parts/library/new_corpus.js";
import { Empty, Failed, Loading, Notice } from "../parts/states.js";
import { View } from "../parts/view.js";

const COUNTED = 100; // failed documents of a corpus

export default function Corpora() {
  const session = useSession();
  const mayAdmin = session.may("admin");
  const [makes, setMakes] = useState(false);
  const list = usePages("corpora", (cursor, signal) => get("/v1/corpora", { limit: 200, cursor }, signal));
  const { rows } = list;
  const isEmpty = list.state === "ready" && !rows.length;
  const made = (corpus) => navigate(viewOf(corpus.name, "documents"));
  return html`
    <${View} title=${isEmpty ? "Welcome" : "Corpora"} actions=${mayAdmin && rows.length > 0 && html`<button class="primary" onClick=${() => setMakes(true)}>New corpus</button>`}>
      ${list.state === "failed" && html`<${Failed} error=${list.error} retry=${list.refresh} />`}
      ${list.state === "loading" && !rows.length && html`<${Loading} what="the corpora" />`}
      ${isEmpty && html`<${First} mayAdmin=${mayAdmin} made=${made} />`}
      <ul class="cards">${rows.map((corpus) => html`<li key=${corpus.id}><${CorpusCard} corpus=${corpus} mayAdmin=${mayAdmin} changed=${list.refresh} /></li>`)}</ul>
      ${!list.isWhole && rows.length > 0 && html`<div><button onClick=${list.more}>Show more</button></div>`}
      ${makes && html`<${Dialog} title="New corpus" close=${() => setMakes(false)}><${NewCorpus} made=${made} close=${() => setMakes(false)} /><//>`}
    <//>`;
}

/** What somebody sees who has nothing yet. */
function First({ mayAdmin, made }) {
  if (!mayAdmin) return html`<${Empty} title="No corpus" text="This key sees no corpus. Whoever runs the server creates one, or gives this key the right to it." />`;
  return html`
    <section class="card stack first" aria-labelledby="first">
      <h2 id="first">Make the first corpus</h2>
      <p>A corpus holds documents that are searched together, such as the papers of a project. Give it a name, drop files in, and ask.</p>
      <${NewCorpus} made=${made} />
    </section>`;
}

function CorpusCard({ corpus, mayAdmin, changed }) {
  const detail = useResource(["corpus", corpus.id, corpus.generation], (signal) => get(corpusPath(corpus.name), {}, signal));
  const [shows, setShows] = useState("");
  const counts = detail.value?.counts;
  const close = () => setShows("");
  const done = () => {
    close();
    changed();
  };
  return html`
    <article class="card corpus">
      <h2><${Link} to=${viewOf(corpus.name)}>${corpus.name}<//></h2>
      <p>${counts?.documents === 0 ? "No documents yet" : counts ? `${plural(counts.documents, "document")}, ${plural(counts.chunks, "passage")}, ${plural(counts.entities, "name")}, ${plural(counts.facts, "fact")}` : detail.state === "loading" ? "…" : "Its size is not told to this key."}</p>
      <${FailedDocuments} corpus=${corpus} />
      <p class="faint">made ${time(corpus.created_at)}${corpus.extractor === "none" ? "" : ` · ${describeExtractor(corpus.extractor)}`}</p>
      ${!corpus.embedding.dimension && html`<p class="faint">without vectors: found by words and names</p>`}
      ${corpus.extractor === "none" && html`<p class="faint">without a graph</p>`}
      <div class="actions start">
        <${Link} class="button" to=${viewOf(corpus.name, "documents")}>Documents<//>
        ${mayAdmin && html`
          <button class="quiet" aria-label=${`Rename ${corpus.name}`} onClick=${() => setShows("rename")}>Rename…</button>
          <button class="quiet" aria-label=${`Delete ${corpus.name}`} onClick=${() => setShows("delete")}>Delete…</button>`}
      </div>
      ${shows === "rename" && html`<${Rename} corpus=${corpus} done=${done} close=${close} />`}
      ${shows === "delete" && html`<${Deletion} corpus=${corpus} counts=${counts} done=${done} close=${close} />`}
    </article>`;
}

/** How many documents could not be indexed, with the way to them. */
function FailedDocuments({ corpus }) {
  const failed = useResource(["failed", corpus.id, corpus.generation], (signal) => get(corpusPath(corpus.name, "documents"), { state: "failed", limit: COUNTED }, signal));
  const count = failed.value?.data.length;
  if (!count) return null;
  const words = `${plural(count, "document")}${failed.value.next_cursor ? " and more" : ""} failed`;
  return html`<p class="row wrong"><${Icon} name="warning" /><${Link} to=${`${viewOf(corpus.name, "documents")}?state=failed`}>${words}<//></p>`;
}

const EXTRACTORS = {
  pattern: "names found by rules, without a model",
  given: "names and facts as documents bring them",
  llm: "names and facts found by a language model",
};

/** `pattern+given` in words. An extractor that is not known here has its name. */
function describeExtractor(written) {
  return written.split("+").map((one) => EXTRACTORS[one.split(":")[0]] || one).join("; ");
}

function Rename({ corpus, done, close }) {
  const [name, setName] = useState(corpus.name);
  const { run, busy, error } = useAction(async () => {
    await patch(corpusPath(corpus.name), { name: name.trim() });
    done();
  });
  const submit = (event) => {
    event.preventDefault();
    run();
  };
  return html`
    <${Dialog} title=${`Rename ${corpus.name}`} close=${close}>
      <form class="stack" onSubmit=${submit}>
        <div class="field"><label for="new-name">Name</label><input id="new-name" type="text" required autofocus autocomplete="off" spellcheck="false" value=${name} onInput=${(event) => setName(event.target.value)} />
          <p class="hint">Its address changes, also for programs and the command line.</p></div>
        <${Notice} error=${error} />
        <div class="actions"><button type="button" onClick=${close}>Keep it</button><button class="primary" disabled=${busy || name.trim() === corpus.name}>Rename</button></div>
      </form>
    <//>`;
}

/** A corpus with documents is deleted only after its name was written. */
function Deletion({ corpus, counts, done, close }) {
  const [name, setName] = useState("");
  const { run, busy, error } = useAction(async () => {
    await remove(corpusPath(corpus.name));
    done();
  });
  const isSmall = counts && counts.documents === 0;
  return html`
    <${Confirm} title=${`Delete ${corpus.name}?`} action="Delete the corpus" busy=${busy} ready=${isSmall || name.trim() === corpus.name} error=${error} confirm=${run} close=${close}>
      <p>${counts ? `${plural(counts.documents, "document")} with all passages, names and facts` : "All its documents, passages, names and facts"} are deleted, with the originals. This cannot be undone.</p>
      ${!isSmall && html`<div class="field"><label for="confirm-name">Write its name to confirm: ${corpus.name}</label><input id="confirm-name" type="text" autofocus autocomplete="off" spellcheck="false" value=${name} onInput=${(event) => setName(event.target.value)} /></div>`}
    <//>`;
}
