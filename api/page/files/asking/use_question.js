/** A question as the page shows it: read once, and followed while it runs or while its answer is verified. */

import { useCallback, useEffect, useRef, useState } from "../vendor/preact.js";
import { Problem, isAbort } from "../core/problem.js";
import { advance, begin, stepsOf } from "./progress.js";
import { followQuestion, readQuestion, takeQuestion } from "./source.js";

/** How often an answer is read again while it is verified: milliseconds. */
const VERIFYING = 1500;
const LOOKS = 4; // until then, a verification that was begun is told

/**
 * @returns {{question: import("./source.js").Question | null, progress: import("./progress.js").Progress, error: any,
 *   broken: any, reload: () => void, change: (question: any) => void,
 *   verifying: boolean, watch: () => void}} `error`:
 *   the question could not be read; `broken`: its events could not be followed, though it may still run.
 */
export function useQuestion(corpus, id) {
  const [question, setQuestion] = useState(null);
  const [progress, setProgress] = useState(begin);
  const [error, setError] = useState(null);
  const [broken, setBroken] = useState(null);
  const [round, setRound] = useState(0);
  const pending = useRef([]);

  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    setError(null);
    setBroken(null);
    const receive = gather(pending, setProgress, signal);
    const load = async () => {
      const read = await takeQuestion(corpus, id, signal);
      setQuestion(read);
      if (read.state !== "running") {
        setProgress(ended(read));
        if (!read.withdrawn) await addEvents(corpus, read, setProgress, signal);
        return;
      }
      setProgress(begin());
      try {
        await followQuestion(corpus, id, receive, signal);
      } catch (failure) {
        if (!isAbort(failure)) setBroken(failure);
        return;
      }
      const last = await readQuestion(corpus, id, signal);
      setQuestion(last);
      setProgress((before) => (last.answer ? { ...before, answer: last.answer, steps: stepsOf(last.answer, before.steps) } : before));
    };
    load().catch((failure) => isAbort(failure) || signal.aborted || setError(failure));
    return () => abort.abort();
  }, [corpus, id, round]);

  const [watching, setWatching] = useState(false); // a verification was begun here, and may not be told yet
  const verifying = watching || Boolean(question?.verifying);
  useEffect(() => {
    if (!verifying) return undefined;
    const abort = new AbortController();
    let looks = 0;
    const look = async () => {
      try {
        const read = await readQuestion(corpus, id, abort.signal);
        looks += 1;
        setQuestion(read);
        if (!read.verifying && (read.verification || looks >= LOOKS)) setWatching(false);
      } catch (failure) {
        if (isAbort(failure)) return;
        setBroken(failure);
      }
    };
    const timer = setInterval(look, VERIFYING);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [verifying, corpus, id]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  const watch = useCallback(() => setWatching(true), []);
  return { question, progress, error, broken, reload, change: setQuestion, verifying, watch };
}

function ended(question) {
  const known = begin();
  if (!question.answer) return { ...known, problem: question.problem };
  return { ...known, answer: question.answer, steps: stepsOf(question.answer), notes: question.answer.notes };
}

/** Adds what only events have: searches and reviews, and the steps of a question that failed or was cancelled. */
async function addEvents(corpus, question, setProgress, signal) {
  let seen = begin();
  try {
    await followQuestion(corpus, question.id, (event) => (seen = advance(seen, event)), signal);
  } catch (failure) {
    if (isAbort(failure) || failure instanceof Problem) return; // the question is whole without them
    throw failure;
  }
  const { answer, problem } = question;
  setProgress(answer ? { ...seen, answer, steps: stepsOf(answer, seen.steps), notes: answer.notes } : { ...seen, problem: problem || seen.problem });
}

const PAUSE = 50; // milliseconds

/** Applies the first event at once and the next ones together: a model may send hundreds of tokens a second. */
function gather(pending, setProgress, signal) {
  let timer = 0;
  let applied = -PAUSE;
  return (event) => {
    pending.current.push(event);
    timer ||= setTimeout(() => {
      timer = 0;
      applied = performance.now();
      const events = pending.current.splice(0);
      if (!signal.aborted) setProgress((before) => events.reduce(advance, before));
    }, Math.max(0, applied + PAUSE - performance.now()));
  };
}
