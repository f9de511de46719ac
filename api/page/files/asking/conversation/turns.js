/** The questions of a conversation before the one that is shown, with their answers. */

import { html, useState } from "../../vendor/preact.js";
import { useResource } from "../../core/resource.js";
import { Link, viewOf } from "../../core/router.js";
import { plural } from "../../core/text.js";
import { Support } from "../../parts/tags.js";
import { CitedText } from "../answer/cited.js";
import { Sources } from "../answer/sources.js";
import { firstWords } from "../kept/row.js";
import { readQuestion } from "../source.js";
import { StateOf } from "../state.js";

const MOST = 50; // questions before the one that is shown

/**
 * Reads the questions before one, the oldest first.
 *
 * @param {import("../source.js").Question | null} question
 * @returns {{value: {turns: import("../source.js").Question[], lost: boolean} | null}} `lost`: earlier ones were
 *   deleted, or are too many to be shown.
 */
export function useEarlier(corpus, question) {
  const follows = question?.follows || null;
  const read = useResource(follows && ["earlier", corpus, follows], (signal) => readEarlier(corpus, follows, signal));
  return follows ? read : { ...read, value: { turns: [], lost: false } };
}

async function readEarlier(corpus, follows, signal) {
  const turns = [];
  let next = follows;
  while (next && turns.length < MOST) {
    try {
      turns.unshift(await readQuestion(corpus, next, signal));
    } catch (error) {
      if (error.status !== 404) throw error;
      break;
    }
    next = turns[0].follows;
  }
  return { turns, lost: Boolean(next) };
}

/** @param {{corpus: string, earlier: any, open: (cited: any) => void}} props */
export function EarlierTurns({ corpus, earlier, open }) {
  if (!earlier.turns.length && !earlier.lost) return null;
  return html`
    <div class="turns">
      ${earlier.lost && html`<p class="faint">Earlier questions of this conversation are not shown: they were deleted, or are too many.</p>`}
      ${earlier.turns.map((one) => html`<${Turn} key=${one.id} corpus=${corpus} question=${one} open=${open} />`)}
    </div>`;
}

function Turn({ corpus, question, open }) {
  const [pointed, setPointed] = useState(null);
  const { answer } = question;
  const sources = answer ? new Set(answer.citations.map((one) => one.marker)).size : 0;
  const isGiven = answer && !question.withdrawn;
  return html`
    <article class="turn" aria-label=${question.question}>
      <h2 dir="auto"><${Link} to=${viewOf(corpus, "questions", question.id)}>${question.question}<//></h2>
      ${isGiven
        ? html`<div class="answer-text"><${CitedText} text=${answer.answer} citations=${answer.citations} active=${pointed} point=${setPointed} open=${open} /></div>`
        : html`<p class="faint" dir="auto">${firstWords(question)}</p>`}
      <div class="row"><${StateOf} question=${question} />${isGiven && !answer.abstained && html`<${Support} support=${answer.support} />`}</div>
      ${isGiven && sources > 0 && html`
        <details class="notes"><summary>${plural(sources, answer.abstained ? "near passage" : "source")}</summary>
          <${Sources} citations=${answer.citations} active=${pointed} point=${setPointed} open=${open} verdicts=${[]} /></details>`}
    </article>`;
}
