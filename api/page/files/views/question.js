/** A question by its address: the conversation before it, its plan while it runs, and its answer. */

import { html } from "../vendor/preact.js";
import { conversationOf } from "../asking/conversation/chains.js";
import { History, useConversations } from "../asking/conversation/history.js";
import { useEarlier } from "../asking/conversation/turns.js";
import { AskedQuestion } from "../asking/question.js";
import { useQuestion } from "../asking/use_question.js";
import { Link, viewOf } from "../core/router.js";
import { Empty, Failed, Loading } from "../parts/states.js";
import { View } from "../parts/view.js";

export default function QuestionView({ corpus, id }) {
  const asked = useQuestion(corpus, id);
  const conversations = useConversations(corpus, id);
  const earlier = useEarlier(corpus, asked.question);
  if (asked.error && !asked.question) {
    if (asked.error.status === 404) return html`<${View} title="No such question" context=${corpus} hidden><${Gone} corpus=${corpus} /><//>`;
    return html`<${View} title="Answer" context=${corpus} hidden><${Failed} error=${asked.error} retry=${asked.reload} /><//>`;
  }
  if (!asked.question) return html`<${View} title="Answer" context=${corpus} hidden><${Loading} what="the question" /><//>`;
  return html`
    <div class="with-history">
      <${History} corpus=${corpus} conversations=${conversations} current=${id} />
      <${AskedQuestion} corpus=${corpus} asked=${asked} earlier=${earlier} later=${laterOf(conversations.value, id)} />
    </div>`;
}

/** The conversation that goes on after a question; null if the question is the last one. */
function laterOf(conversations, id) {
  const found = conversations && conversationOf(conversations, id);
  return found && found.last.id !== id ? found : null;
}

function Gone({ corpus }) {
  return html`
    <${Empty} icon="questions" title="There is no such question" text="It was deleted, or it was asked with another key. Questions that are not kept are deleted after some days.">
      <p class="row"><${Link} class="button" to=${viewOf(corpus)}>Ask a question<//><${Link} class="button" to=${viewOf(corpus, "questions")}>All questions<//></p>
    <//>`;
}
