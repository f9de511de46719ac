/** A long list of which only the rows near the window are elements. All rows have the same height. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";

const SPARE = 8; // rows above and below the window

/**
 * @param {{count: number, label: string, row: (index: number) => any, onEnd?: () => void, class?: string}} props `row`
 *   returns the content of a row. `onEnd` is called when the last rows come near.
 */
export function Windowed({ count, label, row, onEnd, class: name = "" }) {
  const list = useRef(null);
  const [height, setHeight] = useState(64);
  const [range, setRange] = useState([0, 40]);
  useLayoutEffect(() => {
    const first = list.current?.querySelector("li");
    if (first && Math.abs(first.offsetHeight - height) > 0.5) setHeight(first.offsetHeight);
  });
  useEffect(() => {
    let waits = 0;
    const look = () => {
      waits = 0;
      if (!list.current) return;
      const { top } = list.current.getBoundingClientRect();
      const first = Math.max(0, Math.floor(-top / height) - SPARE);
      const last = Math.max(first + 2 * SPARE, Math.ceil((innerHeight - top) / height) + SPARE); // also of a list below the window
      setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]));
      if (last >= count) onEnd?.();
    };
    const soon = () => {
      waits ||= requestAnimationFrame(look);
    };
    look();
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    return () => {
      cancelAnimationFrame(waits);
      removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
    };
  }, [count, height, onEnd]);
  const last = Math.min(range[1], count);
  const first = Math.min(range[0], last);
  const numbers = Array.from({ length: last - first }, (_, n) => first + n);
  return html`
    <ul ref=${list} class=${`plain windowed ${name}`} aria-label=${label} style=${{ paddingTop: `${first * height}px`, paddingBottom: `${(count - last) * height}px` }}>
      ${numbers.map((index) => html`<li key=${index} aria-posinset=${index + 1} aria-setsize=${count}>${row(index)}</li>`)}
    </ul>`;
}
