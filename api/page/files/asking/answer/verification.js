/** What an answer hangs on: each cited document masked in turn, and the question answered again without it. */

import { html, useEffect, useRef } from "../../vendor/preact.js";
import { Problem } from "../../core/problem.js";
import { useAction } from "../../core/resource.js";
import { Link, viewOf } from "../../core/router.js";
import { number, plural } from "../../core/text.js";
import { announce } from "../../parts/announce.js";
import { Icon } from "../../parts/icons.js";
import { Notice } from "../../parts/states.js";
import { Progress, Support } from "../../parts/tags.js";
import { plainText } from "../plain.js";
import { verifyQuestion } from "../source.js";
import { ROLES, inWords } from "./roles.js";

export const verificationOf = (question) => question.verification || question.answer?.verification || null;

/** The verdicts on an answer's documents that are known, also while others are still checked. */
export const verdictsOf = (question) => (question.verifying || verificationOf(question))?.documents || [];

/** What a check of the answer would cost; null if there is nothing to check. */
const costOf = (question) => question.verifying?.cost || question.answer.verification_cost || null;

/** True where the answer can be checked, is checked, or was. */
export const canVerify = (question, verifying) => verifying || Boolean(verificationOf(question) || costOf(question));

/** @param {{corpus: string, question: any, verifying: boolean, watch: () => void}} props For answers that `canVerify`. */
export function Verification({ corpus, question, verifying, watch }) {
  const done = verificationOf(question);
  const cost = costOf(question);
  const { run, busy, error } = useAction(async () => {
    await verifyQuestion(corpus, question.id);
    watch();
    announce("The check runs.");
  });
  const known = verdictsOf(question);
  useSaying(known, verifying);
  const failure = error || (question.verification_problem && new Problem(question.verification_problem.status, question.verification_problem));
  const all = cost?.documents ?? known.length;
  return html`
    <div class="stack verification">
      ${!verifying && html`<${Notice} error=${failure} />`}
      ${!done && !verifying && html`
        <p>Each cited document is left out in turn, and the question is answered again. This shows which documents the answer needs, which are redundant, and which contradict it.</p>
        <div class="row"><button disabled=${busy} onClick=${run}><${Icon} name="check" /> Check what the answer hangs on: ${costInWords(cost)}</button></div>`}
      ${verifying && html`<${Progress} value=${all ? Math.min(1, known.length / all) : null} label=${`${known.length} of ${plural(all, "document")} checked`} />`}
      ${known.length > 0 && html`<ul class="plain verdicts">${known.map((one) => html`<${Verdict} key=${one.document.id} corpus=${corpus} verdict=${one} />`)}</ul>`}
      ${done && !verifying && html`<${Conclusion} verification=${done} />`}
    </div>`;
}

/** Says each verdict as it comes. */
function useSaying(known, verifying) {
  const before = useRef(known.length);
  useEffect(() => {
    const last = known[known.length - 1];
    if (verifying && known.length > before.current) announce(`${last.document.title || last.document.key}: ${ROLES[last.role]?.[2] || last.role}.`);
    before.current = known.length;
  }, [known.length, verifying]);
}

/** `3 documents, about 4,200 tokens`. */
function costInWords(cost) {
  return [plural(cost.documents, "document"), cost.tokens ? `about ${number(roundOff(cost.tokens))} tokens` : "no language model"].join(", ");
}

/** An estimate with two digits that count. */
function roundOff(value) {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.round(value / step) * step;
}

function Verdict({ corpus, verdict }) {
  const [tone, icon, label, sentence] = ROLES[verdict.role] || ["fair", "warning", verdict.role, ""];
  const { without } = verdict;
  return html`
    <li class="verdict">
      <p class="row"><span class=${`tag ${tone}`}><${Icon} name=${icon} />${label}</span>
        <${Link} to=${viewOf(verdict.corpus || corpus, "documents", verdict.document.id)} dir="auto">${verdict.document.title || verdict.document.key}<//>
        ${verdict.markers.length > 0 && html`<span class="faint">${verdict.markers.map((one) => `[${one}]`).join(" ")}</span>`}</p>
      <p dir="auto">${inWords(verdict.why) || sentence}</p>
      ${verdict.replaced_by?.length > 0 && html`<p class="faint">In its place: ${verdict.replaced_by.map((one, i) => html`${i > 0 && ", "}<${Link} to=${viewOf(one.corpus || verdict.corpus || corpus, "documents", one.id)} dir="auto">${one.title || one.key}<//>`)}</p>`}
      ${without?.answer && !without.abstained && html`<p class="without"><span class="faint">Without it:</span> <span dir="auto">${plainText(without.answer)}</span> <${Support} support=${without.support} /></p>`}
    </li>`;
}

function Conclusion({ verification }) {
  const names = new Map(verification.documents.flatMap((one) => [one.document, ...(one.replaced_by || [])]).map((one) => [one.id, one.title || one.key]));
  const { usage } = verification;
  return html`
    ${verification.together.map((ids) => html`<p class="notice fair"><span>One of these is needed, though each is redundant: <span dir="auto">${ids.map((id) => names.get(id) || id).join(", ")}</span>.</span></p>`)}
    ${verification.notes.length > 0 && html`<ul class="faint">${[...new Set(verification.notes.map(inWords))].map((note) => html`<li dir="auto">${note}</li>`)}</ul>`}
    ${usage && html`<p class="faint">It took ${plural(usage.calls, "call")} and ${plural(usage.prompt_tokens + usage.completion_tokens, "token")}.</p>`}`;
}
