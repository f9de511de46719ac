/** Values that come from the server, with the states in which they may be. */

import { useCallback, useEffect, useRef, useState } from "../vendor/preact.js";
import { isAbort } from "./problem.js";

/**
 * Loads a value when a key changes, and gives up the request of a former key. With `key` null, nothing is loaded.
 *
 * @template T
 * @param {any} key Compared as JSON.
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @returns {{state: "idle" | "loading" | "ready" | "failed", value: T | null, error: any, reload: () => void,
 *   change: (value: T | ((before: T) => T)) => void}} While it is loaded again after `reload`, the value stays.
 */
export function useResource(key, load) {
  const text = JSON.stringify(key);
  const [round, setRound] = useState(0);
  const [known, setKnown] = useState({ state: key === null ? "idle" : "loading", value: null, error: null, of: text });
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === null) {
      setKnown({ state: "idle", value: null, error: null, of: text });
      return undefined;
    }
    const abort = new AbortController();
    setKnown((before) => ({ state: "loading", value: before.of === text ? before.value : null, error: null, of: text }));
    latest.current(abort.signal).then(
      (value) => !abort.signal.aborted && setKnown({ state: "ready", value, error: null, of: text }),
      (error) => isAbort(error) || abort.signal.aborted || setKnown((before) => ({ ...before, state: "failed", error })),
    );
    return () => abort.abort();
  }, [text, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const change = useCallback(
    (value) => setKnown((before) => ({ ...before, state: "ready", value: typeof value === "function" ? value(before.value) : value })),
    [],
  );
  return known.of === text ? { ...known, reload, change } : { state: key === null ? "idle" : "loading", value: null, error: null, reload, change };
}

/**
 * An action of the reader, such as a deletion: whether it runs, and how it failed.
 *
 * @returns {{run: (...values: any[]) => Promise<any>, busy: boolean, error: any, clear: () => void}} `run` returns
 *   undefined if it failed.
 */
export function useAction(act) {
  const [state, setState] = useState({ busy: false, error: null });
  const latest = useRef(act);
  latest.current = act;
  const run = useCallback(async (...values) => {
    setState({ busy: true, error: null });
    try {
      const result = await latest.current(...values);
      setState({ busy: false, error: null });
      return result;
    } catch (error) {
      setState({ busy: false, error: isAbort(error) ? null : error });
      return undefined;
    }
  }, []);
  return { run, ...state, clear: () => setState({ busy: false, error: null }) };
}
