/** The source of a document, page by page or passage by passage, at the place that the address names. */

import { html, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { corpusPath, get } from "../../core/api.js";
import { Points } from "../../core/points.js";
import { useResource } from "../../core/resource.js";
import { toSentenceEnd } from "../../core/text.js";
import { announce } from "../announce.js";
import { Empty, Failed, Loading, Notice } from "../states.js";
import { PageImage } from "./image.js";
import { Pager, PassageBar, Sides } from "./bars.js";
import { findQuote } from "./quotes.js";
import { CutPassages, SourceText } from "./text.js";

const SHOWN = 60; // passages at once
const BEFORE = 10;

export function Source({ corpus, path, document, query, change }) {
  const chunkId = query.get("chunk") || "";
  const quote = query.get("quote") || "";
  const asked = whole(query.get("page"));
  const hasPages = document.pages !== null || document.page_images;
  const [place, setPlace] = useState(chunkId ? null : { page: asked || 1, start: whole(query.get("from")) || 0 });
  const [counted, setCounted] = useState(0);
  const [side, setSide] = useState("text");
  const [isDamaged, setIsDamaged] = useState(false);
  const hasImages = document.page_images && !isDamaged; // the reason stands above, once
  const pages = Math.max(document.pages || 0, counted);

  const passages = usePassages(path, document, hasPages, place);
  const inWindow = passages.value?.chunks.find((one) => one.id === chunkId);
  const focus = useResource(!chunkId || inWindow ? null : ["chunk", corpus, chunkId], (signal) => get(corpusPath(corpus, "chunks", chunkId), {}, signal));
  const isForeign = focus.value && focus.value.document_id !== document.id;
  useEffect(() => {
    if (focus.value && !isForeign) setPlace({ page: focus.value.page || 1, start: Math.max(0, focus.value.position - BEFORE) });
    else if (focus.error || isForeign) setPlace((before) => before || { page: asked || 1, start: 0 });
  }, [focus.value, focus.error]);
  useEffect(() => {
    if (!chunkId) setPlace({ page: asked || 1, start: whole(query.get("from")) || 0 });
  }, [asked, query.get("from")]);

  const page = place?.page || 1;
  const text = useResource(place && document.readable ? ["text", path, hasPages ? page : 1] : null, (signal) => get(`${path}/pages/${hasPages ? page : 1}`, {}, signal));
  const label = text.value?.page === page ? text.value.page_label : "";
  const points = useMemo(() => (text.value ? new Points(text.value.text) : null), [text.value]);
  const selected = inWindow || null;
  const marks = useMemo(() => (points ? marksOf(points, selected, quote) : []), [points, selected?.id, quote]);
  useArrival(chunkId, Boolean(selected && points));

  const select = (id) => change({ chunk: id, page: "", from: "", quote: id === chunkId ? quote : "" }, { replace: true });
  const go = (number) => change({ page: number, chunk: "", from: "", quote: "" });
  const step = async (position) => {
    const known = passages.value.chunks.find((one) => one.position === position);
    const chunk = known || (await get(`${path}/chunks`, { start: position, limit: 1 })).data[0];
    if (!chunk) return;
    select(chunk.id);
    announce(`Passage ${chunk.position + 1}: ${chunk.text.slice(0, 80)}`);
  };
  const isLost = chunkId && (focus.error?.status === 404 || isForeign);
  const mark = marks.length && quote ? quote : selected?.text || "";
  return html`
    <section class="stack document-source" aria-label="Source">
      ${isLost && html`<div class="notice fair"><div>${document.enabled ? "The passage of this link is no longer in the document: it was changed since. This is what it has now." : "Links to passages lead to the beginning while the document is disabled."}</div></div>`}
      ${focus.error && !isLost && html`<${Notice} error=${focus.error} />`}
      <div class="bars">
        ${hasPages && !isDamaged && html`<${Pager} page=${page} label=${label} pages=${pages} go=${go} />`}
        ${hasImages && html`<${Sides} side=${side} choose=${setSide} />`}
        ${selected && html`<${PassageBar} chunk=${selected} count=${document.chunks} step=${step} />`}
      </div>
      <div class=${hasImages ? `split side-${side}` : "stack"}>
        <div class="card stack">
          <${Text} document=${document} text=${text} points=${points} passages=${passages} selected=${chunkId} marks=${marks} select=${select}
            move=${(start) => { setPlace({ page, start }); if (chunkId || query.get("from")) change({ chunk: "", quote: "", page: hasPages ? page : "", from: start || "" }, { replace: true }); }} />
        </div>
        ${hasImages && place && html`<${PageImage} path=${path} page=${page} label=${label} mark=${mark} counted=${setCounted} refused=${() => setIsDamaged(!document.readable)} />`}
      </div>
    </section>`;
}

function Text({ document, text, points, passages, selected, marks, select, move }) {
  if (!document.readable) return document.state === "failed"
    ? html`<${Empty} title="There is no text" text="The document could not be indexed; the reason is above." icon="warning" />`
    : html`<${Empty} title="Not indexed yet" text="Its text and passages are here as soon as a worker has read it." />`;
  if (passages.error) return html`<${Failed} error=${passages.error} retry=${passages.reload} />`;
  if (!passages.value || (!points && !text.error)) return html`<${Loading} what="the text" />`;
  const { chunks, following, isFirst } = passages.value;
  const isCut = chunks.some((one) => !one.span);
  if (text.error && !chunks.length) return text.error.status === 404 ? html`<${Empty} title="No text on this page" text="It may be an image, or empty." />` : html`<${Failed} error=${text.error} retry=${text.reload} />`;
  if (points && !points.length && !chunks.length) return html`<${Empty} title="No text on this page" text="It may be an image, or empty." />`;
  return html`
    ${!isFirst && html`<button onClick=${() => move(Math.max(0, chunks[0].position - SHOWN))}>Earlier passages</button>`}
    ${isCut || !points
      ? html`<${CutPassages} chunks=${chunks} selected=${selected} select=${select} />`
      : html`<${SourceText} points=${points} isPage=${document.pages !== null} chunks=${chunks} following=${following} isFirst=${isFirst} selected=${selected} marks=${marks} select=${select} />`}
    ${following && html`<button onClick=${() => move(following.position)}>Later passages</button>`}`;
}

/** The passages around a place: some of those of the page, or of the document if it has no pages. */
function usePassages(path, document, hasPages, place) {
  return useResource(place && document.readable ? ["passages", path, document.updated_at, place, hasPages] : place && ["none", path], async (signal) => {
    if (!document.readable) return { chunks: [], following: null, isFirst: true };
    const page = document.pages === null ? undefined : place.page;
    const from = Math.max(0, place.start - 1);
    const { data } = await get(`${path}/chunks`, { page, start: from, limit: SHOWN + 2 }, signal);
    const isFirst = place.start === 0 || !data.length || data[0].position >= place.start;
    const shown = isFirst ? data : data.slice(1);
    return { chunks: shown.slice(0, SHOWN), following: shown[SHOWN] || null, isFirst };
  });
}

/** The quote, or nothing: in the selected passage, else anywhere on the page. */
function marksOf(points, chunk, quote) {
  if (!quote) return [];
  const within = chunk?.span ? findQuote(points.slice(chunk.span.start, chunk.span.end), quote) : null;
  const found = within ? { start: chunk.span.start + within.start, end: chunk.span.start + within.end } : findQuote(points.text, quote);
  return found ? toSentenceEnd(points.text, [found]) : [];
}

/** Scrolls to the passage that the address names, and gives it the focus when the view opens with it. */
function useArrival(chunkId, isShown) {
  const isFirst = useRef(true);
  useEffect(() => {
    if (!chunkId || !isShown) return;
    const number = window.document.getElementById(`chunk-${chunkId}`);
    const { top, bottom } = number.getBoundingClientRect();
    if (isFirst.current || top < 120 || bottom > innerHeight - 40) (number.parentElement.querySelector("mark") || number).scrollIntoView({ block: "center" });
    if (isFirst.current) number.focus({ preventScroll: true });
    isFirst.current = false;
  }, [chunkId, isShown]);
}

function whole(text) {
  const value = Number(text);
  return text && Number.isInteger(value) && value >= 0 ? value : 0;
}
