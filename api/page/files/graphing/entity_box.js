/** Finds an entity by name: a combobox, as the ARIA Authoring Practices describe it. */

import { html, useEffect, useId, useRef, useState } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { useResource } from "../core/resource.js";
import { plural } from "../core/text.js";

const PAUSE = 150; // milliseconds after the last letter
const MATCHES = { spelling: "other spelling", part: "in a longer name", close: "close spelling", similar: "similar name" };

/** @param {{corpus: string, label: string, choose: (entity: {id: string, name: string}) => void, placeholder?: string}} props */
export function EntityBox({ corpus, label, choose, placeholder = "A name, in any spelling" }) {
  const [text, setText] = useState("");
  const [wanted, setWanted] = useState(null);
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const box = useRef(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return undefined;
    const timer = setTimeout(() => setWanted(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text, isOpen]);
  const found = useResource(wanted === null ? null : [corpus, wanted], (signal) => get(corpusPath(corpus, "entities"), { query: wanted, limit: 12 }, signal));
  const options = useRef([]);
  if (found.value) options.current = found.value.data;
  else if (found.error) options.current = [];
  const isCurrent = wanted === text && found.state === "ready";
  const pick = ({ entity }) => {
    setText("");
    setOpen(false);
    setAt(-1);
    choose(entity);
  };
  const keys = (event) => {
    if (event.isComposing) return; // the keys belong to the input method
    const count = options.current.length;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move) {
      event.preventDefault();
      setOpen(true);
      if (isOpen && count) setAt((at + move + (at < 0 && move < 0 ? 1 : 0) + count) % count);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const one = options.current[at] || (isCurrent && options.current[0]);
      if (isOpen && one) pick(one);
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  };
  useEffect(() => box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }), [at]);
  const isShown = isOpen && wanted !== null;
  return html`
    <div class="entity-box" ref=${box}>
      <label class="unseen" for=${id}>${label}</label>
      <input id=${id} type="search" dir="auto" autocomplete="off" spellcheck="false" placeholder=${placeholder} role="combobox" aria-autocomplete="list" aria-expanded=${String(isShown)}
        aria-controls=${`${id}-list`} aria-activedescendant=${isShown && at >= 0 ? `${id}-${at}` : undefined} value=${text}
        onInput=${(event) => { setText(event.target.value); setAt(-1); setOpen(true); }} onFocus=${() => setOpen(true)} onBlur=${() => setOpen(false)} onKeyDown=${keys} />
      <div class="entity-list" hidden=${!isShown}>
        <ul id=${`${id}-list`} role="listbox" aria-label=${label} class="plain">
          ${options.current.map((one, i) => html`
            <li key=${one.entity.id} id=${`${id}-${i}`} role="option" aria-selected=${String(i === at)} onPointerDown=${(event) => event.preventDefault()} onClick=${() => pick(one)}>
              <span dir="auto">${one.entity.name}</span> <span class="faint">${[one.entity.type, MATCHES[one.match], plural(one.entity.passages, "passage")].filter(Boolean).join(" · ")}</span>
            </li>`)}
        </ul>
        ${isCurrent && options.current.length === 0 && html`<p class="faint" role="status">No entity has a name like “<span dir="auto">${text}</span>”.</p>`}
        ${found.error && html`<p class="wrong" role="alert">${found.error.message}</p>`}
        ${found.state === "loading" && options.current.length === 0 && html`<p class="faint">Looking…</p>`}
      </div>
    </div>`;
}
