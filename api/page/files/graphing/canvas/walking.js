/** Keys: from a node to its neighbours by direction, and around a node from neighbour to neighbour. */

export const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const NARROW = 0.25; // the least cosine between a direction and the way to a neighbour

/** Returns the neighbour of a node that lies best in a direction, or null. */
export function walk(model, node, [dx, dy]) {
  let best = null;
  let most = -Infinity;
  for (const { node: other } of model.neighbours(node.id)) {
    const [x, y] = [other.x - node.x, other.y - node.y];
    const length = Math.hypot(x, y) || 1;
    const cosine = (x * dx + y * dy) / length;
    const score = cosine - length / 4000;
    if (cosine > NARROW && score > most) [best, most] = [other, score];
  }
  return best;
}

/** Returns the next of the neighbours of `centre` after `node`, clockwise (`by` 1) or back (-1); first that on the left. */
export function turn(model, centre, node, by) {
  const angle = (other) => Math.atan2(other.y - centre.y, other.x - centre.x);
  const around = model.neighbours(centre.id).map((one) => one.node).sort((a, b) => angle(a) - angle(b));
  if (!around.length) return null;
  const at = around.indexOf(node);
  return around[(at + by + around.length) % around.length];
}
