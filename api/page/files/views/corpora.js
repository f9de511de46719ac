/** The corpora of this server. */

import { html } from "../vendor/preact.js";
import { get } from "../core/api.js";
import { useResource } from "../core/resource.js";
import { Link, viewOf } from "../core/router.js";
import { Empty, Failed, Loading } from "../parts/states.js";
import { View } from "../parts/view.js";

export default function Corpora() {
  const corpora = useResource("corpora", (signal) => get("/v1/corpora", { limit: 200 }, signal));
  if (corpora.error) return html`<${Failed} error=${corpora.error} retry=${corpora.reload} />`;
  if (!corpora.value) return html`<${Loading} what="the corpora" />`;
  return html`
    <${View} title="Corpora">
      ${corpora.value.data.length === 0 && html`<${Empty} title="No corpus yet" text="A corpus holds documents that are searched together." />`}
      <ul class="cards">${corpora.value.data.map((one) => html`<li class="card"><h2><${Link} to=${viewOf(one.name)}>${one.name}<//></h2></li>`)}</ul>
    <//>`;
}
