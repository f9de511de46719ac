/**
 * Markdown as elements, never as HTML: tags, scripts and images of an answer are shown as the text that they are. Links
 * lead only to http and https.
 */

import { html } from "../vendor/preact.js";
import { lexer } from "../vendor/markdown.js";

/**
 * @param {{text: string, inline?: (text: string) => any}} props `inline` renders plain pieces of text, for instance with
 *   its citation markers as buttons.
 */
export function Markdown({ text, inline = (piece) => piece }) {
  return html`<div class="markdown" dir="auto">${blocks(lexer(text), inline)}</div>`;
}

function blocks(tokens, inline) {
  return tokens.map((token) => {
    const inner = () => spans(token.tokens || [], inline);
    switch (token.type) {
      case "space":
        return null;
      case "heading":
        return html`<p class="markdown-heading"><strong>${inner()}</strong></p>`; // headings belong to the page
      case "paragraph":
        return html`<p dir="auto">${inner()}</p>`;
      case "text":
        return token.tokens ? inner() : inline(unescape(token.text));
      case "code":
        return html`<pre tabindex="0"><code>${token.text}</code></pre>`;
      case "blockquote":
        return html`<blockquote>${blocks(token.tokens, inline)}</blockquote>`;
      case "hr":
        return html`<hr />`;
      case "list": {
        const items = token.items.map((item) => html`<li dir="auto">${blocks(item.tokens, inline)}</li>`);
        return token.ordered ? html`<ol start=${token.start || 1}>${items}</ol>` : html`<ul>${items}</ul>`;
      }
      case "table":
        return html`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>
          <thead><tr>${token.header.map((cell) => html`<th scope="col">${spans(cell.tokens, inline)}</th>`)}</tr></thead>
          <tbody>${token.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${spans(cell.tokens, inline)}</td>`)}</tr>`)}</tbody>
        </table></div>`;
      default:
        return html`<p dir="auto">${inline(token.raw)}</p>`;
    }
  });
}

function spans(tokens, inline) {
  return tokens.map((token) => {
    switch (token.type) {
      case "text":
      case "escape":
        return token.tokens ? spans(token.tokens, inline) : inline(unescape(token.text));
      case "strong":
        return html`<strong>${spans(token.tokens, inline)}</strong>`;
      case "em":
        return html`<em>${spans(token.tokens, inline)}</em>`;
      case "del":
        return html`<del>${spans(token.tokens, inline)}</del>`;
      case "codespan":
        return html`<code>${token.text}</code>`;
      case "br":
        return html`<br />`;
      case "link":
        return isWeb(token.href) ? html`<a href=${token.href} rel="noopener noreferrer nofollow" target="_blank">${spans(token.tokens, inline)}</a>` : inline(token.raw);
      default:
        return inline(token.raw);
    }
  });
}

function isWeb(href) {
  try {
    return ["http:", "https:"].includes(new URL(href).protocol);
  } catch {
    return false;
  }
}

/** Undoes the escapes that the lexer makes for HTML. */
function unescape(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}
