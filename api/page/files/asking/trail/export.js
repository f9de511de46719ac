/** A drawing of the page as a file of its own: styles as attributes, no script, no class, nothing from elsewhere. */

const KEPT = {
  path: ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"],
  rect: ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"],
  text: ["fill", "font-family", "font-size", "font-weight", "opacity"],
};
const ATTRIBUTES = ["d", "x", "y", "width", "height", "rx", "transform", "viewBox", "direction"];
const SPACE = "http://www.w3.org/2000/svg";

/** @param {SVGSVGElement} drawing @param {string} title @returns {string} */
export function toFile(drawing, title) {
  const copy = copyOf(drawing);
  const box = drawing.viewBox.baseVal;
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  const ground = element("rect", { x: box.x, y: box.y, width: box.width, height: box.height, fill: getComputedStyle(document.body).backgroundColor });
  copy.prepend(named("title", title), ground);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

function copyOf(source) {
  const name = source.localName;
  if (name === "title") return named("title", source.textContent);
  const copy = element(name, {});
  for (const attribute of ATTRIBUTES) if (source.hasAttribute(attribute)) copy.setAttribute(attribute, source.getAttribute(attribute));
  const style = KEPT[name] ? getComputedStyle(source) : null;
  for (const property of KEPT[name] || []) {
    const value = style.getPropertyValue(property);
    if (value && value !== "none" || property === "fill") copy.setAttribute(property, value);
  }
  if (name === "text") copy.textContent = source.textContent;
  else for (const child of source.children) copy.append(copyOf(child));
  return copy;
}

function element(name, attributes) {
  const made = document.createElementNS(SPACE, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

function named(name, text) {
  const made = element(name, {});
  made.textContent = text;
  return made;
}
