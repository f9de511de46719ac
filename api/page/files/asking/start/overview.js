/** What is in a corpus, for whoever does not know it: sample questions, kinds of documents, and the most mentioned names. */

import { html } from "../../vendor/preact.js";
import { address, corpusPath, get } from "../../core/api.js";
import { useResource } from "../../core/resource.js";
import { Link, viewOf } from "../../core/router.js";
import { plural, time } from "../../core/text.js";
import { sampleQuestions, typedFirst } from "./samples.js";

const LOOKED_AT = 50; // documents
const READ = 40; // entities
const SHOWN = 10;
const FACTS = 30; // of one entity
const NO_NAMES = ["date", "amount"]; // types of values

/** Nothing of it is waited for: it appears when it is known, and not at all where it cannot be. */
export function Overview({ corpus, counts, choose }) {
  const entities = useResource(["most mentioned", corpus], (signal) => readEntities(corpus, signal));
  const documents = useResource(["newest", corpus], (signal) => get(corpusPath(corpus, "documents"), { limit: LOOKED_AT }, signal));
  const names = entities.value?.entities || [];
  const samples = entities.value ? sampleQuestions(names, entities.value.facts) : [];
  return html`
    ${samples.length > 0 && html`
      <section class="stack tight" aria-labelledby="samples"><h2 id="samples">You can ask</h2>
        <ul class="plain samples">${samples.map((one) => html`<li><button onClick=${() => choose(one)} dir="auto">${one}</button></li>`)}</ul></section>`}
    ${documents.value?.data.length > 0 && html`
      <section class="stack tight" aria-labelledby="contents"><h2 id="contents">What is in it</h2>
        <dl class="facts contents">
          <div><dt>Documents</dt><dd>${counts ? html`<${Link} to=${viewOf(corpus, "documents")}>${plural(counts.documents, "document")}<//>, ${plural(counts.chunks, "passage")}, ${plural(counts.facts, "fact")}` : html`<${Link} to=${viewOf(corpus, "documents")}>all documents<//>`}</dd></div>
          <${Kinds} documents=${documents.value} />
          ${names.length > 0 && html`<div><dt>Most mentioned</dt><dd class="names">${names.slice(0, SHOWN).map((one) => html`
            <${Link} class="name" to=${address(viewOf(corpus, "graph"), { entity: one.id })} dir="auto">${one.name}<//>`)}</dd></div>`}
        </dl></section>`}`;
}

/** The kinds and languages of the documents that were looked at, the most frequent first, and their last change. */
function Kinds({ documents: { data, next_cursor } }) {
  const ofFirst = next_cursor ? ` (of ${plural(data.length, "document")} that were looked at)` : "";
  const kinds = tally(data.map((one) => nameOfKind(one)));
  const languages = tally(data.map((one) => one.metadata.language).filter((one) => typeof one === "string"));
  const changed = data.map((one) => one.updated_at).sort().at(-1);
  return html`
    <div><dt>Kinds</dt><dd>${kinds}${ofFirst}</dd></div>
    ${languages && html`<div><dt>Languages</dt><dd dir="auto">${languages}${ofFirst}</dd></div>`}
    ${!next_cursor && html`<div><dt>Last change</dt><dd>${time(changed)}</dd></div>`}`;
}

const KINDS = {
  "application/pdf": "PDF", "text/markdown": "Markdown", "text/plain": "text", "text/html": "web page", "text/csv": "CSV table", "message/rfc822": "mail",
  "application/vnd.hopweave.document+json": "JSON",
};

/** A kind by its media type, or by the ending of the file's name. */
function nameOfKind({ media_type: type, key }) {
  const ending = /\.([a-z0-9]{1,5})$/i.exec(key)?.[1];
  return KINDS[type] || (ending ? ending.toUpperCase() : type || "other");
}

/** `PDF 3, Markdown 2`. */
function tally(values) {
  const counted = new Map();
  for (const one of values) counted.set(one, (counted.get(one) || 0) + 1);
  return [...counted].sort(([, a], [, b]) => b - a).slice(0, SHOWN).map(([value, count]) => `${value} ${count}`).join(", ");
}

/** The most mentioned names, and the facts of the first of them, if possible of one whose type is known. */
async function readEntities(corpus, signal) {
  const found = await get(corpusPath(corpus, "entities"), { limit: READ }, signal);
  const entities = found.data.map((one) => one.entity).filter((one) => !NO_NAMES.includes(one.type));
  if (!entities.length) return { entities, facts: [] };
  const details = await get(corpusPath(corpus, "entities", [...entities].sort(typedFirst)[0].id), { facts: FACTS, passages: 0 }, signal);
  return { entities, facts: details.facts };
}
