/** A question in a list: its answer in a line, what it stands on, when it was asked, and what one may do with it. */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { useAction, useResource } from "../../core/resource.js";
import { Link, viewOf } from "../../core/router.js";
import { time } from "../../core/text.js";
import { announce } from "../../parts/announce.js";
import { Icon } from "../../parts/icons.js";
import { Notice } from "../../parts/states.js";
import { Support } from "../../parts/tags.js";
import { plainText } from "../plain.js";
import { keepQuestion, readQuestion } from "../source.js";
import { StateOf } from "../state.js";

/**
 * @param {{corpus: string, question: import("../source.js").Question, changed?: (question: any) => void,
 *   remove?: (question: any) => void}} props Without `changed` and `remove` the row only leads to its question.
 */
export function QuestionRow({ corpus, question: listed, changed, remove }) {
  const row = useRef(null);
  const question = useAnswer(corpus, listed, row);
  const keep = useAction(async () => {
    const kept = await keepQuestion(corpus, question.id, !question.kept);
    changed({ ...listed, kept: kept.kept });
    announce(kept.kept ? "Kept." : "No longer kept.");
  });
  const name = `“${question.question}”`;
  return html`
    <li class="question-row" ref=${row}>
      <div class="question-row-main">
        <${Link} to=${viewOf(corpus, "questions", question.id)} class="question-row-title" dir="auto">${question.question}<//>
        <p class="question-row-answer" dir="auto">${firstWords(question)}</p>
        <p class="row faint question-row-facts">
          <${StateOf} question=${question} />
          ${question.answer && !question.answer.abstained && html`<${Support} support=${question.answer.support} />`}
          ${question.outdated && html`<span class="tag fair" title="The corpus has changed since."><${Icon} name="warning" />outdated</span>`}
          ${question.again_of && html`<span class="tag" title="It asks a former question again."><${Icon} name="again" />asked again</span>`}
          <time datetime=${question.asked_at}>${time(question.asked_at)}</time>
        </p>
        <${Notice} error=${keep.error} dismiss=${keep.clear} />
      </div>
      ${changed &&
      html`<div class="question-row-actions">
        <button class="quiet" aria-pressed=${question.kept} disabled=${keep.busy} aria-label=${`Keep ${name}`} onClick=${keep.run}><${Icon} name="questions" />${question.kept ? "Kept" : "Keep"}</button>
        <button class="quiet" aria-label=${`Delete ${name}`} onClick=${() => remove(question)}><${Icon} name="close" />Delete</button>
      </div>`}
    </li>`;
}

/** The question with its answer, which lists do not have: it is read when the row comes into sight. */
function useAnswer(corpus, question, row) {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => entries.some((one) => one.isIntersecting) && setSeen(true));
    observer.observe(row.current);
    return () => observer.disconnect();
  }, []);
  const isMissing = question.state === "done" && !question.answer && !question.withdrawn;
  const read = useResource(seen && isMissing ? ["answer", corpus, question.id] : null, (signal) => readQuestion(corpus, question.id, signal));
  return { ...question, answer: question.answer || read.value?.answer || null, withdrawn: question.withdrawn || Boolean(read.value?.withdrawn) };
}

/** The answer in a line of plain text, or why there is none. */
export function firstWords(question) {
  if (question.withdrawn) return "Withdrawn: a document that it stood on was deleted.";
  if (question.answer) return plainText(question.answer.answer).slice(0, 240);
  if (question.problem) return question.problem.detail || question.problem.title || "";
  return "";
}
