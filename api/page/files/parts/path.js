/** A path through the graph: drawn as nodes and edges, and told in words with the passages that state its steps. */

import { html, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { StatedPassage } from "./stated.js";
import { fit, orient, place } from "./path_layout.js";

/**
 * @param {{corpus: string, steps: import("./path_layout.js").Step[], from?: string, label?: string}} props `from`: the
 *   name of the first node, if it is known; `label`: what the path is, for readers of the screen.
 */
export function Path({ corpus, steps, from = "", label = "Path" }) {
  const path = useMemo(() => orient(steps, from), [steps, from]);
  if (!steps.length) return null;
  return html`
    <div class="path">
      <${Line} path=${path} label=${`${label}: ${steps.map(sentenceOf).join(" ")}`} />
      <details>
        <summary>In words, with what states each step</summary>
        <ol class="path-words">
          ${steps.map((step) => html`<li><${StepWords} corpus=${corpus} step=${step} /></li>`)}
        </ol>
      </details>
    </div>`;
}

function StepWords({ corpus, step }) {
  const [shown, setShown] = useState(false);
  const names = [step.source, step.target].filter((_, i) => [step.source_kind, step.target_kind][i] === "entity");
  return html`
    <span dir="auto">${sentenceOf(step)}</span>
    ${step.chunk_id && html` <button class="link" aria-expanded=${String(shown)} onClick=${() => setShown(!shown)}>${shown ? "Hide the passage" : "Show the passage"}</button>`}
    ${shown && html`<${StatedPassage} corpus=${corpus} id=${step.chunk_id} words=${names} />`}`;
}

/** One step as a sentence. */
export function sentenceOf({ source, relation, target, source_kind, target_kind }) {
  if (source_kind === "passage") return `The passage “${source}” mentions ${target}.`;
  if (target_kind === "passage") return `The passage “${target}” mentions ${source}.`;
  if (relation === "synonym") return `${source} is likely another name of ${target}.`;
  return `${source} — ${relation} — ${target}.`;
}

function Line({ path, label }) {
  const box = useRef(null);
  const [layout, setLayout] = useState(null);
  useLayoutEffect(() => {
    const element = box.current;
    const measure = measurer(element);
    const observer = new ResizeObserver(() => setLayout({ ...place(path, Math.max(220, element.clientWidth), measure), measure }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [path]);
  return html`
    <div class="path-line" ref=${box}>
      ${layout && html`
        <svg role="img" aria-label=${label} width=${layout.width} height=${layout.height} viewBox=${`0 0 ${layout.width} ${layout.height}`}>
          ${layout.edges.map((edge) => html`<${Edge} ...${edge} measure=${layout.measure} />`)}
          ${layout.nodes.map((node, i) => html`<${Node} ...${node} isLast=${i === layout.nodes.length - 1} measure=${layout.measure} />`)}
        </svg>`}
    </div>`;
}

function Edge({ x, y, length, label, forward, step, measure }) {
  const [start, end] = [x + 4, x + length - 4];
  const isPlain = step.source_kind === "passage" || step.target_kind === "passage";
  const head = isPlain || label === "synonym" ? "" : forward ? `M${end - 6} ${y - 4}L${end} ${y}L${end - 6} ${y + 4}` : `M${start + 6} ${y - 4}L${start} ${y}L${start + 6} ${y + 4}`;
  const kind = isPlain ? "mention" : label === "synonym" ? "synonym" : "fact";
  return html`
    <g class=${`path-edge ${kind}`}>
      <title>${sentenceOf(step)}</title>
      <path d=${`M${start} ${y}H${end}${head}`} />
      <text x=${x + length / 2} y=${y - 7}>${fit(label, length - 10, (text) => measure(text, "edge"))}</text>
    </g>`;
}

function Node({ x, y, width, height, label, kind, isLast, measure }) {
  const isPassage = kind === "passage";
  const inset = isPassage ? 14 : 0;
  return html`
    <g class=${`path-node ${kind} ${isLast ? "last" : ""}`}>
      <title>${label}</title>
      ${isPassage
        ? html`<path class="shape" d=${`M${x} ${y}H${x + width - 9}L${x + width} ${y + 9}V${y + height}H${x}Z`} /><path class="lines" d=${`M${x + 8} ${y + 11}h7M${x + 8} ${y + 15}h7M${x + 8} ${y + 19}h7`} />`
        : html`<rect class="shape" x=${x} y=${y} width=${width} height=${height} rx=${height / 2} />`}
      <text x=${x + inset + (width - inset) / 2} y=${y + height / 2 + 4.5}>${fit(label, width - 22 - inset, (text) => measure(text, "node"))}</text>
    </g>`;
}

/** Returns a function that measures texts in the two fonts of the drawing (`explore.css`). */
function measurer(element) {
  const context = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(element).fontFamily;
  const fonts = { node: `600 13px ${family}`, edge: `12px ${family}` };
  return (text, kind) => {
    context.font = fonts[kind];
    return context.measureText(text).width;
  };
}
