/** An answer as text to be pasted elsewhere. */

import { html, useEffect, useState } from "../../vendor/preact.js";
import { viewOf } from "../../core/router.js";
import { pageName } from "../../core/text.js";
import { announce } from "../../parts/announce.js";
import { Icon } from "../../parts/icons.js";
import { passageAddress } from "../../parts/passage.js";
import { byMarker } from "./sources.js";

/** The address of a view as others can open it. */
export const fullAddress = (path) => `${location.origin}${path}`;

/** The answer and its sources as Markdown. What could be read as Markdown in names and quotes is escaped. */
export function toMarkdown(corpus, question) {
  const { answer, citations, note } = question.answer;
  const sources = byMarker(citations).map(([marker, [cited]]) => {
    const address = cited.url || fullAddress(passageAddress(cited.corpus || corpus, cited.document.id, cited.chunk_id, cited.quote));
    const page = cited.page === null ? "" : `, ${escape(pageName(cited.page, cited.page_label))}`;
    const partOf = cited.part_of ? ` (${escape(cited.part_of)})` : "";
    return `${marker}. [${escape(cited.document.title || cited.document.key)}](<${address.replace(/[<>]/g, encodeURIComponent)}>)${page}${partOf}: “${escape(cited.quote.replace(/\s+/g, " "))}”`;
  });
  const parts = [`**${escape(question.question)}**`, answer, note && `*${escape(note)}*`, sources.length && `Sources:\n\n${sources.join("\n")}`];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

const escape = (text) => text.replace(/[\\`*_[\]<>#|~]/g, "\\$&");

export function CopyMenu({ corpus, question }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSaid(""), 2500);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (text, what) => {
    const sentence = (await write(text)) ? `${what} copied.` : "The browser does not let this page copy.";
    setSaid(sentence);
    announce(sentence);
  };
  return html`
    <div class="row copy-menu" role="group" aria-label="Copy">
      ${question.answer && !question.answer.abstained && html`
        <button class="quiet" onClick=${() => copy(question.answer.answer, "Answer")}>Copy</button>
        <button class="quiet" onClick=${() => copy(toMarkdown(corpus, question), "Answer with sources")}>Copy with sources</button>`}
      <button class="quiet" onClick=${() => copy(fullAddress(viewOf(corpus, "questions", question.id)), "Link")}><${Icon} name="link" />Copy link</button>
      <span class="faint" aria-hidden="true">${said}</span>
    </div>`;
}

/** Copies a text. `navigator.clipboard` is missing where the page is not loaded securely. */
async function write(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (error) {
      if (!(error instanceof DOMException)) throw error; // refused: the older way may be permitted
    }
  }
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "unseen" });
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
