/** The colours of the page for a canvas, which cannot use variables of style sheets, and when they change. */

const NAMES = ["surface", "ink", "faint", "line", "line-strong", "accent", "accent-tint", "fair", "mark"];

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
  probe.remove();
  return found;
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
