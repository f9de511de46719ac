/** The arrangement of a graph without cycles in columns: for plans and trails. Sizes are in the units of the caller. */

/**
 * Places nodes in columns. A node is right of all its parents, and near their height. An edge that passes a column has
 * a lane of its own there, so that it does not run behind nodes. A cycle, which no plan should have, is cut where it is
 * met.
 *
 * @template {{id: string, parents: string[], height: number, column?: number}} Node `column`: at least this column.
 * @param {Node[]} nodes In the order in which they are drawn where nothing else decides.
 * @param {{width: number, gapX: number, gapY: number}} sizes
 * @returns {{places: Map<string, {x: number, y: number, column: number}>, routes: {from: string, to: string,
 *   points: {x: number, y: number}[]}[], width: number, height: number}} `points`: where an edge leaves, the ends of its
 *   lanes, and where it arrives.
 */
export function arrange(nodes, { width, gapX, gapY }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const columns = columnsOf(nodes, byId);
  const edges = addLanes(columns, byId, gapY);
  const places = new Map();
  const heights = columns.map((column) => column.reduce((sum, node) => sum + node.height + gapY, -gapY));
  const whole = Math.max(0, ...heights);
  columns.forEach((column, at) => {
    const ordered = sortByParents(column, places, byId);
    const tops = spread(ordered, places, byId, whole, gapY);
    ordered.forEach((node, i) => places.set(node.id, { x: at * (width + gapX), y: tops[i], column: at }));
  });
  const middle = (id) => places.get(id).y + byId.get(id).height / 2;
  const routes = edges.map(({ from, to, lanes }) => ({
    from,
    to,
    points: [
      { x: places.get(from).x + width, y: middle(from) },
      ...lanes.flatMap((lane) => [{ x: places.get(lane).x, y: middle(lane) }, { x: places.get(lane).x + width, y: middle(lane) }]),
      { x: places.get(to).x, y: middle(to) },
    ],
  }));
  return { places, routes, width: Math.max(0, columns.length * (width + gapX) - gapX), height: whole };
}

/** Adds lanes to the columns that edges pass. The edges of one node share a lane in each of them. Returns the edges. */
function addLanes(columns, byId, gapY) {
  const columnOf = new Map(columns.flatMap((column, at) => column.map((node) => [node.id, at])));
  const edges = [];
  for (const node of [...byId.values()]) {
    const parents = node.parents.filter((id) => columnOf.has(id) && columnOf.get(id) < columnOf.get(node.id));
    const reached = parents.map((parent) => {
      const lanes = [];
      for (let at = columnOf.get(parent) + 1; at < columnOf.get(node.id); at += 1) {
        const id = `${parent}>${at}`;
        if (!byId.has(id)) {
          const lane = { id, parents: [lanes[lanes.length - 1] || parent], height: gapY / 4 };
          byId.set(id, lane);
          columns[at].push(lane);
        }
        lanes.push(id);
      }
      edges.push({ from: parent, to: node.id, lanes });
      return lanes[lanes.length - 1] || parent;
    });
    byId.set(node.id, { ...node, parents: reached });
  }
  columns.forEach((column, at) => {
    columns[at] = column.map((node) => byId.get(node.id));
  });
  return edges;
}

function columnsOf(nodes, byId) {
  const known = new Map();
  const columnOf = (node, above) => {
    if (known.has(node.id)) return known.get(node.id);
    const parents = node.parents.filter((id) => byId.has(id) && !above.has(id));
    const before = parents.map((id) => columnOf(byId.get(id), new Set(above).add(node.id)));
    const column = Math.max(node.column || 0, ...before.map((one) => one + 1));
    known.set(node.id, column);
    return column;
  };
  const columns = [];
  for (const node of nodes) (columns[columnOf(node, new Set([node.id]))] ||= []).push(node);
  return Array.from(columns, (column) => column || []).filter((column) => column.length);
}

/** The mean height of the middles of a node's parents, or null. */
function meanOf(node, places, byId) {
  const middles = node.parents.filter((id) => places.has(id)).map((id) => places.get(id).y + byId.get(id).height / 2);
  return middles.length ? middles.reduce((sum, one) => sum + one, 0) / middles.length : null;
}

function sortByParents(column, places, byId) {
  const wanted = new Map(column.map((node) => [node, meanOf(node, places, byId)]));
  return [...column].sort((a, b) => (wanted.get(a) ?? Infinity) - (wanted.get(b) ?? Infinity) || 0);
}

/** Each node as near to the height of its parents as those above it allow; what is too low is moved up. */
function spread(column, places, byId, whole, gapY) {
  const tops = [];
  let free = 0;
  for (const node of column) {
    const mean = meanOf(node, places, byId);
    const top = Math.max(free, (mean ?? (places.size ? free : whole / 2)) - node.height / 2);
    tops.push(mean === null && column.length > 1 ? free : top);
    free = tops[tops.length - 1] + node.height + gapY;
  }
  let limit = whole;
  for (let i = column.length - 1; i >= 0; i -= 1) {
    tops[i] = Math.max(0, Math.min(tops[i], limit - column[i].height));
    limit = tops[i] - gapY;
  }
  return tops;
}

/** The path of an edge through its points: bent between columns, straight along a lane. */
export function edgePath(points) {
  const [first, ...rest] = points;
  const parts = rest.map((to, i) => {
    const from = points[i];
    if (i % 2) return `H${round(to.x)}`;
    const bend = Math.max(12, (to.x - from.x) / 2);
    return `C${round(from.x + bend)} ${round(from.y)} ${round(to.x - bend)} ${round(to.y)} ${round(to.x)} ${round(to.y)}`;
  });
  return `M${round(first.x)} ${round(first.y)}${parts.join("")}`;
}

const round = (value) => Math.round(value * 10) / 10;

/**
 * Returns the parents of each node without those that are reached over another parent: their edges would say nothing
 * new, and cross others.
 *
 * @param {{id: string, parents: string[]}[]} nodes
 * @returns {Map<string, string[]>}
 */
export function withoutImplied(nodes) {
  const parents = new Map(nodes.map((node) => [node.id, node.parents]));
  const above = (id) => {
    const reached = new Set();
    const waiting = [...(parents.get(id) || [])];
    while (waiting.length) {
      const one = waiting.pop();
      if (reached.has(one)) continue;
      reached.add(one);
      waiting.push(...(parents.get(one) || []));
    }
    return reached;
  };
  const all = new Map(nodes.map((node) => [node.id, above(node.id)]));
  return new Map(nodes.map((node) => [node.id, node.parents.filter((id) => !node.parents.some((other) => other !== id && all.get(other)?.has(id) && !all.get(id)?.has(other)))]));
}
