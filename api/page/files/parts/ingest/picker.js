/** Choosing files: dropped anywhere on the view, or by buttons; then what is about to be sent, and what is left out. */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { readChosen, sortBySuffix } from "../../core/picking.js";
import { bytes, number, plural } from "../../core/text.js";
import { beginUpload } from "../../core/uploads.js";
import { announce } from "../announce.js";
import { Icon } from "../icons.js";
import { Notice } from "../states.js";
import { loadStrategies } from "../strategy.js";
import { Estimate } from "./estimate.js";

const SHOWN = 8;

/** The place for files, with a button for files and one for a folder. */
export function DropPlace({ choose, isOver, isEmpty }) {
  const files = useRef(null);
  const folder = useRef(null);
  const chosen = (event) => {
    choose(readChosen(event.target.files));
    event.target.value = "";
  };
  return html`
    <section class=${`drop ${isOver ? "over" : ""} ${isEmpty ? "large" : ""}`} aria-label="Add documents">
      <${Icon} name="upload" />
      ${isEmpty && html`<h2>No documents yet</h2>`}
      <p>${isOver ? "Let go to add them" : "Drop files or folders here, or choose"}</p>
      <div class="row">
        <button onClick=${() => files.current.click()}>Files…</button>
        <button onClick=${() => folder.current.click()}>A folder…</button>
      </div>
      ${isEmpty && html`<p class="hint">What is added can be searched within seconds. PDF, Word, PowerPoint, Excel, Markdown, web pages, mails, e-books, notebooks, tables, source code and plain text.</p>`}
      <input type="file" multiple hidden aria-label="Files" ref=${files} onChange=${chosen} />
      <input type="file" webkitdirectory hidden aria-label="A folder" ref=${folder} onChange=${chosen} />
    </section>`;
}

/** What was chosen, before it is sent. */
export function Chosen({ corpus, picked, clear }) {
  const [suffixes, setSuffixes] = useState(null);
  const [keepsFolder, setKeepsFolder] = useState(true);
  const [onConflict, setOnConflict] = useState("replace");
  const heading = useRef(null);
  useEffect(() => {
    heading.current?.focus();
    announce(`${plural(picked.length, "file")} chosen.`);
    loadStrategies().then(
      (strategies) => setSuffixes(strategies.data.flatMap((one) => one.suffixes || [])),
      () => setSuffixes([]), // the server tells which files it does not read
    );
  }, [picked]);
  const folders = new Set(picked.map((one) => one.folder));
  const folder = folders.size === 1 ? [...folders][0] : "";
  const keyed = folder && !keepsFolder ? picked.map((one) => ({ ...one, key: one.key.slice(folder.length + 1) })) : picked;
  const { known, unknown } = sortBySuffix(keyed, suffixes || []);
  const size = known.reduce((sum, one) => sum + one.file.size, 0);
  const send = () => {
    beginUpload(corpus, known, { onConflict });
    clear();
  };
  return html`
    <section class="card stack chosen" aria-labelledby="chosen">
      <h2 id="chosen" tabindex="-1" ref=${heading}>${plural(known.length, "file")} to add, ${bytes(size)}</h2>
      <${Names} names=${known.map((one) => one.key)} />
      ${unknown.length > 0 && html`
        <details class="left-out"><summary>${plural(unknown.length, "file")} left out: no loader reads ${unknown.length === 1 ? "it" : "them"}</summary><${Names} names=${unknown.map((one) => one.key)} /></details>`}
      <div class="row">
        <label class="inline">If a document has the same key
          <select value=${onConflict} onChange=${(event) => setOnConflict(event.target.value)}>
            <option value="replace">replace it</option>
            <option value="skip">keep the old one</option>
            <option value="error">stop, and add none</option>
          </select>
        </label>
        ${folder && html`<label class="inline"><input type="checkbox" checked=${!keepsFolder} onChange=${(event) => setKeepsFolder(!event.target.checked)} /> Keys without the folder's name <span class="faint" dir="auto">${folder}/</span></label>`}
      </div>
      ${suffixes && html`<${Estimate} corpus=${corpus} picked=${known} size=${size} />`}
      <div class="actions start">
        <button class="primary" disabled=${!known.length} onClick=${send}>Add ${plural(known.length, "file")}</button>
        <button onClick=${clear}>Cancel</button>
      </div>
    </section>`;
}

/** The first names of a list, and how many more there are. */
export function Names({ names }) {
  const more = names.length - SHOWN;
  return html`<ul class="plain names">${names.slice(0, SHOWN).map((name) => html`<li dir="auto">${name}</li>`)}${more > 0 && html`<li class="faint">and ${number(more)} more</li>`}</ul>`;
}

export function PickingFailed({ error, dismiss }) {
  return html`<${Notice} error=${error} dismiss=${dismiss} />`;
}
