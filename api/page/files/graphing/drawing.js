/** The subgraph as a drawing that can be walked by pointer and by keys. `outline.js` says the same as a list. */

import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { download } from "../core/saving.js";
import { plural } from "../core/text.js";
import { announce } from "../parts/announce.js";
import { Icon } from "../parts/icons.js";
import { makeSvg } from "./canvas/export.js";
import { Scene } from "./canvas/scene.js";
import { DIRECTIONS, turn, walk } from "./canvas/walking.js";
import { kindOf, saysOf } from "./model.js";

const STEP = 60; // pixels that Shift and an arrow move the drawing

/** @param {{model: any, version: number, only: string, chosen: any, open: (id: string) => void}} props `open`: choose and expand. */
export function Drawing({ model, version, only, chosen, choose, open }) {
  const canvas = useRef(null);
  const scene = useRef(null);
  const came = useRef(null); // the node from which the keys came to the focused one
  const latest = useRef({});
  latest.current = { model, choose, open, chosen };
  const [isCalm, setCalm] = useState(false);
  const id = useId();
  useLayoutEffect(() => {
    const made = new Scene(canvas.current, { click: (node) => node && latest.current.open(node.id), settled: setCalm });
    scene.current = made;
    return () => made.end();
  }, []);
  useEffect(() => scene.current.show(model), [model, version]);
  useEffect(() => scene.current.paint(), [only]);
  useEffect(() => {
    scene.current.mark("chosen", chosen);
    if (chosen && !scene.current.isFitted) scene.current.reveal(chosen);
  }, [chosen, version]);

  const focus = (node, from = scene.current.marked.focus) => {
    if (!node) return announce("There is no neighbour in that direction.");
    came.current = from;
    scene.current.mark("focus", node);
    scene.current.reveal(node);
    return announce(describe(latest.current.model, node, came.current));
  };
  const keys = (event) => {
    const done = act(event, { scene: scene.current, model: latest.current.model, chosen: latest.current.chosen, came: came.current, focus, choose, open });
    if (done) event.preventDefault();
  };
  const lose = () => scene.current.mark("focus", null);
  const zoom = (factor) => () => scene.current.zoom(factor);
  const title = `${model.nodes.get(model.start)?.label || "The graph"} and what is near it`;
  return html`
    <figure class="drawing">
      <canvas ref=${canvas} tabindex="0" role="application" aria-roledescription="graph" aria-label=${title} aria-describedby=${id} onKeyDown=${keys} onBlur=${lose}></canvas>
      <p class="unseen" id=${id}>Arrow keys go from a node to its neighbours, N and P to all of them in turn. Enter chooses a node and adds its neighbours, Space only chooses it. Plus and minus zoom, zero shows everything, Shift and arrows move the drawing. The list shows the same.</p>
      <div class="drawing-tools" role="group" aria-label="Drawing">
        <button class="icon-only" aria-label="Zoom in" title="Zoom in (+)" onClick=${zoom(1.3)}><${Icon} name="add" /></button>
        <button class="icon-only" aria-label="Zoom out" title="Zoom out (−)" onClick=${zoom(1 / 1.3)}><${Icon} name="less" /></button>
        <button class="icon-only" aria-label="Show everything" title="Show everything (0)" onClick=${() => scene.current.fit()}><${Icon} name="fit" /></button>
        <button class="icon-only" aria-label="Save as SVG" title="Save as SVG" onClick=${() => download(makeSvg(scene.current, title), "graph.svg")}><${Icon} name="download" /></button>
      </div>
      <figcaption class="legend">
        <span><i class="mark entity"></i>entity</span><span><i class="mark passage"></i>passage</span>
        <span><i class="mark fact"></i>fact</span><span><i class="mark synonym"></i>likely the same</span><span><i class="mark mention"></i>mentions</span>
        <span class="grow"></span><span class="faint" data-calm=${String(isCalm)}>${isCalm ? "" : "Arranging…"}</span>
      </figcaption>
    </figure>`;
}

/** Does what a key asks for; returns whether it asks for anything. */
function act(event, { scene, model, chosen, came, focus, choose, open }) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const { key } = event;
  const at = scene.marked.focus;
  const direction = DIRECTIONS[key];
  if (direction && event.shiftKey) scene.pan(-direction[0] * STEP, -direction[1] * STEP);
  else if (direction && !at) focus(chosen || model.nodes.get(model.start));
  else if (direction) focus(walk(model, at, direction));
  else if ((key === "n" || key === "p") && at) focus(turn(model, came || at, at, key === "n" ? 1 : -1), came || at);
  else if (key === "Home") focus(model.nodes.get(model.start), null);
  else if (key === "Enter" && at) open(at.id);
  else if (key === " " && at) choose(at.id);
  else if (key === "+" || key === "=") scene.zoom(1.3);
  else if (key === "-") scene.zoom(1 / 1.3);
  else if (key === "0") scene.fit();
  else if (key === "Escape" && at) scene.mark("focus", null);
  else return false;
  return true;
}

/** What is said of a node when the keys come to it. */
function describe(model, node, before) {
  const edges = before ? model.near.get(before.id)?.get(node.id) : null;
  const joined = edges?.length ? ` ${edges.map(saysOf).join("; ")}.` : "";
  return `${node.label}, ${kindOf(node)}, ${plural(model.neighbours(node.id).length, "neighbour")}.${joined}`;
}
