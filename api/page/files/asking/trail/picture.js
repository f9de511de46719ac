/** The trail as one picture, which is walked by mouse and keyboard. */

import { html, useMemo, useRef, useState } from "../../vendor/preact.js";
import { edgePath } from "../layers.js";
import { LINE, PAD, WIDTH, drawBoxes } from "./boxes.js";
import { belonging } from "./graph.js";

const MARGIN = 8;

/**
 * @param {{nodes: import("./graph.js").TrailNode[], zoom: number, chosen: string, choose: (node: any) => void,
 *   title: string, reference: any}} props
 */
export function TrailPicture({ nodes, zoom, chosen, choose, title, reference }) {
  const { boxes, routes, width, height } = useMemo(() => drawBoxes(nodes), [nodes]);
  const [pointed, setPointed] = useState("");
  const [stop, setStop] = useState("question"); // the one node that Tab reaches
  const svg = useRef(null);
  const on = pointed ? belonging(nodes, pointed) : null;
  const walk = (event, box) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(box);
      return;
    }
    const to = neighbour(boxes, box, event.key);
    if (!to) return;
    event.preventDefault();
    setStop(to.id);
    svg.current.querySelector(`[data-node="${CSS.escape(to.id)}"]`).focus();
  };
  const size = [width + MARGIN * 2, height + MARGIN * 2];
  return html`
    <svg ref=${(one) => { svg.current = one; reference.current = one; }} class=${`trail-picture ${on ? "pointed" : ""}`} role="group" aria-label=${title}
      viewBox=${`${-MARGIN} ${-MARGIN} ${size[0]} ${size[1]}`} width=${size[0] * zoom} height=${size[1] * zoom} direction="ltr">
      <g class="trail-edges" aria-hidden="true">${routes.map(({ from, to, points }) => html`
        <path class=${!on || (on.has(from) && on.has(to)) ? "on" : ""} d=${edgePath(points)} />`)}</g>
      ${boxes.map((box) => html`
        <g key=${box.id} data-node=${box.id} class=${`trail-node ${box.kind} ${box.role || ""} ${!on || on.has(box.id) ? "on" : ""}`} role="button"
          tabindex=${box.id === stop ? 0 : -1} aria-pressed=${chosen === box.id} aria-label=${nameOf(box)} transform=${`translate(${box.x} ${box.y})`}
          onClick=${() => choose(box)} onKeyDown=${(event) => walk(event, box)} onMouseEnter=${() => setPointed(box.id)} onMouseLeave=${() => setPointed("")}
          onFocus=${() => { setPointed(box.id); setStop(box.id); }} onBlur=${() => setPointed("")}>
          <title>${nameOf(box)}</title>
          <rect width=${WIDTH} height=${box.height} rx="9" />
          <text class="trail-head" x=${PAD} y=${PAD + 10}>${box.head}</text>
          <${Lines} lines=${box.labelLines} top=${PAD + 28} kind="trail-label" />
          <${Lines} lines=${box.subLines} top=${PAD + 32 + box.labelLines.length * LINE} kind="trail-sub" />
        </g>`)}
    </svg>`;
}

function Lines({ lines, top, kind }) {
  return lines.map((line, i) => html`<text class=${kind} y=${top + i * LINE} x=${line.rtl ? WIDTH - PAD : PAD} direction=${line.rtl ? "rtl" : "ltr"}>${line.text}</text>`);
}

export const nameOf = (node) => [`${node.title}: ${node.label}`, node.sub, node.support && node.support !== "none" ? node.support : "", node.role || ""].filter(Boolean).join(". ");

/** The box that an arrow key leads to: along an edge to the sides, within the column up and down. */
function neighbour(boxes, box, key) {
  const near = (list) => list.sort((a, b) => Math.abs(a.y - box.y) - Math.abs(b.y - box.y))[0];
  const column = boxes.filter((one) => one.column === box.column).sort((a, b) => a.y - b.y);
  const at = column.indexOf(box);
  switch (key) {
    case "ArrowRight":
      return near(boxes.filter((one) => one.parents.includes(box.id)));
    case "ArrowLeft":
      return near(boxes.filter((one) => box.parents.includes(one.id)));
    case "ArrowDown":
      return column[at + 1];
    case "ArrowUp":
      return column[at - 1];
    case "Home":
      return boxes[0];
    case "End":
      return boxes[boxes.length - 1];
    default:
      return undefined;
  }
}
