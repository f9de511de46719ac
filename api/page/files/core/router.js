/** Addresses of views, and how to go from one to another without loading the page again. */

import { createContext, html, useContext, useEffect, useState } from "../vendor/preact.js";

const Place = createContext(null);

/** Provides the place to its children, and changes it when the address changes. */
export function Router({ children }) {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const change = () => setPlace(here());
    addEventListener("popstate", change);
    addEventListener("hopweave:navigate", change);
    return () => {
      removeEventListener("popstate", change);
      removeEventListener("hopweave:navigate", change);
    };
  }, []);
  return html`<${Place.Provider} value=${place}>${children}<//>`;
}

function here() {
  return { path: location.pathname, query: new URLSearchParams(location.search), hash: location.hash };
}

/** @returns {{path: string, query: URLSearchParams, hash: string}} where the page is. */
export const usePlace = () => useContext(Place);

/** Goes to an address of this page. `replace` leaves no entry in the history. */
export function navigate(to, { replace = false } = {}) {
  if (to !== location.pathname + location.search + location.hash) history[replace ? "replaceState" : "pushState"](null, "", to);
  dispatchEvent(new Event("hopweave:navigate"));
}

/**
 * Returns the values of the address' query, and a function that changes some of them. Empty values are left out.
 *
 * @returns {[URLSearchParams, (changes: Record<string, any>, options?: {replace?: boolean}) => void]}
 */
export function useQuery() {
  const { path, query } = usePlace();
  const change = (changes, options) => {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === null || value === "") next.delete(name);
      else next.set(name, String(value));
    }
    const text = next.toString();
    navigate(text ? `${path}?${text}` : path, options);
  };
  return [query, change];
}

/** A link within the page. A click with a modifier, or on another target, is left to the browser. */
export function Link({ to, children, ...rest }) {
  const click = (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return html`<a href=${to} onClick=${click} ...${rest}>${children}</a>`;
}

/** Returns the address of a view of a corpus: `viewOf("reports", "documents", id)`. */
export function viewOf(corpus, ...parts) {
  return ["/c", corpus, ...parts].map((part, i) => (i ? encodeURIComponent(part) : part)).join("/");
}
