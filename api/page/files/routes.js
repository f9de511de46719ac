/**
 * The views of the page by their addresses. Views import the router and not this module, which imports them.
 *
 * `load` imports the module of a view, whose default export is its component; it is called with the parameters of the
 * address.
 */

const ROUTES = [
  ["/", () => import("./views/corpora.js")],
  ["/sign-in", () => import("./views/sign_in.js")],
  ["/help", () => import("./views/help.js")],
  ["/c/:corpus", () => import("./views/ask.js")],
  ["/c/:corpus/questions", () => import("./views/questions.js")],
  ["/c/:corpus/questions/:id", () => import("./views/question.js")],
  ["/c/:corpus/search", () => import("./views/search.js")],
  ["/c/:corpus/documents", () => import("./views/documents.js")],
  ["/c/:corpus/documents/:id", () => import("./views/document.js")],
  ["/c/:corpus/graph", () => import("./views/graph.js")],
  ["/c/:corpus/jobs", () => import("./views/jobs.js")],
  ["/c/:corpus/jobs/:id", () => import("./views/job.js")],
].map(([pattern, load]) => ({ pattern: pattern.split("/"), load }));

/** @returns {{load: () => Promise<any>, params: Record<string, string>} | null} */
export function match(path) {
  const parts = path.replace(/\/+$/, "").split("/");
  if (parts.length === 1) parts.push("");
  for (const { pattern, load } of ROUTES) {
    if (pattern.length !== parts.length) continue;
    const params = {};
    const fits = pattern.every((name, i) => {
      if (!name.startsWith(":")) return name === parts[i];
      params[name.slice(1)] = decode(parts[i]);
      return parts[i] !== "";
    });
    if (fits) return { load, params };
  }
  return null;
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
