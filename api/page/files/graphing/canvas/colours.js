/** The colours of the page for a canvas, which cannot use variables of style sheets, and when they change. */

const NAMES = ["surface", "ink", "faint", "line", "line-strong", "accent", "accent-tint", "fair", "mark"];
const TYPES = ["person", "organisation", "place", "work", "date", "amount", "law", "product", "other"];
const TINT = 0.22; // of the colour of a type, on the surface

/** Returns the colours by name, as the browser resolves them beside an element. */
export function readColours(beside) {
  const probe = beside.appendChild(document.createElement("span"));
  probe.hidden = true;
  const style = getComputedStyle(probe);
  const found = {};
  for (const name of NAMES) {
    probe.style.color = `var(--${name})`;
    found[name] = style.color;
  }
  for (const type of TYPES) {
    probe.style.color = `var(--type-${type})`;
    found[`type-${type}`] = style.color;
    found[`type-${type}-tint`] = blend(style.color, found.surface);
  }
  probe.remove();
  return found;
}

/** Returns the outline and the filling of a node. */
export function coloursOf(node, colours) {
  if (node.kind === "passage") return [colours["line-strong"], colours.surface];
  if (node.colour) return [node.colour, blend(fromHex(node.colour), colours.surface)];
  if (node.type && !TYPES.includes(node.type)) return [colours["type-other"], colours["type-other-tint"]];
  return node.type ? [colours[`type-${node.type}`], colours[`type-${node.type}-tint`]] : [colours.accent, colours["accent-tint"]];
}

/** Returns a colour of a schema, #rrggbb, in the form of the browser. */
const fromHex = (colour) => `rgb(${[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)).join(", ")})`;

/** Mixes two colours in the form that browsers resolve colours to, rgb(1, 2, 3): as one colour, which SVG files need. */
function blend(colour, below) {
  const [over, under] = [colour, below].map((one) => one.match(/[\d.]+/g).map(Number));
  return `rgb(${[0, 1, 2].map((i) => Math.round(over[i] * TINT + under[i] * (1 - TINT))).join(", ")})`;
}

/** Calls back when the theme of the page or of the system changes; returns what ends that. */
export function watchColours(changed) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  media.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    media.removeEventListener("change", changed);
  };
}
