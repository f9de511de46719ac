/** Paints a model: edges by kind, entities as circles, passages as sheets, and the labels that there is room for. */

import { coloursOf } from "./colours.js";
import { Taken, shorten } from "./labels.js";

const MOST_LABELS = 140;
const MOST_WORDS = 60; // predicates
const ROUGH_EDGES = 1200; // while nodes move
const ROUGH_LABELS = 40;
const FEW = 30; // neighbours of which the passages are named, too
const MANY = 80; // edges of one node
const NEAR = 1.15; // the scale from which predicates are written

/** What a node looks like on the screen at a scale. */
export const sizeOf = (node, scale) => Math.max(2, node.radius * Math.min(1.5, Math.sqrt(scale)));

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{model: any, camera: any, width: number, height: number, colours: any, font: string, isMoving: boolean,
 *   marked: {chosen: any, focus: any, hover: any}}} view While nodes move, not all edges and labels are painted.
 */
export function paint(context, view) {
  const { model, camera, width, height, colours } = view;
  const { chosen, focus, hover } = view.marked;
  const active = hover || focus || chosen;
  const near = active ? model.near.get(active.id) : null;
  context.fillStyle = colours.surface;
  context.fillRect(0, 0, width, height);
  const shown = [];
  const at = new Map();
  for (const node of model.shown()) {
    const place = camera.toScreen(node);
    at.set(node.id, place);
    if (place.x > -60 && place.x < width + 60 && place.y > -40 && place.y < height + 40) shown.push(node);
  }
  paintEdges(context, view, at, active);
  paintNodes(context, view, at, shown);
  for (const [node, colour, wide] of [[chosen, colours.accent, 2.5], [focus, colours.ink, 2]]) if (node && at.has(node.id)) paintRing(context, at.get(node.id), sizeOf(node, camera.scale) + wide + 1, colour, wide);
  const taken = new Taken();
  paintLabels(context, view, at, shown, { active, near, taken });
  paintWords(context, view, at, active, taken);
}

function paintEdges(context, { model, camera, colours, width, height, isMoving }, at, active) {
  const kinds = { mention: [], synonym: [], fact: [], active: [] };
  const every = isMoving ? Math.ceil(model.edges.size / ROUGH_EDGES) : 1;
  let count = 0;
  for (const edge of model.edges.values()) {
    count += 1;
    if (count % every) continue;
    const [from, to] = [at.get(edge.source.id), at.get(edge.target.id)];
    if (!from || !to) continue;
    if (Math.max(from.x, to.x) < 0 || Math.min(from.x, to.x) > width || Math.max(from.y, to.y) < 0 || Math.min(from.y, to.y) > height) continue;
    const isActive = active && (edge.source === active || edge.target === active);
    kinds[isActive ? "active" : edge.kind].push([from, to, edge]);
  }
  const draw = (lines, colour, thick, dash = []) => {
    if (!lines.length) return;
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.setLineDash(dash);
    context.beginPath();
    for (const [from, to] of lines) {
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
    }
    context.stroke();
    context.setLineDash([]);
  };
  const isBusy = model.edges.size > 1500;
  context.globalAlpha = isBusy ? 0.4 : 1;
  draw(kinds.mention, colours.line, 1);
  draw(kinds.fact, colours.accent, isBusy ? 0.6 : 1.1);
  draw(kinds.synonym, colours.fair, 1.1, [5, 4]);
  context.globalAlpha = kinds.active.length > MANY ? 0.5 : 1; // the edges of a hub would hide what they join
  draw(kinds.active.filter(([, , edge]) => edge.kind === "mention"), colours["line-strong"], 1.2);
  draw(kinds.active.filter(([, , edge]) => edge.kind === "fact"), colours.accent, kinds.active.length > MANY ? 1 : 2);
  draw(kinds.active.filter(([, , edge]) => edge.kind === "synonym"), colours.fair, 2, [5, 4]);
  context.globalAlpha = 1;
  const arrows = camera.scale > NEAR && kinds.fact.length < 800 ? [...kinds.fact, ...kinds.active] : kinds.active.length > MANY ? [] : kinds.active;
  paintArrows(context, arrows.filter(([, , edge]) => edge.kind === "fact"), camera, colours.accent);
}

function paintArrows(context, lines, camera, colour) {
  context.fillStyle = colour;
  context.beginPath();
  for (const [from, to, edge] of lines) {
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    const [x, y] = [(to.x - from.x) / (length || 1), (to.y - from.y) / (length || 1)];
    const back = sizeOf(edge.target, camera.scale) + 2;
    if (length < back + 10) continue;
    const [tipX, tipY] = [to.x - x * back, to.y - y * back];
    context.moveTo(tipX, tipY);
    context.lineTo(tipX - 8 * x + 3.5 * y, tipY - 8 * y - 3.5 * x);
    context.lineTo(tipX - 8 * x - 3.5 * y, tipY - 8 * y + 3.5 * x);
    context.closePath();
  }
  context.fill();
}

function paintNodes(context, { camera, colours }, at, shown) {
  const draw = (kind, outline) => {
    const groups = Map.groupBy(shown.filter((node) => node.kind === kind), (node) => node.type);
    for (const nodes of groups.values()) {
      [context.strokeStyle, context.fillStyle] = coloursOf(nodes[0], colours);
      context.lineWidth = 1.4;
      context.beginPath();
      for (const node of nodes) outline(at.get(node.id), sizeOf(node, camera.scale));
      context.fill();
      context.stroke();
    }
  };
  draw("passage", ({ x, y }, size) => {
    const [wide, high, corner] = [size * 0.85, size * 1.1, size * 0.6];
    context.moveTo(x - wide, y - high);
    context.lineTo(x + wide - corner, y - high);
    context.lineTo(x + wide, y - high + corner);
    context.lineTo(x + wide, y + high);
    context.lineTo(x - wide, y + high);
    context.closePath();
  });
  draw("entity", ({ x, y }, size) => {
    context.moveTo(x + size, y);
    context.arc(x, y, size, 0, 2 * Math.PI);
  });
}

function paintRing(context, { x, y }, size, colour, wide) {
  context.strokeStyle = colour;
  context.lineWidth = wide;
  context.beginPath();
  context.arc(x, y, size, 0, 2 * Math.PI);
  context.stroke();
}

function paintLabels(context, { camera, colours, font, marked, model, isMoving }, at, shown, { active, near, taken }) {
  const rank = (node) => (node === active || node === marked.chosen ? 3000 : near?.has(node.id) && (node.kind === "entity" || near.size <= FEW) ? 1000 : 0) + (node.kind === "entity" ? node.radius * 10 : 0);
  const isWanted = (node) => rank(node) >= 1000 || (node.kind === "entity" ? camera.scale > 0.35 || node.radius > 9 : camera.scale > 1.3 || model.nodes.size < 40);
  const wanted = shown.filter(isWanted).sort((a, b) => rank(b) - rank(a)).slice(0, 3 * MOST_LABELS);
  const most = isMoving && model.nodes.size > 300 ? ROUGH_LABELS : MOST_LABELS;
  let count = 0;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  for (const node of wanted) {
    if (count === most) return;
    const { x, y } = at.get(node.id);
    const isStrong = node === active || node === marked.chosen;
    context.font = `${isStrong ? "700 13px" : node.kind === "entity" ? "12px" : "11px"} ${font}`;
    const text = shorten(node.label);
    const width = context.measureText(text).width;
    const top = y + sizeOf(node, camera.scale) * (node.kind === "passage" ? 1.1 : 1) + 3;
    if (!taken.take(x - width / 2, top, width, 13) && !isStrong) continue;
    context.strokeStyle = colours.surface;
    context.lineWidth = 3;
    context.strokeText(text, x, top);
    context.fillStyle = node.kind === "entity" ? colours.ink : colours.faint;
    context.fillText(text, x, top);
    count += 1;
  }
}

/** The predicates of facts: of all that are near, and of those of the active node. */
function paintWords(context, { model, camera, colours, font, width, height }, at, active, taken) {
  const facts = [];
  const own = active ? [...(model.near.get(active.id)?.values() || [])].flat() : [];
  for (const edge of own) if (edge.kind === "fact" && camera.scale > 0.5) facts.push(edge);
  if (camera.scale > NEAR) for (const edge of model.edges.values()) if (edge.kind === "fact" && edge.source !== active && edge.target !== active) facts.push(edge);
  context.font = `italic 11px ${font}`;
  context.textBaseline = "middle";
  let count = 0;
  for (const edge of facts) {
    if (count === MOST_WORDS) return;
    const [from, to] = [at.get(edge.source.id), at.get(edge.target.id)];
    if (!from || !to) continue;
    const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
    if (x < 0 || x > width || y < 0 || y > height) continue;
    const text = shorten(edge.label);
    const wide = context.measureText(text).width;
    if (wide > Math.hypot(to.x - from.x, to.y - from.y) * 1.2 || !taken.take(x - wide / 2, y - 6, wide, 12)) continue;
    context.strokeStyle = colours.surface;
    context.lineWidth = 3;
    context.strokeText(text, x, y);
    context.fillStyle = colours.ink;
    context.fillText(text, x, y);
    count += 1;
  }
}
