/** A cited passage, opened: its document, the page of a PDF and its text with the quote marked, and its neighbours. */

import { html, useState } from "../../vendor/preact.js";
import { useResource } from "../../core/resource.js";
import { Link } from "../../core/router.js";
import { cellName, pageName, readable, toSentenceEnd } from "../../core/text.js";
import { Icon } from "../../parts/icons.js";
import { passageAddress } from "../../parts/passage.js";
import { Loading, Notice } from "../../parts/states.js";
import { PassageText } from "../../parts/tables.js";
import { pageImage, readDocument, readPassage } from "../source.js";
import { ROLES, inWords } from "./roles.js";

const WIDTH = 900; // pixels of the image of a page
const LONGEST = 2_000; // letters that are marked in it; an address holds no more

/**
 * @param {{corpus: string, cited: {chunk_id: string | null, url: string | null, corpus?: string, document: any,
 *   page: number | null, quote: string, source_span: any, source_spans?: any[]}, verdict?: any}} props
 */
export function PassageDetails({ corpus, cited, verdict }) {
  const home = cited.corpus || corpus;
  return html`
    <div class="stack">
      <p class="passage-place"><strong dir="auto">${cited.document.title || cited.document.key}</strong>
        ${cited.document.title && cited.document.key !== cited.document.title && html` <span class="faint" dir="auto">${cited.document.key}</span>`}</p>
      ${verdict && html`<${VerdictLine} verdict=${verdict} />`}
      ${cited.url ? html`<${WebPassage} cited=${cited} />` : html`<${OwnPassage} key=${cited.chunk_id} corpus=${home} cited=${cited} />`}
    </div>`;
}

export function VerdictLine({ verdict }) {
  const [tone, icon, label] = ROLES[verdict.role] || ["fair", "warning", verdict.role];
  return html`<p class="row"><span class=${`tag ${tone}`}><${Icon} name=${icon} />${label}</span> <span class="faint" dir="auto">${inWords(verdict.why)}</span></p>`;
}

function WebPassage({ cited }) {
  return html`
    <blockquote dir="auto">${cited.quote}</blockquote>
    <p class="faint">A passage of the web, as the search engine returned it.</p>
    ${/^https?:/i.test(cited.url) && html`<p><a href=${cited.url} rel="noopener noreferrer nofollow" target="_blank">${cited.url}</a></p>`}`;
}

function OwnPassage({ corpus, cited }) {
  const read = useResource(["passage", corpus, cited.chunk_id], (signal) => readPassage(corpus, cited.chunk_id, signal));
  const passage = read.value;
  if (read.error) {
    return html`
      ${read.error.status === 404 ? html`<div class="notice fair"><div>The corpus no longer has this passage: its document was changed or deleted after the answer was given.</div></div>` : html`<${Notice} error=${read.error} />`}
      ${cited.quote && html`<p class="faint">It was quoted as:</p><blockquote dir="auto">${cited.quote}</blockquote>`}`;
  }
  if (!passage) return html`<${Loading} what="the passage" />`;
  const spans = cited.source_span ? toSentenceEnd(passage.text, cited.source_spans || [cited.source_span]) : [];
  return html`
    <p class="row faint">${passage.heading && html`<span dir="auto">${passage.heading}</span>`}${passage.page !== null && html`<span>${pageName(passage.page, cited.page_label)}</span>`}<span>passage ${passage.position + 1}</span></p>
    ${passage.page !== null && html`<${PageImage} corpus=${corpus} id=${passage.document_id} page=${passage.page} cited=${cited} text=${passage.text} />`}
    <${Neighbour} label="The passage before" passage=${passage.previous} />
    ${cited.cell && html`<p class="faint">Cell: <span dir="auto">${cellName(cited.cell)}</span></p>`}
    <${PassageText} chunk=${passage} spans=${spans} cell=${cited.cell} className="opened-passage" />
    <${Neighbour} label="The passage after" passage=${passage.next} />
    <p><${Link} class="button" to=${passageAddress(corpus, passage.document_id, passage.id, cited.quote)}><${Icon} name="documents" /> Open in the document<//></p>`;
}

function Neighbour({ label, passage }) {
  if (!passage) return null;
  return html`<details class="neighbour"><summary>${label}</summary><p class="passage-text faint" dir="auto">${readable(passage)}</p></details>`;
}

/** A passage that is not quoted is marked whole. */
function PageImage({ corpus, id, page, cited, text }) {
  const document = useResource(["document", corpus, id], (signal) => readDocument(corpus, id, signal));
  const [failed, setFailed] = useState(false);
  if (!document.value?.page_images) return null;
  if (failed) return html`<p class="faint">The image of page ${page} could not be loaded.</p>`;
  const name = `Page ${page} of ${cited.document.title || cited.document.key}, with the ${cited.quote ? "quote" : "passage"} marked`;
  const marked = (cited.quote || text).slice(0, LONGEST);
  return html`<figure class="page-image"><img src=${pageImage(corpus, id, page, marked, WIDTH)} alt=${name} loading="lazy" onError=${() => setFailed(true)} /><figcaption class="faint">Page ${page}${cited.page_label ? ` (${cited.page_label})` : ""}</figcaption></figure>`;
}
