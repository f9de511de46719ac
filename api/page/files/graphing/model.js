/** The subgraph that is drawn: nodes and edges, merged from neighbourhoods, never more than the caps. */

export const MAX_NODES = 1000;
export const MAX_EDGES = 4000;

/** @typedef {{id: string, kind: "entity" | "passage", label: string, type: string | null, passages: number | null, radius: number, x: number, y: number}} Node */
/** @typedef {{id: string, source: Node, target: Node, kind: "fact" | "mention" | "synonym", label: string, chunk_id: string, weight: number}} Edge */

export class Model {
  constructor(start) {
    this.start = start;
    /** @type {Map<string, Node>} */
    this.nodes = new Map();
    /** @type {Map<string, Edge>} */
    this.edges = new Map();
    /** @type {Map<string, Map<string, Edge[]>>} Edges by the ids of their ends. */
    this.near = new Map();
    this.only = ""; // the type of the entities that are shown; "": all
    this.truncated = false;
    this.hiddenEdges = 0;
  }

  get room() {
    return MAX_NODES - this.nodes.size;
  }

  /** Adds a neighbourhood around a node, as far as there is room. Returns how many nodes were added and left out. */
  merge(subgraph, around = this.start) {
    const middle = this.nodes.get(around) || { x: 0, y: 0 };
    const fresh = subgraph.nodes.filter((node) => !this.nodes.has(node.id));
    const added = fresh.slice(0, this.room);
    added.forEach((node, i) => this.#add(node, middle, i));
    const joins = subgraph.edges.filter((edge) => this.nodes.has(edge.source) && this.nodes.has(edge.target));
    this.#join(joins);
    if (around === this.start) this.truncated = subgraph.truncated;
    return { added: added.length, left: fresh.length - added.length };
  }

  #add(node, middle, i) {
    const ring = 40 * Math.sqrt(i + 1); // a spiral of even density, so that the first ticks have little to untangle
    const angle = i * 2.39996;
    const radius = node.kind === "entity" ? Math.min(18, 4 + 1.4 * Math.log2(1 + (node.passages || 0))) : 5;
    const place = node.id === this.start ? { x: 0, y: 0 } : { x: middle.x + ring * Math.cos(angle), y: middle.y + ring * Math.sin(angle) };
    this.nodes.set(node.id, { ...node, ...place, radius });
    this.near.set(node.id, new Map());
  }

  /** Adds edges; beyond the cap, those between nodes that have many others are left out. */
  #join(joins) {
    const degrees = new Map();
    for (const { source, target } of joins) for (const id of [source, target]) degrees.set(id, (degrees.get(id) || 0) + 1);
    const ranked = [];
    for (const edge of joins) {
      const rank = Math.min(degrees.get(edge.source), degrees.get(edge.target)) + (edge.kind === "mention" ? 3 : 0);
      (ranked[rank] ||= []).push(edge);
    }
    for (const edge of ranked.flat()) {
      const id = `${edge.source} ${edge.target} ${edge.kind} ${edge.label}`;
      if (this.edges.has(id)) continue;
      if (this.edges.size >= MAX_EDGES) {
        this.hiddenEdges += 1;
        continue;
      }
      const joined = { ...edge, id, source: this.nodes.get(edge.source), target: this.nodes.get(edge.target) };
      this.edges.set(id, joined);
      this.#link(edge.source, edge.target, joined);
      this.#link(edge.target, edge.source, joined);
    }
  }

  #link(from, to, edge) {
    const others = this.near.get(from);
    if (others.has(to)) others.get(to).push(edge);
    else others.set(to, [edge]);
  }

  /** Whether a node is shown: the first one, passages, and entities of the type that is shown alone. */
  isShown(node) {
    return !this.only || node.kind === "passage" || node.type === this.only || node.id === this.start;
  }

  shown() {
    return [...this.nodes.values()].filter((node) => this.isShown(node));
  }

  /** Returns how many entities have each type, the most frequent types first. */
  countTypes() {
    const counts = new Map();
    for (const { type } of this.nodes.values()) if (type) counts.set(type, (counts.get(type) || 0) + 1);
    return new Map([...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])));
  }

  /** Returns the colour that the schema of the corpus gives a type; undefined without one. */
  colourOf(type) {
    return [...this.nodes.values()].find((node) => node.type === type && node.colour)?.colour;
  }

  /** Returns the neighbours of a node that are shown, with the edges to them: entities first, those of most passages before others. */
  neighbours(id) {
    const found = [...(this.near.get(id) || [])].map(([other, edges]) => ({ node: this.nodes.get(other), edges })).filter((one) => this.isShown(one.node));
    return found.sort((a, b) => kindOrder(a.node) - kindOrder(b.node) || (b.node.passages || 0) - (a.node.passages || 0) || a.node.label.localeCompare(b.node.label));
  }

  /** Removes so many nodes that are the most edges away from a node. Returns how many were removed. */
  dropFarthest(count, from) {
    const distances = this.distances(from);
    const far = [...this.nodes.keys()].filter((id) => id !== from && id !== this.start).sort((a, b) => (distances.get(b) ?? Infinity) - (distances.get(a) ?? Infinity));
    const dropped = far.slice(0, count);
    for (const id of dropped) this.#remove(id);
    return dropped.length;
  }

  #remove(id) {
    for (const [other, edges] of this.near.get(id)) {
      for (const edge of edges) this.edges.delete(edge.id);
      this.near.get(other).delete(id);
    }
    this.near.delete(id);
    this.nodes.delete(id);
  }

  /** Returns the number of edges from a node to each node that it is joined with. */
  distances(from) {
    const distances = new Map([[from, 0]]);
    for (const id of distances.keys()) {
      for (const other of this.near.get(id)?.keys() || []) if (!distances.has(other)) distances.set(other, distances.get(id) + 1);
    }
    return distances;
  }

  count(kind) {
    let found = 0;
    for (const node of this.nodes.values()) found += node.kind === kind;
    return found;
  }
}

const kindOrder = (node) => (node.kind === "entity" ? 0 : 1);

/** Says how two neighbours are joined, one text for each edge. */
export function saysOf(edge) {
  if (edge.kind === "synonym") return `${edge.source.label} is likely another name of ${edge.target.label}`;
  if (edge.kind === "fact") return `${edge.source.label} ${edge.label} ${edge.target.label}`;
  const [passage, entity] = edge.source.kind === "passage" ? [edge.source, edge.target] : [edge.target, edge.source];
  return `The passage “${passage.label}” mentions ${entity.label}`;
}

/** What a node is, in words: "entity in 12 passages", "person in 1 passage". */
export const kindOf = (node) => (node.kind === "passage" ? "passage" : `${node.type || "entity"} in ${node.passages === 1 ? "1 passage" : `${node.passages ?? "some"} passages`}`);
