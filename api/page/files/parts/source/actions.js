/** What can be done with one document. */

import { html, useState } from "../../vendor/preact.js";
import { patch, post, randomKey, remove } from "../../core/api.js";
import { useAction } from "../../core/resource.js";
import { plural } from "../../core/text.js";
import { announce } from "../announce.js";
import { Confirm } from "../dialog.js";
import { Icon } from "../icons.js";
import { Notice } from "../states.js";

export function DocumentActions({ path, document, mayWrite, started, changed, deleted }) {
  const [asks, setAsks] = useState(false);
  const retry = useAction(async () => started((await post(`${path}/retry`, {}, { headers: { "Idempotency-Key": randomKey() } })).job.id));
  const enable = useAction(async () => {
    await patch(path, { enabled: !document.enabled });
    announce(document.enabled ? "Disabled." : "Enabled.");
    changed();
  });
  const deletion = useAction(async () => {
    const { job } = await remove(path);
    setAsks(false);
    announce("The document is gone.");
    deleted(job?.id);
  });
  const mayRetry = document.state === "failed" || document.state === "cancelled";
  return html`
    <a class="button" href=${`${path}/content`} download><${Icon} name="download" /> Original</a>
    ${mayWrite && html`
      ${mayRetry && html`<button class="primary" disabled=${retry.busy} onClick=${retry.run}><${Icon} name="again" /> Retry</button>`}
      <button disabled=${enable.busy} onClick=${enable.run}>${document.enabled ? "Disable" : "Enable"}</button>
      <button onClick=${() => setAsks(true)}>Delete…</button>`}
    <${Notice} error=${retry.error || enable.error} dismiss=${retry.error ? retry.clear : enable.clear} />
    ${asks && html`
      <${Confirm} title="Delete this document?" action="Delete the document" busy=${deletion.busy} error=${deletion.error} confirm=${deletion.run} close=${() => setAsks(false)}>
        <p><bdi>${document.title || document.key}</bdi> with its ${plural(document.chunks, "passage")} is invisible at once to every search, question and walk in the graph. Names and facts that only it states go with it, and so does the original. This cannot be undone.</p>
        <p>To hide it for a while, disable it instead.</p>
      <//>`}`;
}
