/** The certificates of what was removed from a corpus: the list, what each says, and the file that can be verified. */

import { html, useState } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { usePages } from "../core/paging.js";
import { useAction } from "../core/resource.js";
import { Link, viewOf } from "../core/router.js";
import { download } from "../core/saving.js";
import { number, plural, time } from "../core/text.js";
import { Icon } from "../parts/icons.js";
import { Empty, Failed, Loading, Notice } from "../parts/states.js";
import { View } from "../parts/view.js";

const PAGE = 50;
const SHOWN = 100; // documents of one certificate, which has up to a thousand
const NAMES = {
  passages: "passages", entities: "entities", facts: "facts", answers: "stored answers", contents: "originals that other documents have, too",
  originals: "originals", text_entries: "entries of the text index", vectors: "vectors", questions: "stored answers with its words",
  orphans: "entries that no passage has", files: "files with its words", runs: "runs of words", shared_runs: "runs that other documents have, too",
  words_of_run: "words of a run", texts: "texts read", bytes: "bytes read",
};
const SHARED = "contents"; // what another document has, too, is no remainder

export default function Certificates({ corpus }) {
  const path = corpusPath(corpus, "certificates");
  const list = usePages(["certificates", corpus], (cursor, signal) => get(path, { limit: PAGE, cursor }, signal));
  const { rows } = list;
  return html`
    <${View} title="Certificates" context=${corpus} actions=${rows.length > 0 && html`<${SaveAll} corpus=${corpus} path=${path} />`}>
      <p class="faint under-title">Each deletion, replacement and prune leaves a signed certificate, which names the one before it. <code>hopweave verify</code> checks the file.</p>
      ${list.state === "failed" && !rows.length && html`<${Failed} error=${list.error} retry=${list.refresh} />`}
      ${list.state === "loading" && !rows.length && html`<${Loading} what="the certificates" />`}
      ${list.state === "ready" && !rows.length && html`
        <${Empty} title="No certificates yet" text="Nothing was deleted or replaced in this corpus.">
          <${Link} class="button" to=${viewOf(corpus, "documents")}>To the documents<//>
        <//>`}
      ${rows.length > 0 && html`<ul class="plain card jobs">${rows.map((row) => html`<li key=${`${row.chain}:${row.number}`}><${Row} row=${row} /></li>`)}</ul>`}
      ${!list.isWhole && rows.length > 0 && list.state === "ready" && html`<div><button onClick=${list.more}>Show more</button></div>`}
      ${list.state === "failed" && rows.length > 0 && html`<${Notice} error=${list.error} />`}
    <//>`;
}

/** Saves the lines of all pages as one file, since a chain is verified from its first certificate on. */
function SaveAll({ corpus, path }) {
  const action = useAction(async () => {
    const lines = [];
    let cursor = null;
    do {
      const page = await get(path, { limit: 200, cursor });
      lines.push(...page.data.map(({ line }) => line));
      cursor = page.next_cursor;
    } while (cursor !== null);
    save(lines, `${corpus}-certificates.jsonl`);
  });
  return html`
    <button disabled=${action.busy} onClick=${action.run}><${Icon} name="download" /> Save all</button>
    <${Notice} error=${action.error} dismiss=${action.clear} />`;
}

function Row({ row }) {
  const [isOpen, setOpen] = useState(false);
  const { certificate } = JSON.parse(row.line);
  const left = countLeft(certificate);
  return html`
    <details class="job-line" open=${isOpen} onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="row">
          <strong>${number(row.number)}. ${titleOf(certificate)}</strong>
          <span class=${`tag ${left ? "poor" : "good"}`}><${Icon} name=${left ? "warning" : "check"} />${left ? `${number(left)} found afterwards` : "nothing found afterwards"}</span>
          <span class="faint">${time(certificate.removed_at || certificate.certified_at)}</span>
        </span>
      </summary>
      ${isOpen && html`<${Content} row=${row} certificate=${certificate} />`}
    </details>`;
}

function Content({ row, certificate }) {
  const { documents } = certificate;
  const by = [...new Set(documents.map((document) => document.by))];
  const facts = [
    ["Corpus", certificate.corpus],
    ["By", by.join(", ")],
    certificate.removed_at && ["Removed", time(certificate.removed_at)],
    ["Examined", time(certificate.certified_at)],
  ].filter(([, value]) => value);
  return html`
    <div class="stack">
      <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
      <dl class="reasons">
        <div><dt>Removed</dt><dd>${listCounts(certificate.removed)}</dd></div>
        <div><dt>Looked for, or looked through</dt><dd>${listCounts(certificate.checked)}</dd></div>
        <div><dt>Found</dt><dd>${listCounts(certificate.found)}${certificate.places?.length > 0 && ` in ${certificate.places.join(", ")}`}</dd></div>
        <div><dt>What cannot be known from here</dt><dd>${(certificate.unknown || []).join("; ")}</dd></div>
      </dl>
      <details>
        <summary>${plural(documents.length, "document")}, by keyed hashes</summary>
        <ul class="plain names">${documents.slice(0, SHOWN).map((document) => html`<li><code>${document.document}</code>${document.replaced && " replaced"}</li>`)}</ul>
        ${documents.length > SHOWN && html`<p class="faint">These are the first ${SHOWN}; the file has all.</p>`}
      </details>
      <dl class="reasons">
        <div><dt>Public key</dt><dd><code>${certificate.key}</code></dd></div>
        <div><dt>Chain, and the SHA-256 of the certificate before</dt><dd><code>${certificate.chain}</code>, <code>${certificate.previous || "none: the first"}</code></dd></div>
      </dl>
      <div><button onClick=${() => save([row.line], `certificate-${row.number}.json`)}><${Icon} name="download" /> Save this one</button></div>
    </div>`;
}

function titleOf({ kind, documents }) {
  const replaced = documents.filter((document) => document.replaced).length;
  if (kind === "sweep") return `Looked for ${plural(documents.length, "deleted document")}`;
  if (kind === "corpus") return "The corpus was deleted";
  if (kind === "answers") return "Stored answers withdrawn";
  const deleted = documents.length - replaced;
  return [deleted && `${plural(deleted, "document")} deleted`, replaced && `${number(replaced)} replaced`].filter(Boolean).join(", ");
}

function countLeft({ found }) {
  return Object.entries(found).reduce((sum, [kind, count]) => sum + (kind === SHARED ? 0 : count), 0);
}

function listCounts(counts) {
  return Object.entries(counts).map(([kind, count]) => `${number(count)} ${NAMES[kind] || kind}`).join(" · ") || "nothing";
}

function save(lines, name) {
  download(new Blob([`${lines.join("\n")}\n`], { type: "application/jsonl" }), name);
}
