/** Searches a corpus. The address has the whole request, so that a search can be sent to somebody and found again. */

import { html, useEffect, useRef } from "../vendor/preact.js";
import { address, corpusPath, get, post } from "../core/api.js";
import { explainFilter } from "../core/json.js";
import { useResource } from "../core/resource.js";
import { Link, useQuery, viewOf } from "../core/router.js";
import { plural } from "../core/text.js";
import { announce } from "../parts/announce.js";
import { Icon } from "../parts/icons.js";
import { Empty, Failed, Loading } from "../parts/states.js";
import { Starting } from "../parts/starting.js";
import { View } from "../parts/view.js";
import { bodyOf, namesOf, readAsked, writeAsked } from "../searching/address.js";
import { Comparison } from "../searching/comparison.js";
import { SearchForm } from "../searching/form.js";
import { Hits, NoDocuments, NoHits, Order, Told } from "../searching/results.js";
import { scaleOf } from "../searching/signals.js";

export default function Search({ corpus }) {
  const [query, change] = useQuery();
  const asked = readAsked(query);
  const isReady = asked.q.trim() !== "" && !explainFilter(asked.filter);
  const found = useResource(isReady ? [corpus, asked] : null, (signal) => search(corpus, asked, signal));
  const kept = useRef(null);
  if (found.value) kept.current = found.value;
  const results = found.value || (found.state === "loading" ? kept.current : null);
  useEffect(() => {
    if (found.value) announce(`Found ${found.value.map((one) => plural(one.hits.length, "hit")).join(" and ")}.`);
  }, [found.value]);
  const isWrong = found.error?.status === 422 || found.error?.status === 400;
  return html`
    <${View} title="Search" context=${corpus}>
      <${SearchForm} asked=${asked} search=${(next) => (JSON.stringify(next) === JSON.stringify(asked) ? found.reload() : change(writeAsked(next)))} error=${isWrong ? found.error : null} />
      <${Starting} />
      ${!asked.q.trim() && html`<${Start} corpus=${corpus} />`}
      ${found.error && !isWrong && html`<${Failed} error=${found.error} retry=${found.reload} />`}
      ${found.state === "loading" && !results && html`<${Loading} what="the hits" />`}
      ${results && html`
        <div class="results stack" aria-busy=${String(found.state === "loading")}>
          <${Results} corpus=${corpus} asked=${asked} results=${results} by=${query.get("sort") || ""} change=${change} />
        </div>`}
    <//>`;
}

async function search(corpus, asked, signal) {
  const searchers = asked.other ? [asked.searcher, asked.other] : [asked.searcher];
  return Promise.all(searchers.map((one) => post(corpusPath(corpus, "search"), bodyOf(asked, one), { signal })));
}

function Results({ corpus, asked, results, by, change }) {
  const [first] = results;
  const isCompared = results.length > 1 && asked.other !== null;
  const isEmpty = results.every((one) => one.hits.length === 0);
  return html`
    <div class="row results-head">
      <div class="grow">${!isCompared && html`<${Told} result=${first} />`}</div>
      ${!isEmpty && html`<${Order} value=${by} change=${(sort) => change({ sort }, { replace: true })} />`}
      <${Link} class="button" to=${address(viewOf(corpus), { question: asked.q })}><${Icon} name="ask" /> Ask this<//>
    </div>
    ${isEmpty && html`<${NoHits} corpus=${corpus} asked=${asked} change=${change} />`}
    ${!isEmpty && isCompared && html`<${Comparison} corpus=${corpus} results=${results} names=${namesOf(asked.searcher, asked.other)} by=${by} />`}
    ${!isEmpty && !isCompared && html`<${Hits} corpus=${corpus} hits=${first.hits} by=${by} scale=${scaleOf(first.hits)} prefix="hit" />`}`;
}

function Start({ corpus }) {
  const about = useResource(corpus, (signal) => get(corpusPath(corpus), {}, signal));
  if (about.error) return html`<${Failed} error=${about.error} retry=${about.reload} />`;
  if (!about.value) return html`<${Loading} what="the corpus" />`;
  const { chunks, documents } = about.value.counts;
  if (chunks === 0) return html`<${NoDocuments} corpus=${corpus} />`;
  return html`<${Empty} icon="search" title=${`${plural(chunks, "passage")} of ${plural(documents, "document")} can be searched`}
    text="A hit shows what the question and the passage have in common: meaning, words, and the way through the graph from the question's names to the passage." />`;
}
