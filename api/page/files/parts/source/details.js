/** Title and metadata of a document, and the form that changes them. */

import { html, useId, useState } from "../../vendor/preact.js";
import { patch } from "../../core/api.js";
import { isObject, readJson } from "../../core/json.js";
import { useAction } from "../../core/resource.js";
import { bytes, plural, time } from "../../core/text.js";
import { Dialog } from "../dialog.js";
import { Notice } from "../states.js";

export function Details({ path, document, mayWrite, started }) {
  const [edits, setEdits] = useState(false);
  const fields = Object.entries(document.metadata).filter(([name]) => name !== "loader_notes" && name !== "page_labels");
  const notes = document.metadata.loader_notes || [];
  const facts = [plural(document.chunks, "passage"), document.pages && plural(document.pages, "page"), bytes(document.size), document.media_type, `changed ${time(document.updated_at)}`];
  if (document.malformed_triples) facts.push(`${plural(document.malformed_triples, "triple")} skipped`);
  return html`
    <details class="details">
      <summary>${facts.filter(Boolean).join(" · ")}</summary>
      <div class="stack folded">
        ${Array.isArray(notes) && notes.map((note) => html`<p class="notice fair" dir="auto">${String(note)}</p>`)}
        ${fields.length > 0
          ? html`<dl class="facts">${fields.map(([name, value]) => html`<div><dt dir="auto">${name}</dt><dd dir="auto">${typeof value === "string" ? value : JSON.stringify(value)}</dd></div>`)}</dl>`
          : html`<p class="faint">It has no metadata.</p>`}
        ${mayWrite && html`<div><button disabled=${document.state !== "indexed"} onClick=${() => setEdits(true)}>Change title and metadata…</button>${document.state !== "indexed" && html` <span class="hint">once it is indexed</span>`}</div>`}
      </div>
    </details>
    ${edits && html`<${Editor} path=${path} document=${document} started=${started} close=${() => setEdits(false)} />`}`;
}

function Editor({ path, document, started, close }) {
  const id = useId();
  const { loader_notes: notes, page_labels: labels, ...own } = document.metadata;
  const [title, setTitle] = useState(document.title);
  const [text, setText] = useState(JSON.stringify(own, null, 2));
  const wrong = explain(text);
  const { run, busy, error } = useAction(async () => {
    const body = {};
    if (title.trim() !== document.title) body.title = title.trim() || null;
    const metadata = changesOf(own, JSON.parse(text));
    if (Object.keys(metadata).length) body.metadata = metadata;
    if (Object.keys(body).length) started((await patch(path, body)).job.id);
    close();
  });
  const submit = (event) => {
    event.preventDefault();
    if (!wrong) run();
  };
  return html`
    <${Dialog} title="Title and metadata" close=${close}>
      <form class="stack" onSubmit=${submit}>
        <div class="field"><label for=${`${id}-title`}>Title</label><input id=${`${id}-title`} type="text" dir="auto" autofocus maxlength="1000" value=${title} onInput=${(event) => setTitle(event.target.value)} />
          <p class="hint">It is part of what is searched: its passages are embedded again. Left empty, it is that of the text.</p></div>
        <div class="field"><label for=${`${id}-metadata`}>Metadata, as JSON</label>
          <textarea id=${`${id}-metadata`} class="code" rows="8" spellcheck="false" value=${text} aria-invalid=${wrong ? "true" : undefined} aria-describedby=${`${id}-wrong`} onInput=${(event) => setText(event.target.value)}></textarea>
          <p class=${wrong ? "hint wrong" : "hint"} id=${`${id}-wrong`}>${wrong || "What the file itself says, such as its author, stays unless a field replaces it."}</p></div>
        <${Notice} error=${error} />
        <div class="actions"><button type="button" onClick=${close}>Cancel</button><button class="primary" disabled=${busy || Boolean(wrong)}>Save</button></div>
      </form>
    <//>`;
}

function explain(text) {
  const { value, wrong } = readJson(text);
  if (wrong) return `This is not JSON. ${wrong} An example: {"year": 1843}`;
  return isObject(value) ? "" : 'Metadata stand in braces, and name fields with their values. An example: {"year": 1843}';
}

/** What differs: a field that is gone is null. */
function changesOf(before, after) {
  const changes = {};
  for (const [name, value] of Object.entries(after)) if (JSON.stringify(value) !== JSON.stringify(before[name])) changes[name] = value;
  for (const name of Object.keys(before)) if (!(name in after)) changes[name] = null;
  return changes;
}
