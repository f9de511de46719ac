/** The colour scheme: that of the system, or the one that the reader chose, which the browser keeps. */

const KEY = "hopweave.theme";

/** @typedef {"system" | "light" | "dark"} Theme */

/** @returns {Theme} */
export function theme() {
  const kept = read();
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** @param {Theme} chosen */
export function chooseTheme(chosen) {
  try {
    if (chosen === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
  } catch {
    // A browser that keeps nothing shows the choice until the page is closed.
  }
  applyTheme(chosen);
}

export function applyTheme(chosen = theme()) {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

function read() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
