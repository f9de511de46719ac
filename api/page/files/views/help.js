/** What the views do, the keys, and where programs and operators read on. Everything here is served by this server. */

import { html } from "../vendor/preact.js";
import { Link, usePlace, viewOf } from "../core/router.js";
import { Icon } from "../parts/icons.js";
import { View } from "../parts/view.js";

const VIEWS = [
  ["", "ask", "Ask", "A question is split into steps where it needs several. Each step is searched and answered from passages, and each citation opens its passage. A question has its own address: the page can be closed while it is answered."],
  ["search", "search", "Search", "Passages that fit a question or words, each with its signals, why it was found, and its way through the graph. Two searchers can be compared."],
  ["graph", "graph", "Graph", "Names of the documents, what passages state about them, and the ways from one to another."],
  ["documents", "documents", "Documents", "Drop files or a folder anywhere in this view. A document shows its text with its passages as they were cut; one that failed says why, and can be retried."],
  ["questions", "questions", "Questions", "Former questions. Kept ones stay; others are deleted after some days. A question can be asked again after documents have changed, and shows what changed in its answer."],
  ["jobs", "jobs", "Jobs", "Adding, deleting and reindexing documents: how far each is, and how it ended."],
];

const KEYS = [
  ["Everywhere", [["Tab, Shift+Tab", "the next and the former control"], ["Escape", "closes what is open beside the view, or a dialog"]]],
  ["In a question", [["Enter", "asks"], ["Shift+Enter", "breaks the line"]]],
  ["In a trail", [["Arrow keys", "from a box to the next one"], ["Home, End", "the first and the last box"], ["Enter", "opens a box"]]],
  ["In the graph", [["Arrow keys", "to the neighbour in that direction"], ["N, P", "to all neighbours in turn"], ["Enter", "chooses a node and adds its neighbours"], ["Space", "chooses it only"], ["+, −, 0", "larger, smaller, everything"]]],
];

const WORDS = [
  ["stated", "a passage states the answer"],
  ["quoted", "it is verbatim in a passage, and no language model has read it: see whether it answers"],
  ["inferred", "it follows from passages that do not state it: read them"],
  ["from memory", "the language model knew it; no passage bears it"],
  ["outdated", "documents of the corpus have changed since the answer was given"],
  ["withdrawn", "a document that the answer stood on was deleted, and the answer with it"],
];

export default function Help() {
  const corpus = usePlace().query.get("corpus") || "";
  const name = (to, label) => (corpus ? html`<${Link} to=${to ? viewOf(corpus, to) : viewOf(corpus)}>${label}<//>` : label);
  return html`
    <${View} title="Help">
      <div class="help stack">
        <section class="stack" aria-labelledby="help-views"><h2 id="help-views">The views of a corpus</h2>
          <dl class="help-list">${VIEWS.map(([to, icon, label, text]) => html`<div><dt><${Icon} name=${icon} /> ${name(to, label)}</dt><dd>${text}</dd></div>`)}</dl></section>
        <section class="stack" aria-labelledby="help-words"><h2 id="help-words">What is said of answers</h2>
          <dl class="help-list">${WORDS.map(([word, text]) => html`<div><dt>${word}</dt><dd>${text}</dd></div>`)}</dl></section>
        <section class="stack" aria-labelledby="help-keys"><h2 id="help-keys">Keys</h2>
          ${KEYS.map(([where, keys]) => html`<div><h3>${where}</h3><dl class="help-list keys">${keys.map(([key, text]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl></div>`)}</section>
        <section class="stack" aria-labelledby="help-more"><h2 id="help-more">More</h2>
          <ul>
            <li><a href="/docs">The HTTP API</a>, with a form to try each call; <a href="/openapi.json">openapi.json</a> for programs</li>
            <li><code>hopweave --help</code> on the machine of the server: the same on the command line</li>
            <li><code>hopweave doctor</code>: whether models, stores and corpora are in order, and what to do if not</li>
            <li><code>docs/</code> in the source of Hopweave: concepts, guides, settings and operation</li>
          </ul></section>
      </div>
    <//>`;
}
