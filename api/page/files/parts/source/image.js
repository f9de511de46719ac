/** A page of a PDF as an image, with the words of the passage or of the quote highlighted. */

import { html, useEffect } from "../../vendor/preact.js";
import { address, send } from "../../core/api.js";
import { useResource } from "../../core/resource.js";
import { Failed, Loading } from "../states.js";
import { fitAddress } from "./quotes.js";

const WIDTH = 1400;
const FULL_WIDTH = 2000;

/** `counted` is called with the number of pages of the file, `refused` if it has none that can be drawn. */
export function PageImage({ path, page, label, mark, counted, refused }) {
  const text = mark ? fitAddress(mark) : "";
  const at = `${path}/pages/${page}/image`;
  const image = useResource(["image", at, text], async (signal) => {
    const response = await send("GET", at, { query: { width: WIDTH, mark: text }, signal });
    const header = (name) => Number(response.headers.get(name)) || 0;
    return { url: URL.createObjectURL(await response.blob()), marked: header("X-Marked"), pages: header("X-Pages") };
  });
  const { value } = image;
  useEffect(() => {
    if (!value) return undefined;
    counted(value.pages);
    return () => URL.revokeObjectURL(value.url);
  }, [value]);
  useEffect(() => {
    if (image.error?.status === 422) refused();
  }, [image.error]);
  if (image.error) return html`<${Failed} error=${image.error} retry=${image.reload} />`;
  const isPart = value && text && value.marked < 0.5 * Array.from(text).length;
  return html`
    <figure class="pdf-page">
      ${value
        ? html`<a href=${address(at, { width: FULL_WIDTH, mark: text })} target="_blank" rel="noopener" title="Open it larger"><img src=${value.url} alt=${`Page ${page}${text && value.marked ? ", with the passage highlighted" : ""}`} /></a>`
        : html`<div class="page-blank"><${Loading} what="the page" /></div>`}
      <figcaption class="faint">Page ${page}${label ? ` (${label})` : ""} of the PDF.${isPart && (value.marked ? " Only a part of the words was found on it." : " The words were not found on it: it may be an image, or drawn.")}</figcaption>
    </figure>`;
}
