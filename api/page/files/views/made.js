/** Questions that are made of a corpus: their answers and supports, and how well searchers find the supports. */

import { html, useRef, useState } from "../vendor/preact.js";
import { corpusPath, post } from "../core/api.js";
import { useAction } from "../core/resource.js";
import { download } from "../core/saving.js";
import { number, plural, time } from "../core/text.js";
import { announce } from "../parts/announce.js";
import { Icon } from "../parts/icons.js";
import { Empty, Notice } from "../parts/states.js";
import { View } from "../parts/view.js";
import { keepMeasurement, listMeasurements } from "../searching/measurements.js";

const MOST = 500; // questions of one request
const PART = 25; // questions of one request to measure, so that each of them is short
const SHOWN = 100; // questions of the list
const SEARCHERS = ["dense", "sparse", "graph", "fused", "bridged"];
const KINDS = { single: "one fact", two_hop: "two facts", comparison: "comparison", cell: "cell of a table", clause: "clause of a contract or policy", count: "count", unanswerable: "not answered by the corpus" };

export default function Made({ corpus }) {
  const [made, setMade] = useState(null);
  const make = useAction(async (count, seed) => {
    const answer = await post(corpusPath(corpus, "made-questions"), { count, seed });
    setMade(answer);
    announce(`${plural(answer.questions.length, "question")}.`);
  });
  return html`
    <${View} title="Made questions" context=${corpus}>
      <p class="faint under-title">Questions with known answers, made of facts, tables and clauses of the documents that you may see. The server keeps none of them: save them to measure the same questions again.</p>
      <${Form} make=${make} open=${(questions) => setMade({ questions, notes: [] })} />
      <${Notice} error=${make.error} dismiss=${make.clear} />
      ${!made && !make.error && html`<${Empty} icon="questions" title="No questions yet" text="Make some, or open a file of questions that you saved before." />`}
      ${made && html`<${Questions} corpus=${corpus} made=${made} />`}
      <${Measuring} corpus=${corpus} questions=${(made?.questions || []).filter((question) => question.answerable !== false && question.supporting?.length)} />
    <//>`;
}

function Form({ make, open }) {
  const file = useRef(null);
  const reading = useAction(async (chosen) => {
    const lines = (await chosen.text()).split("\n").filter((line) => line.trim());
    open(lines.map((line, at) => readQuestion(line, at + 1)));
  });
  const submit = (event) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    make.run(Number(given.get("count")), Number(given.get("seed")));
  };
  return html`
    <form class="row" onSubmit=${submit}>
      <label>Questions <input name="count" type="number" min="1" max=${MOST} value="50" required /></label>
      <label>Seed <input name="seed" type="number" min="0" value="0" required /></label>
      <button class="primary" disabled=${make.busy}>${make.busy ? "Making…" : "Make questions"}</button>
      <button type="button" onClick=${() => file.current.click()}>Open a file</button>
      <input type="file" accept=".jsonl,.json" hidden aria-label="A file of questions" ref=${file} onChange=${(event) => event.target.files[0] && reading.run(event.target.files[0])} />
    </form>
    <${Notice} error=${reading.error} dismiss=${reading.clear} />`;
}

/** Reads a line of `questions.jsonl`. Throws an error that names the line. */
function readQuestion(line, at) {
  let question = null;
  try {
    question = JSON.parse(line);
  } catch {
    // said below
  }
  if (typeof question?.id !== "string" || typeof question.question !== "string") throw new Error(`Line ${at} is no question: it needs “id” and “question”.`);
  return question;
}

function Questions({ corpus, made }) {
  const save = () => download(new Blob([made.questions.map((question) => `${JSON.stringify(question)}\n`).join("")], { type: "application/jsonl" }), `${corpus}-questions.jsonl`);
  return html`
    <section class="stack" aria-label="Questions">
      <div class="row"><h2>${plural(made.questions.length, "question")}</h2><button onClick=${save}><${Icon} name="download" /> Save</button></div>
      ${made.notes.length > 0 && html`<details><summary>Why there are not more</summary><ul>${made.notes.map((note) => html`<li>${note}</li>`)}</ul></details>`}
      <ul class="plain card jobs">${made.questions.slice(0, SHOWN).map((question) => html`<li key=${question.id}><${Question} question=${question} /></li>`)}</ul>
      ${made.questions.length > SHOWN && html`<p class="faint">These are the first ${SHOWN}; the file has all.</p>`}
    </section>`;
}

function Question({ question }) {
  const documents = [...new Set((question.supporting || []).map((support) => (typeof support === "string" ? support : support.id)))];
  const quotes = question.quotes || question.metadata?.quotes || [];
  return html`
    <details class="job-line">
      <summary><span class="row"><strong dir="auto">${question.question}</strong> <span class="faint">${KINDS[question.type] || question.type}</span></span></summary>
      <dl class="reasons">
        <div><dt>Answer</dt><dd dir="auto">${question.answer || "The corpus does not answer it."}</dd></div>
        ${documents.length > 0 && html`<div><dt>Supports</dt><dd dir="auto">${documents.join(", ")}</dd></div>`}
        ${quotes.map((quote) => html`<div><dt>Quote</dt><dd dir="auto">${quote}</dd></div>`)}
      </dl>
    </details>`;
}

function Measuring({ corpus, questions }) {
  const [chosen, setChosen] = useState(["fused"]);
  const [done, setDone] = useState(0);
  const [kept, setKept] = useState(() => listMeasurements(corpus));
  const abort = useRef(null);
  const measure = useAction(async () => {
    abort.current = new AbortController();
    const parts = [];
    setDone(0);
    for (let begin = 0; begin < questions.length; begin += PART) {
      const asked = questions.slice(begin, begin + PART).map(({ id, question, supporting }) => ({ id, question, supporting }));
      parts.push(await post(corpusPath(corpus, "measurements"), { questions: asked, searchers: chosen }, { signal: abort.current.signal }));
      setDone(begin + asked.length);
    }
    setKept(keepMeasurement(corpus, parts));
    announce("The searchers are measured.");
  });
  if (!questions.length && !kept.length) return null;
  const toggle = (name) => setChosen((before) => (before.includes(name) ? before.filter((other) => other !== name) : [...before, name]));
  return html`
    <section class="stack" aria-label="Measurements">
      <h2>Measurements</h2>
      ${questions.length > 0 && html`
        <fieldset class="row"><legend>Searchers</legend>
          ${SEARCHERS.map((name) => html`<label key=${name}><input type="checkbox" checked=${chosen.includes(name)} disabled=${measure.busy} onChange=${() => toggle(name)} /> ${name}</label>`)}
        </fieldset>
        <div class="row">
          <button disabled=${measure.busy || !chosen.length} onClick=${measure.run}>Measure ${plural(questions.length, "question")}</button>
          ${measure.busy && html`<button onClick=${() => abort.current.abort()}>Cancel</button>`}
        </div>
        ${measure.busy && html`<div class="progress"><progress aria-label="Questions that are measured" max=${questions.length} value=${done}></progress><span>${number(done)} of ${number(questions.length)}</span></div>`}`}
      <${Notice} error=${measure.error} dismiss=${measure.clear} />
      ${kept.length > 0 && html`<${Measurements} rows=${kept} />`}
    </section>`;
}

function Measurements({ rows }) {
  const percent = (value) => (value === undefined ? "–" : (100 * value).toFixed(1));
  return html`
    <p class="faint">Of this browser, the newest first. Generations count the changes of the corpus. R@5 is the share of a question's supports among the first five; compare rows with the same number of questions.</p>
    <div class="scroll" tabindex="0" role="group" aria-label="Table of measurements">
      <table>
        <thead><tr><th scope="col">Measured</th><th scope="col">Generation</th><th scope="col">Questions</th><th scope="col">Searcher</th><th scope="col">R@5, %</th><th scope="col">MRR, %</th></tr></thead>
        <tbody>${rows.map((row) => html`<tr key=${`${row.at}${row.searcher}`}><td>${time(row.at)}</td><td>${number(row.generation)}</td><td>${number(row.asked)}${row.gone > 0 && html` <span class="faint">(${number(row.gone)} gone)</span>`}</td><td>${row.searcher}</td><td>${percent(row.recall)}</td><td>${percent(row.mrr)}</td></tr>`)}</tbody>
      </table>
    </div>`;
}
