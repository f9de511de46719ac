/** `Scene`: one canvas with its model, camera, layout and marks. The component `drawing.js` tells it what changed. */

import { Camera } from "./camera.js";
import { readColours, watchColours } from "./colours.js";
import { followPointers } from "./gestures.js";
import { paint, sizeOf } from "./painter.js";
import { Simulation } from "./simulation.js";

const REST = 160; // milliseconds after the last move of the camera until everything is painted
const SHARPEST = 2; // pixels of the canvas for one of the page: more costs time and shows nothing

export class Scene {
  /** @param {{click: (node: any) => void, settled: (isCalm: boolean) => void}} calls */
  constructor(canvas, calls) {
    this.canvas = canvas;
    this.calls = calls;
    this.context = canvas.getContext("2d", { alpha: false });
    this.camera = new Camera();
    this.model = null;
    this.marked = { chosen: null, focus: null, hover: null };
    this.isFitted = true; // until the reader moves the camera
    this.isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.frame = 0;
    this.font = getComputedStyle(canvas).fontFamily;
    this.colours = readColours(canvas.parentElement);
    this.layout = new Simulation((isCalm) => this.#laidOut(isCalm));
    this.ends = [
      watchColours(() => this.#recolour()),
      followPointers(canvas, this),
    ];
    this.isMoving = false;
    this.observer = new ResizeObserver(() => this.#resize());
    this.observer.observe(canvas);
  }

  end() {
    this.layout.stop();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rest);
    this.observer.disconnect();
    for (const end of this.ends) end();
  }

  /** Shows a model; called again when it has changed. */
  show(model) {
    const isNew = model !== this.model;
    this.model = model;
    if (isNew) this.isFitted = true;
    for (const [name, node] of Object.entries(this.marked)) this.marked[name] = (node && model.nodes.get(node.id)) || null;
    this.layout.update(model, isNew ? 1 : 0.5);
    this.calls.settled(false);
    if (this.isStill && !isNew) this.paint();
  }

  mark(name, node) {
    if (this.marked[name] === node) return;
    this.marked[name] = node;
    this.paint();
  }

  /** Paints in the next frame, once however often it is called. */
  paint() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.#paintNow();
    });
  }

  #laidOut(isCalm) {
    this.isMoving = !isCalm;
    if (this.isFitted) this.camera.fit(this.model.nodes.values(), this.width, this.height);
    if (!this.isStill || isCalm || this.held) this.#paintNow();
    if (isCalm) this.calls.settled(true);
  }

  #paintNow() {
    if (!this.model || !this.width) return;
    const ratio = Math.min(SHARPEST, devicePixelRatio || 1);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(this.context, this);
  }

  #resize() {
    const ratio = Math.min(SHARPEST, devicePixelRatio || 1);
    [this.width, this.height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    [this.canvas.width, this.canvas.height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.isFitted && this.model) this.camera.fit(this.model.nodes.values(), this.width, this.height);
    if (!this.isStill || this.layout.isCalm) this.#paintNow();
  }

  #recolour() {
    this.colours = readColours(this.canvas.parentElement);
    this.paint();
  }

  /** Returns the topmost node at a point, or the nearest within some pixels. */
  nodeAt(x, y) {
    let best = null;
    let least = 8;
    for (const node of this.model?.shown() || []) {
      const place = this.camera.toScreen(node);
      const distance = Math.hypot(place.x - x, place.y - y) - sizeOf(node, this.camera.scale);
      if (distance < least) [best, least] = [node, distance];
    }
    return best;
  }

  fit() {
    this.isFitted = true;
    if (this.model) this.camera.fit(this.model.nodes.values(), this.width, this.height);
    this.paint();
  }

  zoom(factor) {
    this.camera.zoom(factor, this.width / 2, this.height / 2);
    this.moved();
  }

  pan(x, y) {
    this.camera.pan(x, y);
    this.moved();
  }

  reveal(node) {
    this.camera.show(node, this.width, this.height);
    this.paint();
  }

  moved() {
    this.isFitted = false;
    this.isMoving = true;
    this.paint();
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.isMoving = !this.layout.isCalm;
      if (!this.isMoving) this.paint();
    }, REST);
  }

  hover(node) {
    this.canvas.classList.toggle("on-node", Boolean(node));
    this.mark("hover", node);
  }

  click(node) {
    this.calls.click(node);
  }

  hold(node, place) {
    this.isFitted = false;
    this.held = node;
    this.layout.hold(node, place);
  }

  release(node) {
    this.held = null;
    this.layout.release(node);
  }
}
