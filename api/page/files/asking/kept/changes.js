/** What changed since a question was asked before: both answers beside each other, and the documents they cite. */

import { html } from "../../vendor/preact.js";
import { useResource } from "../../core/resource.js";
import { Link, viewOf } from "../../core/router.js";
import { Failed, Loading } from "../../parts/states.js";
import { Support } from "../../parts/tags.js";
import { readChanges } from "../source.js";
import { compareWords } from "./words.js";

const DOCUMENTS = [
  ["added", "Cited only now"],
  ["removed", "No longer cited"],
  ["changed", "Cited in another version"],
  ["same", "The same"],
];

export function Changes({ corpus, question }) {
  const changes = useResource(["changes", corpus, question.id], (signal) => readChanges(corpus, question.id, signal));
  return html`
    <section class="card stack" aria-labelledby="changes">
      <div class="view-head"><h2 id="changes">What changed</h2><${Link} to=${viewOf(corpus, "questions", question.again_of)}>The former answer<//></div>
      ${changes.error ? html`<${Failed} error=${changes.error} retry=${changes.reload} />` : changes.value ? html`<${Compared} corpus=${corpus} changes=${changes.value} />` : html`<${Loading} what="what changed" />`}
    </section>`;
}

function Compared({ corpus, changes }) {
  const { answer, support, documents, generation } = changes;
  const pieces = compareWords(answer.before || "", answer.after || "");
  return html`
    <p>${sayAnswer(changes)} ${sayGeneration(generation)}</p>
    ${answer.before === null && html`<p class="faint">The former answer was withdrawn, or none was given.</p>`}
    ${answer.before !== answer.after && html`<div class="changes-answers">
      <${Side} name="Before" mark="del" support=${support.before} pieces=${pieces.filter((one) => one.side !== "after")} side="before" />
      <${Side} name="Now" mark="ins" support=${support.after} pieces=${pieces.filter((one) => one.side !== "before")} side="after" />
    </div>`}
    <dl class="changes-documents">
      ${DOCUMENTS.filter(([name]) => documents[name].length).map(
        ([name, words]) => html`<div><dt>${words}</dt>${documents[name].map(
          (one) => html`<dd dir="auto">${name === "removed" ? one.title || one.key : html`<${Link} to=${viewOf(corpus, "documents", one.id)}>${one.title || one.key}<//>`}</dd>`,
        )}</div>`,
      )}
    </dl>`;
}

function Side({ name, mark, support, pieces, side }) {
  return html`
    <div class="changes-side">
      <h3>${name} ${support && html`<${Support} support=${support} />`}</h3>
      <p dir="auto" class="changes-text">${pieces.map((one) => (one.side === side ? html`<${mark}>${one.text}<//>` : one.text))}</p>
    </div>`;
}

function sayAnswer({ same_answer: same, answer }) {
  if (!same) return "The answer differs.";
  return answer.before === answer.after ? "The answer is the same." : "The answer is the same in other words.";
}

function sayGeneration({ before, after }) {
  if (before === after) return "No document of the corpus has changed in between.";
  return "Documents of the corpus have changed in between.";
}
