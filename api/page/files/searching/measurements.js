/** Measurements of searchers, which the browser keeps for each corpus: numbers and names of searchers, no text of questions. */

const KEY = "hopweave.measurements.";
const MOST = 50; // rows of a corpus

/** @returns {{at: string, generation: number, asked: number, gone: number, searcher: string, recall?: number, mrr?: number}[]} */
export function listMeasurements(corpus) {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY + corpus) || "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** Keeps the means over the parts of a measurement, and returns all rows, the newest first. */
export function keepMeasurement(corpus, parts) {
  const asked = parts.reduce((sum, part) => sum + part.asked, 0);
  const gone = parts.reduce((sum, part) => sum + part.gone.length, 0);
  const mean = (searcher, name) => {
    if (!asked) return undefined;
    const scores = (part) => part.searchers.find((row) => row.searcher === searcher).scores[name] || 0;
    return parts.reduce((sum, part) => sum + scores(part) * part.asked, 0) / asked;
  };
  const at = new Date().toISOString();
  const { generation, searchers } = parts.at(-1);
  const added = searchers.map(({ searcher }) => ({ at, generation, asked, gone, searcher, recall: mean(searcher, "recall@5"), mrr: mean(searcher, "mrr") }));
  const rows = [...added, ...listMeasurements(corpus)].slice(0, MOST);
  try {
    localStorage.setItem(KEY + corpus, JSON.stringify(rows));
  } catch {
    // A browser that keeps nothing shows the rows until the view is left.
  }
  return rows;
}
