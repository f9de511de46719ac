/** Who may see a document, and how whoever may do all changes that. */

import { html, useState } from "../../vendor/preact.js";
import { patch } from "../../core/api.js";
import { useAction } from "../../core/resource.js";
import { announce } from "../announce.js";
import { Dialog } from "../dialog.js";
import { Icon } from "../icons.js";
import { Notice } from "../states.js";

const USER = "user:";
const GROUP = "group:";

/** Names who may see a document, in words: "everybody", "nobody", "group legal, user anna". */
export const describeAccess = (access) => (access === null ? "everybody" : access.length ? access.map((one) => one.replace(":", " ")).join(", ") : "nobody");

/** @param {{path: string, document: any, mayChange: boolean, changed: () => void}} props */
export function DocumentAccess({ path, document, mayChange, changed }) {
  const [isOpen, setOpen] = useState(false);
  if (document.access === null && !mayChange) return null;
  return html`
    <p class="row"><span><span class="faint">May be seen by</span> <bdi>${describeAccess(document.access)}</bdi></span>
      ${mayChange && html`<button class="quiet" onClick=${() => setOpen(true)}>Change who may see it…</button>`}</p>
    ${isOpen && html`<${AccessDialog} path=${path} access=${document.access} close=${() => setOpen(false)} changed=${changed} />`}`;
}

function AccessDialog({ path, access, close, changed }) {
  const [who, setWho] = useState(access === null ? "everybody" : access.length ? "named" : "nobody");
  const [users, setUsers] = useState(() => namesOf(access, USER));
  const [groups, setGroups] = useState(() => namesOf(access, GROUP));
  const named = [...listNames(groups, GROUP), ...listNames(users, USER)];
  const save = useAction(async () => {
    await patch(path, { access: { everybody: null, nobody: [], named }[who] });
    announce("It is changed who may see the document.");
    changed();
    close();
  });
  const isReady = who !== "named" || named.length > 0;
  const submit = (event) => {
    event.preventDefault();
    if (isReady && !save.busy) save.run();
  };
  const names = (label, value, set) => html`<label class="field"><span>${label}</span><textarea rows="3" spellcheck="false" dir="auto" value=${value} onInput=${(event) => set(event.target.value)} /></label>`;
  return html`
    <${Dialog} title="Who may see this document?" close=${close}>
      <form class="stack" onSubmit=${submit}>
        <label class="field"><span>It is for</span>
          <select value=${who} onChange=${(event) => setWho(event.target.value)}>
            <option value="everybody">everybody who may see the corpus</option>
            <option value="named">users and groups</option>
            <option value="nobody">nobody</option>
          </select></label>
        ${who === "named" && html`${names("Groups, one in each line", groups, setGroups)}${names("Users, one in each line", users, setUsers)}`}
        <p class="hint">It takes effect at once, also for the attachments of a mail. Keys without users and groups see the document in any case.</p>
        <${Notice} error=${save.error} dismiss=${save.clear} />
        <footer class="actions">
          <button type="button" onClick=${close}>Cancel</button>
          <button class="primary" disabled=${save.busy || !isReady}><${Icon} name="check" /> Save</button>
        </footer>
      </form>
    <//>`;
}

const namesOf = (access, kind) => (access || []).filter((one) => one.startsWith(kind)).map((one) => one.slice(kind.length)).join("\n");

const listNames = (text, kind) => text.split("\n").map((one) => one.trim()).filter(Boolean).map((one) => kind + one);
