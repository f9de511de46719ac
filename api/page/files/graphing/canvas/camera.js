/** What part of the drawing is seen: `screen = place * scale + offset`. */

export const CLOSEST = 4;
export const FARTHEST = 0.05;

export class Camera {
  constructor() {
    this.scale = 1;
    this.x = 0;
    this.y = 0;
  }

  toScreen({ x, y }) {
    return { x: x * this.scale + this.x, y: y * this.scale + this.y };
  }

  toPlace(x, y) {
    return { x: (x - this.x) / this.scale, y: (y - this.y) / this.scale };
  }

  pan(x, y) {
    this.x += x;
    this.y += y;
  }

  /** Zooms so that the point of the screen stays where it is. */
  zoom(factor, x, y) {
    const scale = Math.min(CLOSEST, Math.max(FARTHEST, this.scale * factor));
    const change = scale / this.scale;
    this.x = x - (x - this.x) * change;
    this.y = y - (y - this.y) * change;
    this.scale = scale;
  }

  /** Shows all nodes, but never closer than 1.9. */
  fit(nodes, width, height) {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y, radius } of nodes) {
      left = Math.min(left, x - radius);
      right = Math.max(right, x + radius);
      top = Math.min(top, y - radius);
      bottom = Math.max(bottom, y + radius);
    }
    if (left > right || !width || !height) return;
    const margin = Math.min(60, width / 8);
    this.scale = Math.min(1.9, Math.max(FARTHEST, Math.min((width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (bottom - top || 1))));
    this.x = width / 2 - ((left + right) / 2) * this.scale;
    this.y = height / 2 - ((top + bottom) / 2) * this.scale;
  }

  /** Moves a node into view if it is not. */
  show(node, width, height) {
    const margin = 40;
    const { x, y } = this.toScreen(node);
    this.x += Math.max(0, margin - x) - Math.max(0, x - (width - margin));
    this.y += Math.max(0, margin - y) - Math.max(0, y - (height - margin));
  }
}
