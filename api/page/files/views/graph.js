/** Walks the entity graph: what is near an entity, drawn or as a list, and what is known of each node. */

import { html, useEffect } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { useResource } from "../core/resource.js";
import { Link, useQuery, viewOf } from "../core/router.js";
import { number, plural } from "../core/text.js";
import { Icon } from "../parts/icons.js";
import { Empty, Failed, Loading, Notice } from "../parts/states.js";
import { View } from "../parts/view.js";
import { Drawing } from "../graphing/drawing.js";
import { EntityBox } from "../graphing/entity_box.js";
import { MAX_EDGES, MAX_NODES } from "../graphing/model.js";
import { Outline } from "../graphing/outline.js";
import { Panel } from "../graphing/panel/panel.js";
import { Proposals } from "../graphing/proposals.js";
import { useSubgraph } from "../graphing/subgraph.js";
import { Types } from "../graphing/types.js";

const LIMITS = [50, 100, 200, 500, 1000];
const DEPTHS = [1, 2, 3, 4, 5, 6];
const MOST_ADDED = 12; // expanded nodes that the address keeps

export default function Graph({ corpus }) {
  const [query, change] = useQuery();
  const start = query.get("entity") || "";
  const name = query.get("name") || "";
  const found = useResource(start ? null : [corpus, name], (signal) => get(corpusPath(corpus, "entities"), { query: name, limit: 1 }, signal));
  useEffect(() => {
    const first = found.value?.data[0];
    if (!start && first) change({ entity: first.entity.id, name: "" }, { replace: true });
  }, [found.value]);
  const isEmpty = !start && found.value?.data.length === 0;
  return html`
    <${View} title="Graph" context=${corpus} wide>
      ${!(isEmpty && !name) && html`
        <div class="graph-head">
          <${EntityBox} corpus=${corpus} label="Find an entity" placeholder="Find an entity by name" choose=${(one) => change({ entity: one.id, at: "", more: "", to: "", name: "" })} />
          ${start && html`<${Extent} query=${query} change=${change} />`}
        </div>`}
      ${found.error && html`<${Failed} error=${found.error} retry=${found.reload} />`}
      ${!start && !found.value && !found.error && html`<${Loading} what="the entities" />`}
      ${isEmpty && html`<${NoEntities} corpus=${corpus} name=${name} />`}
      ${start && query.get("view") === "same" && html`<${Proposals} key=${corpus} corpus=${corpus} choose=${(id) => change({ entity: id, view: "", at: "", more: "", to: "" })} />`}
      ${start && query.get("view") !== "same" && html`<${Explorer} corpus=${corpus} start=${start} query=${query} change=${change} />`}
    <//>`;
}

function NoEntities({ corpus, name }) {
  if (name) return html`<${Empty} icon="graph" title="There is no entity of this name" text=${`No passage names “${name}”. Find another one above.`} />`;
  return html`
    <${Empty} icon="graph" title="This corpus has no entities yet" text="Entities are found in documents when they are indexed: names, and what the documents state of them.">
      <${Link} class="button primary" to=${viewOf(corpus, "documents")}>Add documents<//>
    <//>`;
}

/** How much is drawn, and how. */
function Extent({ query, change }) {
  const depth = Number(query.get("depth")) || 2;
  const limit = Number(query.get("limit")) || 100;
  const view = query.get("view") || "";
  const options = (all, value, word) => [...new Set([...all, value])].sort((a, b) => a - b).map((one) => html`<option value=${one} selected=${one === value}>${plural(one, word)}</option>`);
  const shown = (name, icon, text) => html`<button aria-pressed=${String(view === name)} onClick=${() => change({ view: name }, { replace: true })}><${Icon} name=${icon} /> ${text}</button>`;
  return html`
    ${view !== "same" && html`
    <label class="row"><span class="faint">Up to</span><select aria-label="Distance" value=${depth} onChange=${(event) => change({ depth: event.target.value, more: "" })}>${options(DEPTHS, depth, "edge")}</select></label>
    <label class="row"><span class="faint">and</span><select aria-label="Size" value=${limit} onChange=${(event) => change({ limit: event.target.value, more: "" })}>${options(LIMITS, limit, "node")}</select></label>`}
    <div class="row switch" role="group" aria-label="Shown as">
      ${shown("", "graph", "Drawing")} ${shown("list", "list", "List")} ${shown("same", "check", "Who is who")}
    </div>`;
}

function Explorer({ corpus, start, query, change }) {
  const depth = Number(query.get("depth")) || 2;
  const limit = Number(query.get("limit")) || 100;
  const more = (query.get("more") || "").split(",").filter(Boolean);
  const expanded = (id) => change({ more: [...more.filter((one) => one !== id), id].slice(-MOST_ADDED).join(","), at: id }, { replace: true });
  const graph = useSubgraph(corpus, start, depth, limit, more, expanded);
  const { model, version } = graph;
  if (graph.state === "failed") return html`<${Failed} error=${graph.error} retry=${graph.reload} />`;
  if (!model) return html`<${Loading} what="the neighbourhood" />`;
  const only = query.get("type") || "";
  model.only = only;
  const chosen = model.nodes.get(query.get("at") || "") || model.nodes.get(model.start);
  const choose = (id, known) => (model.nodes.has(id) || !known ? change({ at: id }, { replace: true }) : change({ entity: id, at: "", more: "" }));
  const open = (id) => {
    choose(id);
    if (!more.includes(id) && model.nodes.get(id).kind === "entity") graph.expand(id);
  };
  const changed = (id) => {
    change({ entity: model.start === chosen.id ? id : model.start, at: id, more: "", to: "" }, { replace: true });
    graph.reload();
  };
  const isList = query.get("view") === "list";
  return html`
    <div class="explorer" aria-busy=${String(graph.state === "loading")}>
      <div class="stack">
        <${Told} graph=${graph} limit=${limit} change=${change} chosen=${chosen} />
        <${Types} model=${model} only=${only} show=${(type) => change({ type }, { replace: true })} />
        ${isList
          ? html`<${Outline} key=${model.start} model=${model} version=${version} chosen=${chosen} choose=${choose} expand=${graph.expand} />`
          : html`<${Drawing} model=${model} version=${version} only=${only} chosen=${chosen} choose=${choose} open=${open} />`}
      </div>
      <${Panel} corpus=${corpus} node=${chosen} model=${model} round=${graph.round} choose=${choose} open=${graph.expand} go=${(changes) => change(changes)} to=${query.get("to") || ""} changed=${changed} />
    </div>`;
}

/** What is drawn, what is not, and what can be done about that. */
function Told({ graph, limit, change, chosen }) {
  const { model, full, error } = graph;
  const next = LIMITS.find((one) => one > limit);
  return html`
    <p class="drawn"><span>${plural(model.count("entity"), "entity", "entities")}, ${plural(model.count("passage"), "passage")}, ${plural(model.edges.size, "edge")}</span>
      ${model.hiddenEdges > 0 && html` <span class="faint">of ${number(model.edges.size + model.hiddenEdges)}: at most ${number(MAX_EDGES)} are drawn.</span>`}
      ${model.truncated && html` <span class="faint">There is more at this distance. ${next && html`<button class="link" onClick=${() => change({ limit: next, more: "" })}>Draw up to ${number(next)} nodes</button>`}</span>`}</p>
    ${full && html`
      <div class="notice fair" role="alert"><${Icon} name="warning" /><div><strong>The drawing is full.</strong> It has ${number(MAX_NODES)} nodes, the most that it can have. The nodes farthest from ${chosen.label} can make room.
        <div class="row"><button onClick=${() => graph.drop(full)}>Drop the ${MAX_NODES / 5} farthest</button><button class="quiet" onClick=${graph.dismiss}>Leave it</button></div></div></div>`}
    <${Notice} error=${error} dismiss=${graph.dismiss} />`;
}
