/** The sources of an answer: each citation with its document and quote, marked while its marker is pointed at. */

import { html } from "../../vendor/preact.js";
import { cellName, pageName } from "../../core/text.js";
import { Icon } from "../../parts/icons.js";
import { ROLES } from "./roles.js";

/** @param {{citations: any[], active: number | null, point: any, open: (citation: any) => void, verdicts: any[]}} props */
export function Sources({ citations, active, point, open, verdicts }) {
  const groups = byMarker(citations);
  if (!groups.length) return null;
  return html`
    <ol class="plain sources">
      ${groups.map(([marker, cited]) => html`
        <li class=${`answer-source ${active === marker ? "on" : ""}`} onMouseEnter=${() => point(marker)} onMouseLeave=${() => point(null)}>
          <span class="source-marker" aria-hidden="true">${marker}</span>
          <div>
            <button class="source-title" onClick=${() => open(cited[0])} onFocus=${() => point(marker)} onBlur=${() => point(null)}>
              <span class="unseen">Source ${marker}: </span><span dir="auto">${cited[0].document.title || cited[0].document.key}</span></button>
            ${pathOf(cited[0].document) && html` <span class="faint" dir="auto">${pathOf(cited[0].document)}</span>`}
            ${cited[0].page !== null && html` <span class="faint">${pageName(cited[0].page, cited[0].page_label)}</span>`}
            ${cited[0].part_of && html` <span class="faint" dir="auto">${cited[0].part_of}</span>`}
            ${cellsOf(cited).map((cell) => html` <span class="faint" dir="auto">cell: ${cellName(cell)}</span>`)}
            ${cited[0].url && html` <span class="tag"><${Icon} name="link" />web</span>`}
            <${Role} verdict=${verdictOf(cited[0], verdicts)} />
            ${distinct(cited).map((quote) => html`<p class="source-quote" dir="auto">${quote}</p>`)}
          </div>
        </li>`)}
    </ol>`;
}

function Role({ verdict }) {
  const role = verdict && ROLES[verdict.role];
  return role ? html` <span class=${`tag ${role[0]}`} title=${role[3]}><${Icon} name=${role[1]} />${role[2]}</span>` : null;
}

/** The key of a document, such as the path of its file, where its title does not say it. */
export const pathOf = ({ title, key }) => (title && title !== key ? key : "");

export const verdictOf = (cited, verdicts) => verdicts.find((one) => one.document.id === cited.document.id);

export function byMarker(citations) {
  const groups = new Map();
  for (const one of citations) groups.set(one.marker, [...(groups.get(one.marker) || []), one]);
  return [...groups].sort(([a], [b]) => a - b);
}

/** Each cell of a table once. */
const cellsOf = (cited) => [...new Map(cited.filter((one) => one.cell).map(({ cell }) => [cellName(cell), cell])).values()];

const distinct = (cited) => [...new Set(cited.map((one) => one.quote))];
