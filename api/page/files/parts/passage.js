/** A passage: its document, heading path and page, and its text with marks. Used by answers, searches and entities. */

import { html } from "../vendor/preact.js";
import { Link, viewOf } from "../core/router.js";
import { address } from "../core/api.js";
import { cutAt } from "../core/text.js";
import { PassageText } from "./tables.js";

/** Text with the spans (in code points) marked. */
export function Marked({ text, spans = [] }) {
  return html`<span dir="auto">${cutAt(text, spans).map((piece) => (piece.marked ? html`<mark>${piece.text}</mark>` : piece.text))}</span>`;
}

/** The address of a passage in its document, at the quote. */
export function passageAddress(corpus, documentId, chunkId, quote) {
  return address(viewOf(corpus, "documents", documentId), { chunk: chunkId, quote });
}

/**
 * @param {{corpus: string, document: {id: string, key: string, title: string}, chunk: any, spans?: any[], quote?: string,
 *   children?: any}} passage `chunk` has `id`, `text`, and perhaps `heading` and `page`; `children` are shown below.
 */
export function Passage({ corpus, document, chunk, spans, quote, children }) {
  return html`
    <article class="passage">
      <header>
        <${Link} to=${passageAddress(corpus, document.id, chunk.id, quote)} class="passage-title" dir="auto">${document.title || document.key}<//>
        ${chunk.page && html`<span class="faint">page ${chunk.page}</span>`}
        ${chunk.heading && html`<span class="faint" dir="auto">${chunk.heading}</span>`}
      </header>
      <${PassageText} chunk=${chunk} spans=${spans} />
      ${children}
    </article>`;
}
