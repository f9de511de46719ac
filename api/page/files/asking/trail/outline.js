/** The trail as nested lists: the same as its picture, for readers who listen or have a narrow screen. */

import { html } from "../../vendor/preact.js";
import { Icon } from "../../parts/icons.js";
import { Support } from "../../parts/tags.js";
import { ROLES } from "../answer/roles.js";

/** @param {{nodes: import("./graph.js").TrailNode[], choose: (node: any) => void, chosen: string}} props */
export function TrailOutline({ nodes, choose, chosen }) {
  const below = (id, kind) => nodes.filter((node) => node.parents.includes(id) && node.kind === kind);
  const item = (node, children) => html`
    <li><button class="outline-node" aria-pressed=${chosen === node.id} onClick=${() => choose(node)}>
      <span class="faint">${node.title}</span> <span dir="auto">${node.label}</span></button>
      ${node.sub && html`<p dir="auto" class="outline-sub">${node.sub} ${node.kind === "step" && node.support && html`<${Support} support=${node.support} />`}${node.role && html`<${Role} role=${node.role} />`}</p>`}
      ${children.length > 0 && html`<ul>${children}</ul>`}</li>`;
  const facts = (passage) => below(passage.id, "fact").map((fact) => item(fact, []));
  const passages = (id) => below(id, "passage").map((passage) => item(passage, facts(passage)));
  const [question] = nodes;
  const steps = nodes.filter((node) => node.kind === "step").map((step) => item(step, passages(step.id)));
  return html`<ul class="outline">${item(question, [...steps, ...passages("question")])}</ul>`;
}

function Role({ role }) {
  const [tone, icon, label] = ROLES[role] || ["fair", "warning", role];
  return html` <span class=${`tag ${tone}`}><${Icon} name=${icon} />${label}</span>`;
}
