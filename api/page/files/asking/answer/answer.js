/** The answer in each of its states: written, given, withheld, failed, cancelled, withdrawn. */

import { html, useState } from "../../vendor/preact.js";
import { address } from "../../core/api.js";
import { Link, viewOf } from "../../core/router.js";
import { plural } from "../../core/text.js";
import { Icon } from "../../parts/icons.js";
import { Markdown } from "../../parts/markdown.js";
import { Starting } from "../../parts/starting.js";
import { Support } from "../../parts/tags.js";
import { changeAddress } from "../head.js";
import { READ_NO_HISTORY } from "../conversation/reasoners.js";
import { CitedText } from "./cited.js";
import { FoundSoFar, PassagesOf, hasPassages } from "./nearest.js";

const SHORT = 90; // letters of an answer that is shown large
const BUDGET = "budget was used up"; // the server's words, in notes
const UNDERSTOOD = "the question was understood as: "; // the same, of a question in a conversation

/** What the support means, as a sentence. */
const STANDS_ON = {
  stated: "Passages state it.",
  quoted: "It is quoted from passages; no language model read whether it answers.",
  inferred: "It is inferred from passages; they do not state it.",
  memory: "It is from the model's memory. No passage bears it.",
  none: "No passage was found that answers it.",
};

/**
 * @param {{corpus: string, question: any, progress: any, verdicts: any[], chosen: number | null,
 *   apart: boolean, open: (cited: any) => void}} props `chosen`: the marker whose passage is open.
 *   `apart`: the sources are shown elsewhere.
 */
export function AnswerPart({ corpus, question, progress, verdicts, chosen, apart, open }) {
  if (question.withdrawn) return html`<${Withdrawn} />`;
  if (question.state === "running") return html`<${Running} progress=${progress} open=${open} />`;
  if (question.state === "cancelled") return html`<${Cancelled} corpus=${corpus} question=${question} progress=${progress} />`;
  if (!question.answer) return html`<${FailedAnswer} corpus=${corpus} question=${question} problem=${question.problem || progress.problem} />`;
  return html`<${Given} corpus=${corpus} question=${question} verdicts=${verdicts} chosen=${chosen} apart=${apart} open=${open} />`;
}

function Running({ progress, open }) {
  const steps = [...progress.steps.values()];
  const found = steps.length > 1 ? [] : foundBy(steps); // a plan shows what each of its steps found
  return html`
    <section class="card stack answer running" aria-labelledby="answer" aria-busy="true">
      <h2 id="answer" class="row"><span class="spinner" aria-hidden="true"></span> ${progress.text ? "Writing the answer" : "Looking for the answer"}</h2>
      ${progress.text ? html`<div class="answer-text provisional"><${Markdown} text=${progress.text} /></div><p class="faint">Provisional: the final answer is checked against its passages.</p>`
        : html`<p class="faint">${saySteps(steps, found)} You can leave this page; the answer is found again at its address.</p><${Starting} />`}
      <${FoundSoFar} hits=${found} open=${open} />
      <${Notes} notes=${progress.notes} running />
    </section>`;
}

/** What is done now: of one step in words, of several by their number. */
function saySteps(steps, found) {
  if (steps.length > 1) return `${steps.filter((step) => step.state === "done").length} of ${steps.length} steps answered.`;
  return found.length ? `${plural(found.length, "passage")} found. They are read.` : "Passages are searched.";
}

/** The passages of all searches of these steps, each once. */
function foundBy(steps) {
  const hits = steps.flatMap((step) => step.searches.flatMap((one) => one.hits));
  return [...new Map(hits.map((hit) => [hit.chunk_id || hit.url, hit])).values()];
}

function Given({ corpus, question, verdicts, chosen, apart, open }) {
  const [pointed, setPointed] = useState(null);
  const { answer } = question;
  const active = pointed ?? chosen;
  const understood = answer.notes.find((note) => note.startsWith(UNDERSTOOD))?.slice(UNDERSTOOD.length);
  const isShort = answer.answer.length <= SHORT && !answer.abstained;
  return html`
    <section class=${`card answer ${answer.abstained ? "abstained" : ""}`} aria-labelledby="answer">
      <div class=${`answer-columns ${hasPassages(answer) && !apart ? "with-sources" : ""}`}>
        <div class="stack answer-column">
          <h2 id="answer" class="row">${answer.abstained ? html`<${Icon} name="close" /> No answer is given` : "Answer"}${!answer.abstained && html`<${Support} support=${answer.support} />`}</h2>
          <div class=${`answer-text ${isShort ? "short" : ""}`}><${CitedText} text=${answer.abstained ? withoutNearest(answer.answer) : answer.answer} citations=${answer.citations} active=${active} point=${setPointed} open=${open} /></div>
          ${understood && html`<p class="faint">Understood as: <span dir="auto">${understood}</span></p>`}
          <${StandsOn} answer=${answer} />
          ${answer.abstained && html`<${NextSteps} corpus=${corpus} question=${question} />`}
          <${Budget} corpus=${corpus} question=${question} />
          <${Notes} notes=${answer.notes.filter((note) => !note.includes(BUDGET) && !note.startsWith(UNDERSTOOD))} />
        </div>
        ${hasPassages(answer) && !apart && html`<div class="stack answer-column answer-sources">
          <${PassagesOf} answer=${answer} active=${active} point=${setPointed} open=${open} verdicts=${verdicts} />
        </div>`}
      </div>
    </section>`;
}

/** What a declined answer says before it quotes the nearest passages, which stand beside it. */
function withoutNearest(text) {
  const [said] = text.split("\n\n");
  return /\[\d{1,4}\]/.test(said) ? text : said.replace(/(?<=[.!?])[^.!?]*:$/, "");
}

function StandsOn({ answer }) {
  const words = answer.note || (answer.abstained ? "" : STANDS_ON[answer.support]);
  if (!words) return null;
  const isSure = answer.support === "stated" && !answer.note;
  return html`<p class=${isSure ? "faint" : "answer-note"} dir="auto">${words}</p>`;
}

function Notes({ notes, running }) {
  if (!notes.length) return null;
  return html`<details class="notes"><summary>${notes.length === 1 ? "A note" : `${notes.length} notes`} on how it ${running ? "is" : "was"} answered</summary><ul>${notes.map((note) => html`<li dir="auto">${note}</li>`)}</ul></details>`;
}

function Budget({ corpus, question }) {
  const notes = question.answer.notes.filter((note) => note.includes(BUDGET));
  if (!notes.length) return null;
  return html`<div class="notice fair"><${Icon} name="warning" /><div>${notes.map((note) => html`<span dir="auto">${note[0].toUpperCase()}${note.slice(1)}. </span>`)}
    <${Link} to=${changeAddress(corpus, question)}>Ask with a larger budget<//></div></div>`;
}

function NextSteps({ corpus, question }) {
  const request = question.request || {};
  return html`
    <div><p class="faint">What may help:</p>
      <ul>
        <li><${Link} to=${address(viewOf(corpus, "search"), { q: question.question })}>Search for passages<//> with the words of the question</li>
        ${question.follows && READ_NO_HISTORY.includes(question.answer.reasoner) && html`<li><${Link} to=${changeAddress(corpus, question)}>Write names<//> in place of “he” and “it”: without a language model, each question is searched for by itself</li>`}
        ${request.filter && html`<li><${Link} to=${changeAddress(corpus, question)}>Ask without the filter<//>, which leaves documents out</li>`}
        ${request.unsupported === "abstain" && html`<li><${Link} to=${changeAddress(corpus, question)}>Permit answers that are inferred<//></li>`}
        <li><${Link} to=${viewOf(corpus, "documents")}>Add documents<//> that state it</li>
      </ul></div>`;
}

function FailedAnswer({ corpus, question, problem }) {
  const refused = problem?.status === 403 || problem?.status === 422;
  return html`
    <section class=${`card stack answer failed ${refused ? "refused" : ""}`} aria-labelledby="answer">
      <h2 id="answer" class="row"><${Icon} name="warning" /> ${refused ? "The question was refused" : "The question failed"}</h2>
      <p dir="auto">${problem?.detail || problem?.title || "The server gave no reason."}</p>
      ${problem?.request_id && html`<p class="faint">Request ${problem.request_id}</p>`}
      <p><${Link} to=${changeAddress(corpus, question)}>Change the question or its settings<//>, or ask again.</p>
    </section>`;
}

function Cancelled({ corpus, question, progress }) {
  return html`
    <section class="card stack answer" aria-labelledby="answer">
      <h2 id="answer" class="row"><${Icon} name="stop" /> The question was cancelled</h2>
      <p class="faint">${progress.steps.size ? "The steps below were answered before." : "Nothing was answered before."} <${Link} to=${changeAddress(corpus, question)}>Change the question<//>, or ask again.</p>
    </section>`;
}

function Withdrawn() {
  return html`
    <section class="card stack answer withdrawn" aria-labelledby="answer">
      <h2 id="answer" class="row"><${Icon} name="close" /> The answer was withdrawn</h2>
      <p>A document that it stood on was deleted. The answer, its quotes and its steps were deleted with it. Ask again for an answer from the documents that are left.</p>
    </section>`;
}
