/** Where the parts of a path through the graph stand: pure geometry, measured by the caller. */

/** @typedef {{source: string, relation: string, target: string, chunk_id: string, source_kind: string, target_kind: string}} Step */

const HEIGHT = 30;
const ROW = 54; // a row of nodes with the words of the edges above the lines
const TOP = 8;
const PADDING = 14;
const WIDEST_NODE = 240;
const WIDEST_EDGE = 210;
const NARROWEST_EDGE = 46;

/**
 * Returns the nodes along a path, and its edges. The server writes a fact from its subject to its object, whichever
 * way the path takes it: `forward` is false where the path goes from the object to the subject.
 *
 * @param {Step[]} steps
 * @param {string} from The name of the first node, if it is known.
 * @returns {{nodes: {label: string, kind: string}[], edges: {label: string, forward: boolean, step: Step}[]}}
 */
export function orient(steps, from = "") {
  const nodes = [];
  const edges = [];
  steps.forEach((step, i) => {
    const ends = [
      { label: step.source, kind: step.source_kind },
      { label: step.target, kind: step.target_kind },
    ];
    const before = nodes.at(-1) || { label: from, kind: "" };
    let forward = !isSame(ends[1], before) || isSame(ends[0], before);
    if (!isSame(ends[0], before) && !isSame(ends[1], before)) forward = !leads(ends[0], steps[i + 1]) || leads(ends[1], steps[i + 1]);
    if (!forward) ends.reverse();
    if (!nodes.length) nodes.push(ends[0]);
    nodes.push(ends[1]);
    edges.push({ label: step.relation, forward, step });
  });
  return { nodes, edges };
}

const fold = (text) => text.normalize("NFKC").toLowerCase();
const isSame = (a, b) => fold(a.label) === fold(b.label) && (!a.kind || !b.kind || a.kind === b.kind);
const leads = (end, step) => step !== undefined && (isSame(end, { label: step.source, kind: step.source_kind }) || isSame(end, { label: step.target, kind: step.target_kind }));

/**
 * Places nodes from left to right; an edge and the node after it go on in the next row where there is no room.
 *
 * @param {ReturnType<typeof orient>} path
 * @param {number} width
 * @param {(text: string, kind: "node" | "edge") => number} measure
 */
export function place({ nodes, edges }, width, measure) {
  const most = Math.min(WIDEST_NODE, width - 8);
  const sizes = nodes.map((node) => Math.min(most, measure(node.label, "node") + 2 * PADDING + (node.kind === "passage" ? 14 : 0)));
  const placed = [{ ...nodes[0], x: 1, y: TOP, width: sizes[0], height: HEIGHT }];
  const lines = [];
  let x = 1 + sizes[0];
  let y = TOP;
  edges.forEach((edge, i) => {
    let length = Math.min(WIDEST_EDGE, Math.max(NARROWEST_EDGE, measure(edge.label, "edge") + 26));
    if (x + length + sizes[i + 1] > width) {
      [x, y] = [1, y + ROW];
      length = Math.max(NARROWEST_EDGE, Math.min(length, width - 2 - sizes[i + 1]));
    }
    const size = Math.min(sizes[i + 1], width - x - length - 1);
    lines.push({ ...edge, x, y: y + HEIGHT / 2, length });
    placed.push({ ...nodes[i + 1], x: x + length, y, width: size, height: HEIGHT });
    x += length + size;
  });
  return { nodes: placed, edges: lines, width, height: y + HEIGHT + 4 };
}

/** Cuts a text so that it is no wider than `room`, with an ellipsis. */
export function fit(text, room, measure) {
  if (measure(text) <= room) return text;
  const letters = Array.from(new Intl.Segmenter().segment(text), (one) => one.segment);
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${letters.slice(0, middle).join("")}…`) <= room) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}
