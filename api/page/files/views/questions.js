/** Kept and former questions, the newest first. */

import { html, useState } from "../vendor/preact.js";
import { useAction, useResource } from "../core/resource.js";
import { Link, useQuery, viewOf } from "../core/router.js";
import { plural } from "../core/text.js";
import { QuestionRow, firstWords } from "../asking/kept/row.js";
import { deleteQuestion, listQuestions } from "../asking/source.js";
import { announce } from "../parts/announce.js";
import { Confirm } from "../parts/dialog.js";
import { Icon } from "../parts/icons.js";
import { Empty, Failed, Loading, Notice } from "../parts/states.js";
import { View } from "../parts/view.js";

const PAGE = 50;

export default function Questions({ corpus }) {
  const [query, changeQuery] = useQuery();
  const kept = query.get("kept") === "1";
  const words = query.get("words") || "";
  const list = useResource(["questions", corpus, kept], (signal) => listQuestions(corpus, { kept: kept || null, limit: PAGE }, signal));
  const more = useAction(async () => {
    const next = await listQuestions(corpus, { kept: kept || null, limit: PAGE, cursor: list.value.next_cursor });
    list.change({ data: [...list.value.data, ...next.data], next_cursor: next.next_cursor });
    announce(`${plural(next.data.length, "more question")}.`);
  });
  const [leaving, setLeaving] = useState(null);
  const change = (changed) => list.change((before) => ({ ...before, data: before.data.map((one) => (one.id === changed.id ? changed : one)) }));
  const drop = (id) => list.change((before) => ({ ...before, data: before.data.filter((one) => one.id !== id) }));
  const shown = (list.value?.data || []).filter((one) => contains(one, words));
  return html`
    <${View} title="Questions" context=${corpus}>
      <div class="row" role="search">
        <div class="grow"><label class="unseen" for="words">Search in the questions</label>
          <input id="words" type="search" dir="auto" placeholder="Search in the questions" value=${words} onInput=${(event) => changeQuery({ words: event.target.value }, { replace: true })} /></div>
        <label class="row"><input type="checkbox" checked=${kept} onChange=${(event) => changeQuery({ kept: event.target.checked ? "1" : null })} /> Only kept ones</label>
      </div>
      ${list.error ? html`<${Failed} error=${list.error} retry=${list.reload} />` : !list.value ? html`<${Loading} what="the questions" />` : html`
        ${list.value.data.length === 0 && html`<${Nothing} corpus=${corpus} kept=${kept} />`}
        ${list.value.data.length > 0 && shown.length === 0 && html`<p class="state" role="status">None of the ${plural(list.value.data.length, "loaded question")} has these words.</p>`}
        <ul class="plain question-rows">${shown.map((one) => html`<${QuestionRow} key=${one.id} corpus=${corpus} question=${one} changed=${change} remove=${setLeaving} />`)}</ul>
        ${list.value.next_cursor && html`<div class="row"><button disabled=${more.busy} onClick=${more.run}>${more.busy ? "Loading…" : "Load more"}</button>
          ${words && html`<span class="faint">Only loaded questions are searched.</span>`}</div>`}
        <${Notice} error=${more.error} />`}
      ${leaving && html`<${Leave} corpus=${corpus} question=${leaving} gone=${drop} close=${() => setLeaving(null)} />`}
    <//>`;
}

function Leave({ corpus, question, gone, close }) {
  const { run, busy, error } = useAction(async () => {
    await deleteQuestion(corpus, question.id);
    gone(question.id);
    announce("The question was deleted.");
    close();
  });
  return html`<${Confirm} title="Delete this question?" action="Delete the question" busy=${busy} error=${error} confirm=${run} close=${close}>
    <p dir="auto">${question.question}</p><p class="faint">Its answer, steps and quotes are deleted with it. The documents stay.</p>
  <//>`;
}

function Nothing({ corpus, kept }) {
  if (kept) return html`<${Empty} icon="questions" title="No kept question" text="Former questions are deleted after some days. Those that you keep stay." />`;
  return html`<${Empty} icon="questions" title="No question yet" text="Each question has its own address, where its answer is found again.">
    <p><${Link} to=${viewOf(corpus)} class="button"><${Icon} name="ask" /> Ask a question<//></p><//>`;
}

/** True if a question or its answer has all the words. */
function contains(question, words) {
  const text = `${question.question} ${firstWords(question)}`.toLocaleLowerCase();
  return words.toLocaleLowerCase().split(/\s+/).every((word) => text.includes(word));
}
