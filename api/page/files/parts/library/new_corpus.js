/** The form of a new corpus: a name; how it is cut and read is folded away. */

import { html, useId, useState } from "../../vendor/preact.js";
import { post, randomKey } from "../../core/api.js";
import { useAction, useResource } from "../../core/resource.js";
import { useSession } from "../../core/session.js";
import { Notice } from "../states.js";
import { StrategyPicker, loadStrategies } from "../strategy.js";

export function NewCorpus({ made, close }) {
  const id = useId();
  const hasModel = useSession().model;
  const [name, setName] = useState("");
  const [chunker, setChunker] = useState({ name: "", options: {} });
  const [extractors, setExtractors] = useState([]);
  const [noVectors, setNoVectors] = useState(false);
  const [noGraph, setNoGraph] = useState(false);
  const strategies = useResource("strategies", loadStrategies);
  const known = (strategies.value?.data || []).filter((one) => one.kind === "extractor" && one.name !== "none");
  const { run, busy, error } = useAction(async () => {
    const body = { name: name.trim(), chunker: written(chunker), extractor: noGraph ? "none" : extractors.join("+") || undefined, embedding: noVectors ? "none" : undefined };
    made(await post("/v1/corpora", body, { headers: { "Idempotency-Key": randomKey() } }));
  });
  const submit = (event) => {
    event.preventDefault();
    run();
  };
  const toggle = (extractor) => setExtractors(extractors.includes(extractor) ? extractors.filter((one) => one !== extractor) : [...extractors, extractor]);
  return html`
    <form class="stack" onSubmit=${submit}>
      <div class="field">
        <label for=${`${id}-name`}>Name</label>
        <input id=${`${id}-name`} type="text" required autofocus=${Boolean(close)} maxlength="63" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby=${`${id}-hint`} value=${name} onInput=${(event) => setName(event.target.value.toLowerCase().replaceAll(" ", "-"))} />
        <p class="hint" id=${`${id}-hint`}>Small letters, digits, - and _, such as <code>papers</code> or <code>team-notes</code>.</p>
      </div>
      <details>
        <summary>How documents are read</summary>
        <div class="stack folded">
          <${StrategyPicker} kind="chunker" label="Cut into passages by" value=${chunker} change=${setChunker} />
          <fieldset class="stack tight"><legend>Leave out</legend>
            <label class="choice"><input type="checkbox" checked=${noVectors} onChange=${() => setNoVectors(!noVectors)} />
              <span><strong>Vectors</strong> <span class="hint">Passages are found by their words and names, without an embedding model.</span></span></label>
            <label class="choice"><input type="checkbox" checked=${noGraph} onChange=${() => setNoGraph(!noGraph)} />
              <span><strong>Graph</strong> <span class="hint">No names and facts are looked for.</span></span></label>
          </fieldset>
          <fieldset class="stack tight" disabled=${noGraph}><legend>Find names and facts by</legend>
            ${known.map((one) => html`
              <label class="choice"><input type="checkbox" checked=${extractors.includes(one.name)} disabled=${one.needs_model && hasModel === false} onChange=${() => toggle(one.name)} />
                <span><strong>${one.name}</strong> <span class="hint">${one.description}${one.needs_model && hasModel === false ? " No language model is configured." : ""}</span></span></label>`)}
            <p class="hint">Without a choice: the server's default. It is fixed for a corpus; a reindex changes it.</p>
          </fieldset>
        </div>
      </details>
      <${Notice} error=${error} />
      <div class="actions">${close && html`<button type="button" onClick=${close}>Cancel</button>`}<button class="primary" disabled=${busy || !name.trim()}>Create the corpus</button></div>
    </form>`;
}

/** A strategy as it is written in one text: `sentences:max_tokens=200`. */
function written({ name, options }) {
  const parts = Object.entries(options).map(([option, value]) => `${option}=${value}`);
  return name ? [name, parts.join(",")].filter(Boolean).join(":") : undefined;
}
