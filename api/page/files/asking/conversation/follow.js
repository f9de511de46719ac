/** The field below an answer in which the conversation goes on, with the settings of the question before. */

import { html, useRef, useState } from "../../vendor/preact.js";
import { useAction } from "../../core/resource.js";
import { Link, navigate, viewOf } from "../../core/router.js";
import { Notice } from "../../parts/states.js";
import { QuestionBox } from "../request/box.js";
import { fromRequest, toRequest } from "../request/settings.js";
import { ask } from "../source.js";
import { READ_NO_HISTORY } from "./reasoners.js";

/** @param {{corpus: string, question: any, later: import("./chains.js").Conversation | null}} props `later`: the conversation goes on already. */
export function FollowUp({ corpus, question, later }) {
  const [text, setText] = useState("");
  const field = useRef(null);
  const { run, busy, error } = useAction(async () => {
    const request = toRequest(text, fromRequest(question.request || {}));
    navigate(viewOf(corpus, "questions", (await ask(corpus, { ...request, follows: question.id })).id));
  });
  if (later) return html`<p class="row goes-on">The conversation goes on: <${Link} to=${viewOf(corpus, "questions", later.last.id)} dir="auto">${later.last.question}<//></p>`;
  const isReady = Boolean(text.trim()) && !busy;
  const submit = (event) => {
    event.preventDefault();
    if (isReady) run();
  };
  const hint = READ_NO_HISTORY.includes(question.answer?.reasoner)
    ? "Without a language model, each question is searched for by itself: write names in place of “he” and “it”."
    : "It is understood together with what was asked and answered before.";
  return html`
    <form class="stack follow-form" onSubmit=${submit}>
      <${QuestionBox} id="follow-up" label="Follow-up question" placeholder="Ask a follow-up" rows="1" hint=${hint} value=${text} change=${setText} submit=${run} ready=${isReady} busy=${busy} field=${field} />
      <${Notice} error=${error} />
    </form>`;
}
