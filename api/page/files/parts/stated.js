/** A passage that is known by its id, such as the one that states a fact: loaded when it is shown. */

import { html } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { useResource } from "../core/resource.js";
import { spansOf } from "../core/text.js";
import { Passage } from "./passage.js";
import { Loading, Notice } from "./states.js";

/** @param {{corpus: string, id: string, words?: string[]}} props `words` are marked in the passage. */
export function StatedPassage({ corpus, id, words = [] }) {
  const found = useResource([corpus, id], (signal) => loadPassage(corpus, id, signal));
  if (found.error) return html`<${Notice} error=${found.error} />`;
  if (!found.value) return html`<${Loading} what="the passage" />`;
  const { chunk, document } = found.value;
  return html`<${Passage} corpus=${corpus} document=${document} chunk=${chunk} spans=${spansOf(chunk.text, words)} />`;
}

/** Returns a passage, with its neighbours, and its document. */
export async function loadPassage(corpus, id, signal) {
  const chunk = await get(corpusPath(corpus, "chunks", id), {}, signal);
  return { chunk, document: await get(corpusPath(corpus, "documents", chunk.document_id), {}, signal) };
}
