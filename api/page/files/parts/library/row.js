/** One document in the list. */

import { html } from "../../vendor/preact.js";
import { Link, viewOf } from "../../core/router.js";
import { bytes, plural, time } from "../../core/text.js";
import { describeAccess } from "../source/access.js";
import { State } from "../tags.js";

export function DocumentRow({ corpus, document, selected, toggle, mayWrite }) {
  const { id, key, title, state, reason, chunks, size, updated_at: updated, enabled, readable, access } = document;
  const name = title || key;
  return html`
    <div class=${`document-row ${selected ? "selected" : ""}`}>
      ${mayWrite && html`<label class="check"><input type="checkbox" checked=${selected} onChange=${toggle} /><span class="unseen">Select ${name}</span></label>`}
      <div class="document-name">
        <${Link} to=${viewOf(corpus, "documents", id)} class="one-line" title=${name}><bdi>${name}</bdi><//>
        <p class=${`one-line ${reason ? "wrong" : "faint"}`} title=${reason || key}><bdi>${reason || (key === name ? "" : key)}</bdi></p>
      </div>
      <p class="document-tags"><${State} state=${state} />${!enabled && html`<span class="tag fair">disabled</span>`}${access !== null && html`<span class="tag" title="Who may see it"><span class="unseen">May be seen by </span><bdi>${describeAccess(access)}</bdi></span>`}${state !== "indexed" && readable && html`<span class="tag">older one found</span>`}</p>
      <p class="document-facts faint">${chunks > 0 && html`${plural(chunks, "passage")} · `}${bytes(size)}<br />${time(updated)}</p>
    </div>`;
}
