/**
 * The views of the page by their addresses. Views import the router and not this module, which imports them.
 *
 * `load` imports the module of a view, whose default export is its component; it is called with the parameters of the
 * address. `file` is what `fetchModules` takes.
 */

const ROUTES = [
  ["/", "corpora.js"],
  ["/sign-in", "sign_in.js"],
  ["/help", "help.js"],
  ["/c/:corpus", "ask.js"],
  ["/c/:corpus/questions", "questions.js"],
  ["/c/:corpus/questions/:id", "question.js"],
  ["/c/:corpus/search", "search.js"],
  ["/c/:corpus/documents", "documents.js"],
  ["/c/:corpus/documents/:id", "document.js"],
  ["/c/:corpus/certificates", "certificates.js"],
  ["/c/:corpus/made", "made.js"],
  ["/c/:corpus/graph", "graph.js"],
  ["/c/:corpus/jobs", "jobs.js"],
  ["/c/:corpus/jobs/:id", "job.js"],
].map(([pattern, file]) => ({ pattern: pattern.split("/"), file, load: () => import(`./views/${file}`) }));

/** @returns {{load: () => Promise<any>, file: string, params: Record<string, string>} | null} */
export function match(path) {
  const parts = path.replace(/\/+$/, "").split("/");
  if (parts.length === 1) parts.push("");
  for (const { pattern, file, load } of ROUTES) {
    if (pattern.length !== parts.length) continue;
    const params = {};
    const fits = pattern.every((name, i) => {
      if (!name.startsWith(":")) return name === parts[i];
      params[name.slice(1)] = decode(parts[i]);
      return parts[i] !== "";
    });
    if (fits) return { load, file, params };
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
