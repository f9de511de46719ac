/** The last conversations at the side of a question: beside it where there is room, and else closed above it. */

import { html } from "../../vendor/preact.js";
import { useResource } from "../../core/resource.js";
import { Link, viewOf } from "../../core/router.js";
import { plural, time } from "../../core/text.js";
import { Icon } from "../../parts/icons.js";
import { Loading, Notice } from "../../parts/states.js";
import { useIsWide } from "../inspector.js";
import { listQuestions } from "../source.js";
import { conversationOf, conversationsOf } from "./chains.js";

const LISTED = 100; // questions
const SHOWN = 20; // conversations

/** The last conversations, the newest first. `id`: they are read again for another question. */
export function useConversations(corpus, id) {
  const listed = useResource(["conversations", corpus, id], (signal) => listQuestions(corpus, { limit: LISTED }, signal));
  return { ...listed, value: listed.value && conversationsOf(listed.value.data) };
}

/**
 * @param {{corpus: string, conversations: ReturnType<typeof useConversations>, current?: string, open?: boolean}} props
 *   `current`: the id of the question that is shown. `open`: on narrow screens, too.
 */
export function History({ corpus, conversations, current, open = false }) {
  const wide = useIsWide();
  const list = html`<${Conversations} corpus=${corpus} conversations=${conversations} current=${current} />`;
  const begin = current && html`<${Link} class="button" to=${viewOf(corpus)}><${Icon} name="add" /> New question<//>`;
  if (wide || open) return html`<nav class="history" aria-labelledby="history">${begin}<h2 id="history">Last questions</h2>${list}</nav>`;
  return html`
    <nav class="history narrow-history" aria-label="Last questions">
      ${begin}
      <details><summary>Last questions</summary>${list}</details>
    </nav>`;
}

function Conversations({ corpus, conversations, current }) {
  const { value, error } = conversations;
  if (error) return html`<${Notice} error=${error} />`;
  if (!value) return html`<${Loading} what="the last questions" />`;
  if (!value.length) return html`<p class="faint">None yet. Each question is found again here.</p>`;
  const shown = current ? conversationOf(value, current) : null;
  return html`
    <ul class="plain history-list">
      ${value.slice(0, SHOWN).map((one) => html`
        <li key=${one.last.id}>
          <${Link} to=${viewOf(corpus, "questions", one.last.id)} aria-current=${one === shown ? "page" : undefined}>
            <span class="history-title" dir="auto">${one.first.question}</span>
            <span class="faint">${[one.ids.length > 1 && plural(one.ids.length, "question"), time(one.last.asked_at)].filter(Boolean).join(" · ")}</span>
          <//>
        </li>`)}
    </ul>
    <p><${Link} to=${viewOf(corpus, "questions")}>All questions<//></p>`;
}
