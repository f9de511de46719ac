/** The trail of an answer: as a picture that is walked, zoomed and exported, or as a list. */

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { useResource } from "../../core/resource.js";
import { download } from "../../core/saving.js";
import { useSession } from "../../core/session.js";
import { announce } from "../../parts/announce.js";
import { Icon } from "../../parts/icons.js";
import { Notice } from "../../parts/states.js";
import { toFile } from "./export.js";
import { readFacts } from "./facts.js";
import { buildTrail } from "./graph.js";
import { browserAddress } from "./neo4j.js";
import { TrailOutline } from "./outline.js";
import { TrailPicture } from "./picture.js";

const LEAST = 0.1;
const READABLE = 0.7; // at first, a wide picture is scrolled rather than made unreadable
const MOST = 2.5;

/** @param {{corpus: string, question: any, steps: any[], verdicts: any[], chosen: string, choose: (node: any) => void}} props */
export function Trail({ corpus, question, steps, verdicts, chosen, choose }) {
  const session = useSession();
  const facts = useResource(["facts", corpus, question.id], (signal) => readFacts(corpus, question.answer, signal));
  const { nodes, cut } = useMemo(() => buildTrail(question, steps, facts.value || [], verdicts), [question, steps, facts.value, verdicts]);
  const [asList, setAsList] = useState(() => matchMedia("(max-width: 44rem)").matches);
  const [zoom, setZoom] = useState(1);
  const drawing = useRef(null);
  const frame = useRef(null);
  const zoomed = useRef(false); // by the reader, whose size then stays
  const fit = () => setZoom(fitting(frame.current, drawing.current));
  useLayoutEffect(() => {
    if (asList) return undefined;
    const element = frame.current;
    const adapt = () => zoomed.current || setZoom(Math.max(READABLE, fitting(element, drawing.current)));
    const observer = new ResizeObserver(adapt); // what is opened beside the trail leaves it less room
    observer.observe(element);
    adapt();
    return () => observer.disconnect();
  }, [asList, nodes.length]);
  useEffect(() => {
    if (!asList) showQuestion(frame.current);
  }, [asList, nodes.length]);
  const change = (by) => {
    zoomed.current = true;
    setZoom((before) => Math.min(MOST, Math.max(LEAST, before * by)));
  };
  const exportFile = () => {
    download(new Blob([toFile(drawing.current, `The trail of “${question.question}”`)], { type: "image/svg+xml" }), "trail.svg");
    announce("The trail was exported as trail.svg.");
  };
  const browser = browserAddress(session.neo4j_browser, corpus, question.question);
  const zoomButton = (label, sign, act) => html`<button class="quiet icon-only" aria-label=${label} title=${label} onClick=${act}>${sign}</button>`;
  return html`
    <div class="stack">
      <div class="view-head">
        <p class="faint">From the question over its steps to the passages, and to the facts that they assert.${!asList && " Arrow keys walk it, Enter opens."}${cut ? " Only the first part is shown." : ""}</p>
        <div class="row" role="group" aria-label="The picture of the trail">
          ${!asList && html`${zoomButton("Smaller", "−", () => change(1 / 1.25))}${zoomButton("Larger", "+", () => change(1.25))}
            <button class="quiet" onClick=${fit}>Fit</button>
            <button class="quiet" onClick=${exportFile}><${Icon} name="download" />SVG</button>`}
          <button class="quiet" aria-pressed=${asList} onClick=${() => setAsList(!asList)}>As a list</button>
          ${browser && html`<a class="button" href=${browser} target="_blank" rel="noopener"><${Icon} name="graph" />Neo4j Browser</a>`}
        </div>
      </div>
      <${Notice} error=${facts.error} />
      ${asList
        ? html`<${TrailOutline} nodes=${nodes} chosen=${chosen} choose=${choose} />`
        : html`<div class="trail-frame" ref=${frame}><${TrailPicture} nodes=${nodes} zoom=${zoom} chosen=${chosen} choose=${choose} reference=${drawing}
            title="The trail: question, steps, passages, facts" /></div>`}
    </div>`;
}

/** The zoom at which a whole drawing fits the width of its frame. */
function fitting(frame, drawing) {
  if (!frame || !drawing) return 1;
  const { paddingInlineStart, paddingInlineEnd } = getComputedStyle(frame);
  const room = frame.clientWidth - parseFloat(paddingInlineStart) - parseFloat(paddingInlineEnd);
  return Math.min(1.1, Math.max(LEAST, Math.floor(room) / drawing.viewBox.baseVal.width));
}

/** Scrolls a frame to the question: in a high picture it stands in the middle of the height. */
function showQuestion(frame) {
  const box = frame?.querySelector('[data-node="question"]')?.getBoundingClientRect();
  if (box) frame.scrollTop += box.top + box.height / 2 - frame.getBoundingClientRect().top - frame.clientHeight / 2;
}
