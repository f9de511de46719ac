/** A question in a list: its answer in a line, what it stands on, when it was asked, and what one may do with it. */

import { html } from "../../vendor/preact.js";
import { useAction } from "../../core/resource.js";
import { Link, viewOf } from "../../core/router.js";
import { time } from "../../core/text.js";
import { announce } from "../../parts/announce.js";
import { Icon } from "../../parts/icons.js";
import { Notice } from "../../parts/states.js";
import { Support } from "../../parts/tags.js";
import { plainText } from "../plain.js";
import { keepQuestion } from "../source.js";
import { StateOf } from "../state.js";

/**
 * @param {{corpus: string, question: import("../source.js").Question, changed?: (question: any) => void,
 *   remove?: (question: any) => void}} props Without `changed` and `remove` the row only leads to its question.
 */
export function QuestionRow({ corpus, question, changed, remove }) {
  const keep = useAction(async () => {
    const kept = await keepQuestion(corpus, question.id, !question.kept);
    changed({ ...question, kept: kept.kept });
    announce(kept.kept ? "Kept." : "No longer kept.");
  });
  const name = `“${question.question}”`;
  return html`
    <li class="question-row">
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

/** The answer in a line of plain text, or why there is none. */
export function firstWords(question) {
  if (question.withdrawn) return "Withdrawn: a document that it stood on was deleted.";
  if (question.answer) return plainText(question.answer.answer).slice(0, 240);
  if (question.problem) return question.problem.detail || question.problem.title || "";
  return "";
}
