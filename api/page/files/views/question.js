/** A question by its address: its plan while it runs, then its answer, what that hangs on, and its trail. */

import { html } from "../vendor/preact.js";
import { AskedQuestion } from "../asking/question.js";
import { useQuestion } from "../asking/use_question.js";
import { Link, viewOf } from "../core/router.js";
import { Empty, Failed, Loading } from "../parts/states.js";
import { View } from "../parts/view.js";

export default function QuestionView({ corpus, id }) {
  const asked = useQuestion(corpus, id);
  if (asked.error && !asked.question) {
    if (asked.error.status === 404) return html`<${View} title="No such question" context=${corpus} hidden><${Gone} corpus=${corpus} /><//>`;
    return html`<${View} title="Answer" context=${corpus} hidden><${Failed} error=${asked.error} retry=${asked.reload} /><//>`;
  }
  if (!asked.question) return html`<${View} title="Answer" context=${corpus} hidden><${Loading} what="the question" /><//>`;
  return html`<${AskedQuestion} corpus=${corpus} asked=${asked} />`;
}

function Gone({ corpus }) {
  return html`
    <${Empty} icon="questions" title="There is no such question" text="It was deleted, or it was asked with another key. Questions that are not kept are deleted after some days.">
      <p class="row"><${Link} class="button" to=${viewOf(corpus)}>Ask a question<//><${Link} class="button" to=${viewOf(corpus, "questions")}>All questions<//></p>
    <//>`;
}
