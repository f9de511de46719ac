/** The head of a question: what may be done with it, and when it was asked, how, and at what cost. */

import { html, useEffect, useState } from "../vendor/preact.js";
import { address } from "../core/api.js";
import { useAction } from "../core/resource.js";
import { Link, navigate, viewOf } from "../core/router.js";
import { number, plural, seconds, time } from "../core/text.js";
import { announce } from "../parts/announce.js";
import { Confirm } from "../parts/dialog.js";
import { Icon } from "../parts/icons.js";
import { Notice } from "../parts/states.js";
import { costOf } from "./progress.js";
import { describe, fromRequest, toQuery } from "./request/settings.js";
import { askAgain, cancelQuestion, deleteQuestion, keepQuestion } from "./source.js";
import { StateOf } from "./state.js";

/** The address of a new question that begins as this one. */
export const changeAddress = (corpus, question) => address(viewOf(corpus), { question: question.question, follows: question.follows, ...toQuery(fromRequest(question.request || {})) });

/** `turns`: the questions before it in the conversation, which are kept and deleted with it. */
export function Actions({ corpus, asked, turns }) {
  const { question, change, reload } = asked;
  const all = [...turns, question];
  const [leaving, setLeaving] = useState(false);
  const again = useAction(async () => navigate(viewOf(corpus, "questions", (await askAgain(corpus, question.id)).id)));
  const cancel = useAction(async () => {
    await cancelQuestion(corpus, question.id);
    announce("The question is cancelled.");
    reload();
  });
  const keep = useAction(async () => {
    const [kept] = await Promise.all(all.map((one) => keepQuestion(corpus, one.id, !question.kept)).reverse());
    change((before) => ({ ...before, kept: kept.kept }));
    announce(kept.kept ? "Kept." : "No longer kept.");
  });
  const leave = useAction(async () => {
    for (const one of all) await deleteQuestion(corpus, one.id);
    announce(all.length > 1 ? "The conversation was deleted." : "The question was deleted.");
    navigate(viewOf(corpus, "questions"), { replace: true });
  });
  const running = question.state === "running";
  return html`
    ${running && html`<button disabled=${cancel.busy} onClick=${cancel.run}><${Icon} name="stop" /> ${cancel.busy ? "Cancelling…" : "Cancel"}</button>`}
    ${!running && html`<button disabled=${again.busy} onClick=${again.run}><${Icon} name="again" /> Ask again</button>
      <${Link} class="button" to=${changeAddress(corpus, question)}>Change<span class="unseen"> the question</span><//>`}
    <button aria-pressed=${question.kept} disabled=${keep.busy} onClick=${keep.run}><${Icon} name="questions" /> ${question.kept ? "Kept" : "Keep"}</button>
    ${!running && html`<button class="quiet" onClick=${() => setLeaving(true)}>Delete</button>`}
    <${Notice} error=${again.error || cancel.error || keep.error} />
    ${leaving && html`<${Confirm} title=${all.length > 1 ? "Delete this conversation?" : "Delete this question?"} action=${all.length > 1 ? `Delete ${all.length} questions` : "Delete the question"} busy=${leave.busy} error=${leave.error} confirm=${leave.run} close=${() => setLeaving(false)}>
      <p>${all.length > 1 ? "Their answers, steps and quotes are deleted with them." : "Its answer, steps and quotes are deleted with it."} The documents stay.</p><//>`}`;
}

export function Facts({ corpus, question, progress }) {
  const said = describe(fromRequest(question.request || {}));
  const { answer } = question;
  const facts = [
    answer && html`reasoner ${answer.reasoner}`,
    answer?.usage.calls > 0 && plural(answer.usage.calls, "call"),
    answer?.usage.calls > 0 && plural(answer.usage.prompt_tokens + answer.usage.completion_tokens, "token"),
    answer?.usage.cached > 0 && `${number(answer.usage.cached)} from the cache`,
  ].filter(Boolean);
  return html`
    <div class="question-facts">
      <p class="row faint">
        <${StateOf} question=${question} />
        <${Elapsed} question=${question} answer=${answer} />
        ${question.state === "running" && costOf(progress.steps) > 0 && html`<span>${plural(costOf(progress.steps), "token")} so far</span>`}
        ${facts.map((one) => html`<span>${one}</span>`)}
        <span>asked <time datetime=${question.asked_at}>${time(question.asked_at)}</time></span>
      </p>
      ${said.length > 0 && html`<p class="faint" dir="auto">With ${said.join("; ")}.</p>`}
      ${question.outdated && question.state !== "running" && html`<div class="notice fair"><${Icon} name="warning" /><div>Documents of the corpus have changed since this was answered. Ask again to see whether the answer has changed.</div></div>`}
    </div>`;
}

/** The time that the answer took, or takes: its own clock, so that nothing else is drawn every second. */
function Elapsed({ question, answer }) {
  const [now, setNow] = useState(Date.now());
  const running = question.state === "running";
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  const asked = Date.parse(question.asked_at);
  if (running) return html`<span class="elapsed">${Math.max(0, Math.round((now - asked) / 1000))} s</span>`;
  if (answer?.timing?.total) return html`<span>${seconds(answer.timing.total)}</span>`;
  return question.answered_at ? html`<span>${seconds((Date.parse(question.answered_at) - asked) / 1000)}</span>` : null;
}
