/** Lists that come in pages: loaded as far as they are looked at. */

import { useCallback, useEffect, useRef, useState } from "../vendor/preact.js";
import { isAbort } from "./problem.js";

/**
 * Loads the first page of a list when a key changes, and further ones by `more`.
 *
 * @template T
 * @param {any} key Compared as JSON.
 * @param {(cursor: string | null, signal: AbortSignal) => Promise<{data: T[], next_cursor: string | null}>} load
 * @returns {{rows: T[], state: "loading" | "ready" | "failed", error: any, isWhole: boolean, more: () => void,
 *   refresh: () => void, change: (change: (rows: T[]) => T[]) => void}} `refresh` loads as many rows again, and shows the
 *   old ones until then.
 */
export function usePages(key, load) {
  const text = JSON.stringify(key);
  const empty = { of: text, rows: [], next: null, state: "loading", error: null };
  const [known, setKnown] = useState(empty);
  const [round, setRound] = useState(0);
  const latest = useRef({});
  latest.current = { load, known: known.of === text ? known : empty };
  const abort = useRef(null);

  const read = useCallback(async (count, rows, cursor) => {
    const signal = abort.current.signal;
    let [found, next] = [rows, cursor];
    try {
      do {
        const page = await latest.current.load(next, signal);
        found = [...found, ...page.data];
        next = page.next_cursor;
      } while (next !== null && found.length < count);
      if (!signal.aborted) setKnown({ of: text, rows: found, next, state: "ready", error: null });
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) setKnown((before) => ({ ...before, of: text, state: "failed", error }));
    }
  }, [text]);

  useEffect(() => {
    abort.current = new AbortController();
    const { rows } = latest.current.known;
    setKnown((before) => (before.of === text ? { ...before, state: "loading", error: null } : empty));
    read(rows.length, [], null);
    return () => abort.current.abort();
  }, [text, round]);

  const more = useCallback(() => {
    const now = latest.current.known;
    if (now.state === "loading" || now.next === null) return;
    setKnown((before) => ({ ...before, state: "loading", error: null }));
    latest.current.known = { ...now, state: "loading" };
    read(0, now.rows, now.next);
  }, [read]);
  const refresh = useCallback(() => setRound((before) => before + 1), []);
  const change = useCallback((alter) => setKnown((before) => ({ ...before, rows: alter(before.rows) })), []);
  const shown = latest.current.known;
  return { rows: shown.rows, state: shown.state, error: shown.error, isWhole: shown.next === null && shown.state !== "loading", more, refresh, change };
}
