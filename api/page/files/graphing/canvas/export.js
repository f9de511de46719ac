/** The drawing as an SVG file: made as elements, so that names become text whatever they hold. */

import { coloursOf } from "./colours.js";
import { shorten } from "./labels.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 60;

/** Returns the drawing, whole, as a file. */
export function makeSvg({ model, colours, font }, title) {
  const nodes = model.shown();
  const sides = { left: Math.min(...nodes.map((node) => node.x)) - MARGIN, right: Math.max(...nodes.map((node) => node.x)) + MARGIN, top: Math.min(...nodes.map((node) => node.y)) - MARGIN, bottom: Math.max(...nodes.map((node) => node.y)) + MARGIN };
  const [width, height] = [sides.right - sides.left, sides.bottom - sides.top].map(Math.round);
  const svg = element("svg", { xmlns: SVG, viewBox: [sides.left, sides.top, width, height].map(Math.round).join(" "), width, height, role: "img", "font-family": font });
  svg.append(element("title", {}, title));
  svg.append(element("rect", { x: sides.left, y: sides.top, width, height, fill: colours.surface }));
  const looks = { fact: [colours.accent, ""], synonym: [colours.fair, "5 4"], mention: [colours["line-strong"], "1 4"] };
  for (const edge of model.edges.values()) {
    if (!model.isShown(edge.source) || !model.isShown(edge.target)) continue;
    const [stroke, dash] = looks[edge.kind];
    const line = element("line", { x1: round(edge.source.x), y1: round(edge.source.y), x2: round(edge.target.x), y2: round(edge.target.y), stroke, "stroke-width": 1, ...(dash && { "stroke-dasharray": dash }) });
    line.append(element("title", {}, edge.label || edge.kind));
    svg.append(line);
    if (edge.kind === "fact" && model.edges.size <= 400) {
      svg.append(element("text", { x: round((edge.source.x + edge.target.x) / 2), y: round((edge.source.y + edge.target.y) / 2), "font-size": 8, "font-style": "italic", "text-anchor": "middle", fill: colours.ink }, shorten(edge.label)));
    }
  }
  for (const node of nodes) svg.append(...drawNode(node, colours));
  return new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
}

function drawNode(node, colours) {
  const [x, y, size] = [round(node.x), round(node.y), round(node.radius)];
  const [stroke, fill] = coloursOf(node, colours);
  const shape = node.kind === "entity"
    ? element("circle", { cx: x, cy: y, r: size, fill, stroke })
    : element("rect", { x: round(node.x - size * 0.85), y: round(node.y - size * 1.1), width: round(size * 1.7), height: round(size * 2.2), fill, stroke });
  shape.append(element("title", {}, node.type ? `${node.label}, ${node.type}` : node.label));
  const label = element("text", { x, y: round(node.y + node.radius + 11), "font-size": node.kind === "entity" ? 10 : 8, "text-anchor": "middle", fill: node.kind === "entity" ? colours.ink : colours.faint }, shorten(node.label));
  return [shape, label];
}

function element(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (key !== "xmlns") made.setAttribute(key, String(value));
  if (text) made.textContent = Array.from(text).filter(isAllowed).join("");
  return made;
}

/** Control characters are not allowed in XML, and would make the file unreadable. */
const isAllowed = (letter) => letter >= " " || "\t\n\r".includes(letter);

const round = (value) => Math.round(value * 10) / 10;
