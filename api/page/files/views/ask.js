/** A new question: the field, its settings, which stand in the address, and the last questions at the side. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { fetchModules } from "../core/modules.js";
import { useAction, useResource } from "../core/resource.js";
import { Link, navigate, useQuery, viewOf } from "../core/router.js";
import { useSession } from "../core/session.js";
import { plural } from "../core/text.js";
import { QuestionBox } from "../asking/request/box.js";
import { SettingsForm } from "../asking/request/form.js";
import { check, describe, readSettings, toQuery, toRequest } from "../asking/request/settings.js";
import { History, useConversations } from "../asking/conversation/history.js";
import { ask } from "../asking/source.js";
import { Overview } from "../asking/start/overview.js";
import { Icon } from "../parts/icons.js";
import { Empty, Failed, Notice } from "../parts/states.js";
import { Starting } from "../parts/starting.js";
import { View } from "../parts/view.js";

const LOOK = 2000; // milliseconds between looks for the first document
const NEWEST = 20; // documents that are looked at

export default function Ask({ corpus }) {
  const details = useResource(["corpus", corpus], (signal) => get(corpusPath(corpus), {}, signal));
  const conversations = useConversations(corpus, "");
  if (details.error) return html`<${View} title="Ask" context=${corpus}><${Failed} error=${details.error} retry=${details.reload} /><//>`;
  const counts = details.value?.counts; // the field does not wait for them: who comes to ask types at once
  return html`
    <div class="with-history">
      <${History} corpus=${corpus} conversations=${conversations} open />
      <${View} title=${`Ask ${corpus}`}>
        <${Starting} />
        ${counts?.documents === 0 ? html`<${NothingYet} corpus=${corpus} look=${details.reload} />` : html`<${NewQuestion} corpus=${corpus} counts=${counts} />`}
      <//>
    </div>`;
}

/** `look` reads the number of documents again: the first ones may be indexed just now. */
function NothingYet({ corpus, look }) {
  const newest = useResource(["newest", corpus], (signal) => get(corpusPath(corpus, "documents"), { limit: NEWEST }, signal));
  useEffect(() => {
    const timer = setInterval(() => {
      look();
      newest.reload();
    }, LOOK);
    return () => clearInterval(timer);
  }, []);
  if (newest.value?.data.some((one) => one.state !== "failed")) {
    return html`
      <${Empty} icon="jobs" title="The first documents are being read" text="You can ask as soon as one of them is indexed. This page notices it.">
        <p><${Link} to=${viewOf(corpus, "jobs")} class="button">See how far it is<//></p>
      <//>`;
  }
  return html`
    <${Empty} title="This corpus is empty" text="Questions are answered from its documents. Add some first; they can be asked as soon as they are indexed.">
      <p><${Link} to=${viewOf(corpus, "documents")} class="button"><${Icon} name="upload" /> Add documents<//></p>
    <//>`;
}

function NewQuestion({ corpus, counts }) {
  const session = useSession();
  const [query, changeQuery] = useQuery();
  const [question, setQuestion] = useState(query.get("question") || query.get("q") || "");
  const follows = query.get("follows"); // a follow-up that is changed
  const settings = readSettings(query);
  const wrong = check(settings);
  const field = useRef(null);
  const { run, busy, error } = useAction(async () => {
    const asked = await ask(corpus, { ...toRequest(question, settings), ...(follows && { follows }) });
    navigate(viewOf(corpus, "questions", asked.id));
  });
  const isReady = question.trim() && !busy && Object.keys(wrong).length === 0;
  const submit = (event) => {
    event.preventDefault();
    if (isReady) run();
  };
  const changeSettings = (changes) =>
    changeQuery(changes === null ? toQuery(readSettings(new URLSearchParams())) : toQuery({ ...settings, ...changes }), { replace: true });
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current?.focus({ preventScroll: true }); // a touch keyboard would hide the page
  }, []);
  const write = (text) => {
    fetchModules("question.js"); // the view that comes next
    setQuestion(text);
  };
  const choose = (sample) => {
    write(sample);
    field.current.focus();
  };
  const said = describe(settings);
  return html`
    <form class="ask-form stack" onSubmit=${submit}>
      ${follows && html`<div class="notice"><div>It goes on from an earlier question. <button type="button" class="link" onClick=${() => changeQuery({ follows: "" }, { replace: true })}>Ask it alone</button></div></div>`}
      <${QuestionBox} id="question" label="Question" placeholder="What do you want to know?" value=${question} change=${write} submit=${run} ready=${isReady} busy=${busy} field=${field}
        hint=${html`Enter asks, Shift+Enter breaks the line.${counts && ` Answered from ${plural(counts.documents, "document")}.`}${session.model ? "" : " No language model is configured: sentences are quoted."}`} />
      ${said.length > 0 && html`<p class="faint ask-differs" dir="auto">Differs from the defaults: ${said.join("; ")}.</p>`}
      <${Notice} error=${error} />
      <${SettingsForm} settings=${settings} change=${changeSettings} wrong=${wrong} />
    </form>
    ${!question.trim() && html`<${Overview} corpus=${corpus} counts=${counts} choose=${choose} />`}`;
}
