/** A new question: the field, its settings, which stand in the address, and the last questions. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { useAction, useResource } from "../core/resource.js";
import { Link, navigate, useQuery, viewOf } from "../core/router.js";
import { useSession } from "../core/session.js";
import { plural } from "../core/text.js";
import { SettingsForm } from "../asking/request/form.js";
import { check, describe, readSettings, toQuery, toRequest } from "../asking/request/settings.js";
import { QuestionRow } from "../asking/kept/row.js";
import { ask, listQuestions } from "../asking/source.js";
import { Icon } from "../parts/icons.js";
import { Empty, Failed, Notice } from "../parts/states.js";
import { Starting } from "../parts/starting.js";
import { View } from "../parts/view.js";

const SHOWN = 6;
const LONGEST = 20_000; // what the server takes

export default function Ask({ corpus }) {
  const details = useResource(["corpus", corpus], (signal) => get(corpusPath(corpus), {}, signal));
  if (details.error) return html`<${View} title="Ask" context=${corpus}><${Failed} error=${details.error} retry=${details.reload} /><//>`;
  const counts = details.value?.counts; // the field does not wait for them: who comes to ask types at once
  return html`
    <${View} title=${`Ask ${corpus}`}>
      <${Starting} />
      ${counts?.documents === 0 ? html`<${NothingYet} corpus=${corpus} />` : html`<${NewQuestion} corpus=${corpus} counts=${counts} />`}
      <${LastQuestions} corpus=${corpus} />
    <//>`;
}

function NothingYet({ corpus }) {
  return html`
    <${Empty} title="This corpus is empty" text="Questions are answered from its documents. Add some first; they can be asked as soon as they are indexed.">
      <p><${Link} to=${viewOf(corpus, "documents")} class="button"><${Icon} name="upload" /> Add documents<//></p>
    <//>`;
}

function NewQuestion({ corpus, counts }) {
  const session = useSession();
  const [query, changeQuery] = useQuery();
  const [question, setQuestion] = useState(query.get("question") || query.get("q") || "");
  const settings = readSettings(query);
  const wrong = check(settings);
  const field = useRef(null);
  const { run, busy, error } = useAction(async () => {
    const asked = await ask(corpus, toRequest(question, settings));
    navigate(viewOf(corpus, "questions", asked.id));
  });
  const isReady = question.trim() && !busy && Object.keys(wrong).length === 0;
  const submit = (event) => {
    event.preventDefault();
    if (isReady) run();
  };
  const keys = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return; // Enter also ends the writing of a Chinese word
    submit(event);
  };
  const changeSettings = (changes) =>
    changeQuery(changes === null ? toQuery(readSettings(new URLSearchParams())) : toQuery({ ...settings, ...changes }), { replace: true });
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current?.focus({ preventScroll: true }); // a touch keyboard would hide the page
  }, []);
  useEffect(() => grow(field.current), [question]);
  const said = describe(settings);
  return html`
    <form class="ask-form stack" onSubmit=${submit}>
      <div class="ask-box">
        <label for="question" class="unseen">Question</label>
        <textarea id="question" ref=${field} dir="auto" rows="2" maxlength=${LONGEST} placeholder="What do you want to know?" value=${question}
          enterkeyhint="send" aria-describedby="question-hint" onInput=${(event) => setQuestion(event.target.value)} onKeyDown=${keys}></textarea>
        <div class="ask-box-end">
          <p class="hint" id="question-hint">Enter asks, Shift+Enter breaks the line.${counts && ` Answered from ${plural(counts.documents, "document")}.`}${
            session.model ? "" : " No language model is configured: sentences are quoted."}</p>
          <button class="primary" disabled=${!isReady}>${busy ? html`<span class="spinner" aria-hidden="true"></span> Asking…` : html`<${Icon} name="ask" /> Ask`}</button>
        </div>
      </div>
      ${said.length > 0 && html`<p class="faint ask-differs" dir="auto">Differs from the defaults: ${said.join("; ")}.</p>`}
      <${Notice} error=${error} />
      <${SettingsForm} settings=${settings} change=${changeSettings} wrong=${wrong} />
    </form>`;
}

/** Makes the field as high as its text, within what the style allows. */
function grow(field) {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

function LastQuestions({ corpus }) {
  const last = useResource(["last", corpus], (signal) => listQuestions(corpus, { limit: SHOWN }, signal));
  if (last.error) return html`<${Notice} error=${last.error} />`;
  if (!last.value || last.value.data.length === 0) return null;
  return html`
    <section class="stack" aria-labelledby="last-questions">
      <div class="view-head"><h2 id="last-questions">Last questions</h2><${Link} to=${viewOf(corpus, "questions")}>All questions<//></div>
      <ul class="plain question-rows">${last.value.data.map((one) => html`<${QuestionRow} key=${one.id} corpus=${corpus} question=${one} />`)}</ul>
    </section>`;
}
