/** Whether the server is still loading what its first answer needs. */

import { useEffect, useState } from "../vendor/preact.js";
import { get } from "./api.js";
import { isAbort } from "./problem.js";

const LOOK = 1500; // milliseconds

/**
 * Returns what the server loads, such as "loading models"; "" when it is ready, or does not say so. Looks again until it
 * is ready.
 */
export function useStarting() {
  const [stage, setStage] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    const look = async () => {
      const found = await readStage(abort.signal);
      if (abort.signal.aborted) return;
      setStage(found);
      if (found) timer = setTimeout(look, LOOK);
    };
    look();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, []);
  return stage;
}

async function readStage(signal) {
  try {
    await get("/readyz", undefined, signal);
    return "";
  } catch (error) {
    if (isAbort(error) || error.code !== "starting") return ""; // what is down is told by the request that needs it
    return error.message.replace(/^starting: /, "");
  }
}
