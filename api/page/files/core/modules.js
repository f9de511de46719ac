/** Fetches the modules of a view before they are imported: all at once, and not one level of imports after another. */

const listed = JSON.parse(document.querySelector('meta[name=modules]').content); // of each view, by `modules.py`
const begun = new Set();

/** @param {string} view The file of a view, such as `ask.js`. */
export function fetchModules(view) {
  for (const name of listed[view] || []) {
    if (begun.has(name)) continue;
    begun.add(name);
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = new URL(`../${name}`, import.meta.url).pathname;
    document.head.append(link);
  }
}
