/** Loads what is drawn: the neighbourhood of the first entity, and those that the reader adds to it. */

import { useCallback, useEffect, useRef, useState } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { isAbort } from "../core/problem.js";
import { plural } from "../core/text.js";
import { announce } from "../parts/announce.js";
import { MAX_NODES, Model } from "./model.js";

const AROUND = 41; // nodes that are asked for around a node that is expanded, with itself

const pause = () => new Promise((resolve) => setTimeout(resolve));

/**
 * @param {string[]} more The nodes whose neighbourhoods are added, in their order.
 * @param {(id: string) => void} expanded Called when a neighbourhood was added.
 * @returns `version` changes with the model, which stays the same object; `full`: the id of the node whose neighbourhood
 *   did not fit.
 */
export function useSubgraph(corpus, start, depth, limit, more, expanded) {
  const [known, setKnown] = useState({ state: "idle", model: null, version: 0, error: null, full: "", round: 0 });
  const wanted = useRef(more);
  wanted.current = more;
  const latest = useRef(expanded); // it changes the address as it is when the response has come
  latest.current = expanded;
  const load = (id, query, signal) => get(corpusPath(corpus, "entities", id, "neighbourhood"), query, signal);
  useEffect(() => {
    if (!start) return undefined;
    const abort = new AbortController();
    const read = async () => {
      const model = new Model(start);
      const first = await load(start, { depth, limit }, abort.signal);
      await pause(); // a large neighbourhood is parsed in one task, and merged in another
      model.start = first.nodes[0].id; // of a merged entity, that which it is
      model.merge(first);
      for (const id of wanted.current) {
        if (model.nodes.has(id)) model.merge(await load(id, { depth: 1, limit: AROUND }, abort.signal), id);
      }
      return model;
    };
    setKnown((before) => ({ ...before, state: "loading", error: null, full: "" }));
    read().then(
      (model) => setKnown((before) => ({ ...before, state: "ready", model, version: before.version + 1 })),
      (error) => isAbort(error) || setKnown((before) => ({ ...before, state: "failed", error })),
    );
    return () => abort.abort();
  }, [corpus, start, depth, limit, known.round]);

  const change = (changes) => setKnown((before) => ({ ...before, version: before.version + 1, ...changes }));
  const { model } = known;
  const expand = useCallback(
    async (id) => {
      if (model?.nodes.get(id)?.kind !== "entity") return;
      try {
        const limit = Math.min(MAX_NODES, model.near.get(id).size + AROUND); // beyond those that are drawn
        const { added, left } = model.merge(await load(id, { depth: 1, limit }), id);
        const { label } = model.nodes.get(id);
        change({ full: left > 0 ? id : "", error: null });
        latest.current(id);
        announce(left > 0 ? `The drawing is full: ${plural(left, "neighbour")} of ${label} had no room.` : added ? `Added ${plural(added, "neighbour")} of ${label}.` : `All neighbours of ${label} are drawn.`);
      } catch (error) {
        if (!isAbort(error)) change({ error });
      }
    },
    [model],
  );
  const drop = useCallback(
    (from) => {
      const count = model.dropFarthest(Math.ceil(MAX_NODES / 5), from);
      change({ full: "" });
      announce(`Dropped the ${plural(count, "farthest node")}.`);
      return expand(from);
    },
    [model, expand],
  );
  const reload = () => setKnown((before) => ({ ...before, round: before.round + 1 }));
  const dismiss = () => change({ error: null, full: "" });
  return { ...known, expand, drop, reload, dismiss };
}
