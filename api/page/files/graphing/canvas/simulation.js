/** The force layout, in slices: at most ten milliseconds a frame, and none once it is calm.

Of a large model, one frame lays out and the next one paints, so that no frame does both.
*/

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "../../vendor/force.js";

const SLICE = 10; // milliseconds
const CALM = 0.01;
const MANY = 300; // nodes beyond which circles may touch: keeping them apart costs as much as all the rest
const LENGTHS = { fact: 80, synonym: 60, mention: 55 };

export class Simulation {
  /** @param {(isCalm: boolean) => void} moved Called after each slice, to paint. */
  constructor(moved) {
    this.moved = moved;
    this.isMoved = false;
    this.frame = 0;
    this.links = forceLink([]).distance((edge) => LENGTHS[edge.kind] + edge.source.radius + edge.target.radius).iterations(1);
    this.repulsion = forceManyBody().strength((node) => -70 - 9 * node.radius).theta(1.1).distanceMax(600);
    this.layout = forceSimulation([]).alphaMin(CALM).alphaDecay(0.03).velocityDecay(0.45).force("repulsion", this.repulsion).force("links", this.links).force("x", forceX().strength(0.05)).force("y", forceY().strength(0.05)).stop();
  }

  /** Takes the nodes and edges of a model, and lays them out again as far as `heat` (1: from scratch). */
  update(model, heat) {
    const nodes = [...model.nodes.values()];
    this.layout.nodes(nodes);
    this.links.links([...model.edges.values()]);
    this.layout.force("apart", nodes.length > MANY ? null : forceCollide((node) => node.radius + 4));
    this.warm(heat);
  }

  warm(heat) {
    this.layout.alpha(Math.max(this.layout.alpha(), heat));
    if (!this.frame) this.frame = requestAnimationFrame(() => this.#slice());
  }

  get isCalm() {
    return !this.frame;
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  #slice() {
    if (this.isMoved) {
      this.isMoved = false;
      this.frame = requestAnimationFrame(() => this.#slice());
      this.moved(false);
      return;
    }
    const began = performance.now();
    let longest = 0;
    do {
      const before = performance.now();
      this.layout.tick();
      longest = Math.max(longest, performance.now() - before);
    } while (this.layout.alpha() >= CALM && performance.now() - began + longest < SLICE);
    const isCalm = this.layout.alpha() < CALM && !this.layout.alphaTarget();
    this.frame = isCalm ? 0 : requestAnimationFrame(() => this.#slice());
    if (isCalm || this.layout.nodes().length <= MANY) this.moved(isCalm);
    else this.isMoved = true;
  }

  /** Holds a node where the reader drags it; the others follow. */
  hold(node, place) {
    [node.fx, node.fy] = [place.x, place.y];
    this.layout.alphaTarget(0.15);
    this.warm(0.15);
  }

  release(node) {
    [node.fx, node.fy] = [null, null];
    this.layout.alphaTarget(0);
  }
}
