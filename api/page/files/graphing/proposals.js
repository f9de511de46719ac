/** Entities that may be one, with what speaks for and against it; accepting, rejecting, and undoing both. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { corpusPath, get, post } from "../core/api.js";
import { useAction, useResource } from "../core/resource.js";
import { useSession } from "../core/session.js";
import { plural } from "../core/text.js";
import { announce } from "../parts/announce.js";
import { Empty, Failed, Loading, Notice } from "../parts/states.js";

const AT_ONCE = 50;
const ABOVE = 0.5; // below it, two entities are more likely two

/** @param {{corpus: string, choose: (id: string) => void}} props `choose` shows an entity in the graph. */
export function Proposals({ corpus, choose }) {
  const found = useResource([corpus, "proposals"], (signal) => get(corpusPath(corpus, "proposals"), { above: ABOVE, limit: AT_ONCE }, signal));
  const { value } = found;
  if (found.error) return html`<${Failed} error=${found.error} retry=${found.reload} />`;
  if (!value) return html`<${Loading} what="what may be one" />`;
  return html`
    <section class="stack" aria-label="Entities that may be one">
      <p class="faint">What the corpus says of their names, passages and neighbours makes these pairs likely one entity. Nothing changes until you decide, and each decision can be undone.</p>
      ${value.data.length === 0
        ? html`<${Empty} icon="graph" title="No two entities seem to be one" text="Pairs are proposed here when documents name something in two ways." />`
        : html`<ul class="proposals plain">${value.data.map((one) => html`<${Proposal} key=${one.id} corpus=${corpus} proposal=${one} choose=${choose} />`)}</ul>`}
      ${!value.complete && html`<p class="faint">The corpus has more entities than are compared: there may be others.</p>`}
      <${Rejected} corpus=${corpus} choose=${choose} />
    </section>`;
}

/** A pair. Once it is decided, it stays in its place, with the way back. */
function Proposal({ corpus, proposal, choose }) {
  const { entity, into, probability, evidence } = proposal;
  const may = useSession().may("write");
  const [decision, setDecision] = useState(null);
  const names = `${entity.name} and ${into.name}`;
  const buttons = useRef(null);
  const { run, busy, error, clear } = useAction(async (decide) => {
    const made = await decide();
    setDecision(made);
    announce(made ? made.said : `${names} are not decided any more.`);
  });
  const merge = async () => {
    const made = await post(corpusPath(corpus, "entities", entity.id, "merge"), { into: into.id });
    return { said: `${names} are one now.`, undo: corpusPath(corpus, "merges", made.id, "undo") };
  };
  const reject = async () => {
    const made = await post(corpusPath(corpus, "rejections"), { entity: entity.id, other: into.id });
    return { said: `${names} are two.`, undo: corpusPath(corpus, "rejections", made.id, "withdraw") };
  };
  const undo = async () => {
    await post(decision.undo);
    return null;
  };
  useFocusOnChange(buttons, decision, busy);
  return html`
    <li class="card stack">
      <h2><${Name} entity=${entity} choose=${choose} /> <span class="faint">and</span> <${Name} entity=${into} choose=${choose} /></h2>
      <p>One entity with a probability of <strong>${inPercent(probability)}</strong></p>
      <div class="evidence">
        <${Evidence} title="For" evidence=${evidence.filter((one) => one.effect > 0)} />
        <${Evidence} title="Against" evidence=${evidence.filter((one) => one.effect < 0)} />
      </div>
      ${may && html`
        <div class="row" ref=${buttons}>
          ${decision
            ? html`<span>${decision.said}</span><button disabled=${busy} aria-label=${`Undo: ${decision.said}`} onClick=${() => run(undo)}>Undo</button>`
            : html`
              <button class="primary" disabled=${busy} aria-label=${`One: ${names}`} onClick=${() => run(merge)}>They are one</button>
              <button disabled=${busy} aria-label=${`Two: ${names}`} onClick=${() => run(reject)}>They are two</button>`}
        </div>`}
      <${Notice} error=${error} dismiss=${clear} />
    </li>`;
}

/** Moves the focus to the first button of an element whose buttons were replaced, once they can have it. */
function useFocusOnChange(element, value, busy) {
  const before = useRef(value);
  useEffect(() => {
    if (busy || before.current === value) return;
    before.current = value;
    element.current?.querySelector("button")?.focus();
  }, [value, busy]);
}

function Name({ entity, choose }) {
  const told = [entity.type, plural(entity.passages, "passage")].filter(Boolean).join(", ");
  return html`<button class="link" dir="auto" onClick=${() => choose(entity.id)}>${entity.name}</button> <span class="faint">${told}</span>`;
}

function Evidence({ title, evidence }) {
  return html`
    <div>
      <h3>${title}</h3>
      ${evidence.length === 0 && html`<p class="faint">Nothing</p>`}
      <ul>${evidence.map((one) => html`<li key=${one.feature}>${one.explanation}</li>`)}</ul>
    </div>`;
}

/** The pairs that are two, once they are asked for. */
function Rejected({ corpus, choose }) {
  const [isOpen, setOpen] = useState(false);
  const found = useResource(isOpen ? [corpus, "rejections"] : null, (signal) => get(corpusPath(corpus, "rejections"), {}, signal));
  const { value } = found;
  return html`
    <details onToggle=${(event) => setOpen(event.target.open)}>
      <summary><h2>Pairs that are two</h2></summary>
      ${found.error && html`<${Failed} error=${found.error} retry=${found.reload} />`}
      ${isOpen && !value && !found.error && html`<${Loading} what="the pairs" />`}
      ${value && value.data.length === 0 && html`<p class="faint">No pair was rejected.</p>`}
      ${value && html`<ul class="plain stack">${value.data.map((one) => html`<${Rejection} key=${one.id} corpus=${corpus} pair=${one} choose=${choose} reload=${found.reload} />`)}</ul>`}
    </details>`;
}

function Rejection({ corpus, pair, choose, reload }) {
  const may = useSession().may("write");
  const { entity, other } = pair;
  const { run, busy, error, clear } = useAction(async () => {
    await post(corpusPath(corpus, "rejections", pair.id, "withdraw"));
    announce(`${entity.name} and ${other.name} may be proposed again.`);
    reload();
  });
  const name = (one) => html`<button class="link" dir="auto" onClick=${() => choose(one.id)}>${one.name}</button>`;
  return html`
    <li>${name(entity)} is not ${name(other)}${" "}
      ${may && html`<button class="link" disabled=${busy} aria-label=${`Undo: ${entity.name} is not ${other.name}`} onClick=${run}>Undo</button>`}
      <${Notice} error=${error} dismiss=${clear} /></li>`;
}

/** Never 0 % or 100 %: it is an estimate. */
const inPercent = (probability) => `${Math.min(99, Math.max(1, Math.round(100 * probability)))} %`;
