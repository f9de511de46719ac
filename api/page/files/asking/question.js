/** A question that was read: its head, its answer beside what is chosen, its plan and its trail. */

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { plural } from "../core/text.js";
import { View } from "../parts/view.js";
import { announce } from "../parts/announce.js";
import { Disclosure } from "../parts/disclosure.js";
import { Notice } from "../parts/states.js";
import { AnswerPart } from "./answer/answer.js";
import { CopyMenu } from "./answer/copying.js";
import { PassagesOf, hasPassages } from "./answer/nearest.js";
import { PassageDetails } from "./answer/passage.js";
import { verdictOf } from "./answer/sources.js";
import { Verification, canVerify, verdictsOf, verificationOf } from "./answer/verification.js";
import { FollowUp } from "./conversation/follow.js";
import { EarlierTurns } from "./conversation/turns.js";
import { Actions, Facts } from "./head.js";
import { Inspector, useIsWide } from "./inspector.js";
import { Changes } from "./kept/changes.js";
import { Plan, factsOf } from "./plan/plan.js";
import { StepDetails } from "./plan/step.js";
import { hasPlan, nameOfStep, readableSteps } from "./steps.js";
import { Trail } from "./trail/trail.js";

const TITLE = 240; // letters of a question that are its title

/**
 * @param {{corpus: string, asked: ReturnType<import("./use_question.js").useQuestion>, earlier: any, later: any}} props
 *   `earlier`: the questions before it, as `useEarlier` reads them; `later`: the conversation that goes on after it.
 */
export function AskedQuestion({ corpus, asked, earlier, later }) {
  const { question, progress, broken, reload } = asked;
  const [chosen, setChosen] = useState(null);
  const opener = useRef(null);
  const running = question.state === "running";
  const steps = useMemo(() => readableSteps(progress.steps, question.question), [progress.steps, question.question]);
  const verdicts = verdictsOf(question);
  const wide = useIsWide();
  const change = useInPlace(setChosen);
  const choose = (value) => {
    if (!document.activeElement.closest(".inspector, dialog")) opener.current = document.activeElement;
    change(value);
  };
  const close = () => {
    change(null);
    opener.current?.focus?.({ preventScroll: true });
  };
  const openPassage = (cited) => choose({ kind: "passage", id: `passage:${cited.url || cited.chunk_id}`, value: withAllSpans(cited, question.answer) });
  const openStep = (id) => choose({ kind: "step", id: `step:${id}` });
  const openNode = (node) => (node.kind === "step" ? openStep(node.value.id) : choose(node));
  useSaying(question, steps);
  const turns = earlier.value?.turns || [];
  useInSight(turns.length > 0, running);
  const before = html`<${Notice} error=${earlier.error} />${earlier.value && html`<${EarlierTurns} corpus=${corpus} earlier=${earlier.value} open=${openPassage} />`}`;
  return html`
    <${View} title=${shortOf(question.question)} context=${corpus} before=${before} actions=${html`<${Actions} corpus=${corpus} asked=${asked} turns=${turns} />`}>
      ${shortOf(question.question) !== question.question && html`<details><summary>The whole question</summary><p class="passage-text" dir="auto">${question.question}</p></details>`}
      <${Facts} corpus=${corpus} question=${question} progress=${progress} />
      ${broken && html`<div class="row"><${Notice} error=${broken} /><button onClick=${reload}>Follow it again</button></div>`}
      <div class=${`question-body ${chosen ? "with-inspector" : ""}`}>
        <div class="stack question-main">
          <${AnswerPart} corpus=${corpus} question=${question} progress=${progress} verdicts=${verdicts} open=${openPassage} chosen=${chosen?.value?.marker ?? null} apart=${Boolean(chosen) && wide} />
          ${!question.withdrawn && html`<${CopyMenu} corpus=${corpus} question=${question} />`}
          ${!running && html`<${FollowUp} corpus=${corpus} question=${question} later=${later} />`}
          ${question.again_of && question.state === "done" && html`<${Changes} corpus=${corpus} question=${question} />`}
          <${PlanPart} steps=${steps} answer=${question.answer} running=${running} chosen=${chosen?.kind === "step" ? chosen.id.slice(5) : ""} choose=${openStep} />
          ${question.answer && !question.withdrawn && html`
            <div class="disclosures">
              <${Disclosure} title="Trail" hint="from the question to its passages and facts">
                ${() => html`<${Trail} corpus=${corpus} question=${question} steps=${steps} verdicts=${verdicts} chosen=${chosen?.id || ""} choose=${openNode} />`}
              <//>
              ${canVerify(question, asked.verifying) && html`
                <${Disclosure} title="What the answer hangs on" hint="which documents it needs" open=${asked.verifying || Boolean(verificationOf(question))}>
                  ${() => html`<${Verification} corpus=${corpus} question=${question} verifying=${asked.verifying} watch=${asked.watch} />`}
                <//>`}
            </div>`}
        </div>
        ${chosen && html`<aside class="inspector" aria-label="What was chosen">
          <${Chosen} corpus=${corpus} chosen=${chosen} steps=${steps} running=${running} verdicts=${verdicts} open=${openPassage} close=${close} question=${question} />
          ${wide && question.answer && hasPassages(question.answer) && html`<div class="card stack">
            <${PassagesOf} answer=${question.answer} active=${chosen.value?.marker ?? null} point=${() => {}} open=${openPassage} verdicts=${verdicts} /></div>`}
        </aside>`}
      </div>
    <//>`;
}

/** Changes a state without moving what the reader has just chosen, though the columns above it change their height. */
function useInPlace(setState) {
  const held = useRef(null);
  useLayoutEffect(() => {
    if (!held.current) return;
    const { element, top } = held.current;
    held.current = null;
    if (element.isConnected) scrollBy(0, element.getBoundingClientRect().top - top);
  });
  return (value) => {
    const element = document.activeElement;
    held.current = element === document.body ? null : { element, top: element.getBoundingClientRect().top };
    setState(value);
  };
}

/** Shows the question that was asked last once the ones above it are there, and again when its answer is. */
function useInSight(hasEarlier, running) {
  useEffect(() => {
    if (hasEarlier) document.querySelector("h1").scrollIntoView();
  }, [hasEarlier, running]);
}

/** A citation of the answer with all words of its passage that the same marker stands for. */
function withAllSpans(cited, answer) {
  if (!answer?.citations.includes(cited)) return cited;
  const same = answer.citations.filter((one) => one.marker === cited.marker && one.chunk_id === cited.chunk_id);
  return { ...cited, source_spans: same.map((one) => one.source_span) };
}

const shortOf = (text) => (text.length > TITLE ? `${text.slice(0, TITLE).trimEnd()}…` : text);

/** A plan of one question says nothing that the answer does not: it is closed, and not shown while the question runs. */
function PlanPart({ steps, answer, running, chosen, choose }) {
  const plan = html`<${Plan} steps=${steps} answer=${answer} chosen=${chosen} choose=${choose} running=${running} />`;
  if (hasPlan(steps)) return html`<section class="stack" aria-labelledby="plan"><h2 id="plan">Plan</h2>${plan}</section>`;
  if (!steps.length || running) return null;
  return html`<div class="disclosures"><${Disclosure} title="How it was found" hint=${steps.length > 1 ? plural(steps.length, "step") : factsOf(steps[0]).join(" · ")}>${() => plan}<//></div>`;
}

function Chosen({ corpus, chosen, steps, running, verdicts, open, close, question }) {
  const shown = {
    step: () => {
      const step = steps.find((one) => one.id === chosen.id.slice(5));
      return step && [nameOfStep(step), html`<${StepDetails} corpus=${corpus} step=${step} steps=${steps} running=${running} open=${open} />`];
    },
    passage: () => [
      chosen.value.marker ? `Source ${chosen.value.marker}` : "Passage",
      html`<${PassageDetails} corpus=${corpus} cited=${chosen.value} verdict=${verdictOf(chosen.value, verdicts)} />`,
    ],
    fact: () => ["Fact", html`<${FactDetails} fact=${chosen.value} steps=${steps} open=${open} answer=${question.answer} />`],
    question: () => ["Question", html`<p dir="auto">${question.question}</p>`],
  }[chosen.kind]();
  if (!shown) return null;
  return html`<${Inspector} title=${shown[0]} of=${chosen.id} close=${close}>${shown[1]}<//>`;
}

/** A fact with the passages of the trail that assert it. */
function FactDetails({ fact, steps, open, answer }) {
  const known = [...answer.citations, ...steps.flatMap((step) => step.quotes.map((quote) => ({ page: null, ...quote })))];
  const passages = fact.chunk_ids.map((id) => known.find((one) => one.chunk_id === id)).filter(Boolean);
  return html`
    <div class="stack">
      <p><strong dir="auto">${fact.subject}</strong> <span dir="auto">${fact.predicate}</span> <strong dir="auto">${fact.object}</strong></p>
      <h3>Asserted by</h3>
      <ul class="plain stack">${passages.map((one) => html`<li><button class="outline-node" onClick=${() => open(one)}><span dir="auto">${one.document.title || one.document.key}</span></button><p class="faint" dir="auto">${one.quote}</p></li>`)}</ul>
    </div>`;
}

/** Says the answers of steps, and the answer, to readers who do not see them appear. */
function useSaying(question, steps) {
  const said = useRef(null);
  useEffect(() => {
    const done = steps.filter((step) => step.state === "done" && step.answer);
    const first = said.current === null;
    const before = said.current || { steps: new Set(), state: question.state };
    const fresh = done.filter((step) => !before.steps.has(step.id));
    said.current = { steps: new Set(done.map((step) => step.id)), state: question.state };
    if (first) return;
    if (before.state === "running" && question.state !== "running") announce(sayEnd(question));
    else if (question.state === "running" && fresh.length) announce(fresh.map((step) => `${nameOfStep(step)}: ${step.answer}.`).join(" "));
  }, [steps, question]);
}

function sayEnd(question) {
  if (question.state === "cancelled") return "The question was cancelled.";
  if (!question.answer) return `The question failed. ${question.problem?.detail || ""}`;
  return question.answer.abstained ? "No answer is given." : `The answer: ${question.answer.answer}`;
}
