/** The documents of a corpus: adding them by files, the list with filters, and what can be done with many. */

import { html, useCallback, useEffect, useRef, useState } from "../vendor/preact.js";
import { corpusPath, get } from "../core/api.js";
import { usePages } from "../core/paging.js";
import { readDropped } from "../core/picking.js";
import { useResource } from "../core/resource.js";
import { Link, useQuery, viewOf } from "../core/router.js";
import { useSession } from "../core/session.js";
import { plural } from "../core/text.js";
import { useUpload } from "../core/uploads.js";
import { Chosen, DropPlace, PickingFailed } from "../parts/ingest/picker.js";
import { UploadStatus } from "../parts/ingest/status.js";
import { FollowedJob } from "../parts/jobs.js";
import { Filters, readFilters } from "../parts/library/filters.js";
import { DocumentRow } from "../parts/library/row.js";
import { DeleteMatching, Selection } from "../parts/library/selection.js";
import { Empty, Failed, Loading, Notice } from "../parts/states.js";
import { View } from "../parts/view.js";
import { Windowed } from "../parts/windowed.js";

const PAGE = 200;

export default function Documents({ corpus }) {
  const { may } = useSession();
  const mayWrite = may("write");
  const [query, change] = useQuery();
  const filters = readFilters(query);
  const list = usePages([corpus, filters.params], (cursor, signal) =>
    filters.params ? get(corpusPath(corpus, "documents"), { ...filters.params, limit: PAGE, cursor }, signal) : Promise.resolve({ data: [], next_cursor: null }),
  );
  const info = useResource(["corpus", corpus], (signal) => get(corpusPath(corpus), {}, signal));
  const upload = useUpload(corpus);
  const work = useWork(corpus, upload?.jobs || []);
  const drop = useDrop(mayWrite);
  const refresh = useCallback(() => {
    list.refresh();
    info.reload();
    work.reload();
  }, [list.refresh]);
  useEffect(() => {
    if (upload?.jobs.length) refresh();
  }, [upload?.jobs.length]);

  if (info.error?.status === 404) return html`<${Failed} error=${info.error} />`;
  const isEmpty = !filters.isSet && list.state === "ready" && list.rows.length === 0;
  const count = info.value?.counts?.documents;
  return html`
    <div ...${drop.handlers} class="drop-area">
    <${View} title="Documents" context=${corpus} actions=${html`<${Link} to=${viewOf(corpus, "made")}>Made questions<//>${may("admin") && html`<${Link} to=${viewOf(corpus, "certificates")}>Certificates of deletions<//>`}`}>
      ${count > 0 && !filters.isSet && html`<p class="faint under-title">${plural(count, "indexed document")}, ${plural(info.value.counts.chunks, "passage")}</p>`}
      ${mayWrite && !drop.picked && html`<${DropPlace} choose=${drop.choose} isOver=${drop.isOver} isEmpty=${isEmpty && !upload} />`}
      <${PickingFailed} error=${drop.error} dismiss=${drop.clear} />
      ${drop.picked && html`<${Chosen} corpus=${corpus} picked=${drop.picked} clear=${drop.clear} />`}
      ${upload && html`<${UploadStatus} corpus=${corpus} upload=${upload} ended=${refresh} />`}
      ${work.jobs.length > 0 && html`<section class="card stack" aria-label="Work in this corpus">${work.jobs.map((id) => html`<${FollowedJob} key=${id} corpus=${corpus} id=${id} ended=${refresh} />`)}</section>`}
      ${!isEmpty && html`<${Filters} query=${query} change=${change} error=${filters.error} />`}
      <${List} corpus=${corpus} list=${list} filters=${filters} mayWrite=${mayWrite} isEmpty=${isEmpty} isSending=${Boolean(upload || drop.picked)} begin=${(key) => change({ key })} clear=${() => change({ state: "", key: "", filter: "", enabled: "" })}
        started=${(jobs) => { work.add(jobs); refresh(); }} />
    <//>
    </div>`;
}

function List({ corpus, list, filters, mayWrite, isEmpty, isSending, begin, clear, started }) {
  const [selected, setSelected] = useState(() => new Set());
  const { rows } = list;
  useEffect(() => setSelected(new Set()), [JSON.stringify(filters.params)]);
  const toggle = (id) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  const chosen = rows.filter((one) => selected.has(one.id));
  const isAll = rows.length > 0 && chosen.length === rows.length;
  if (list.state === "failed" && !rows.length) return filters.isSet && list.error.status === 422 ? html`<${Notice} error=${list.error} />` : html`<${Failed} error=${list.error} retry=${list.refresh} />`;
  if (isEmpty) return mayWrite || isSending ? null : html`<${Empty} title="No documents yet" text="This key may read, not add. Whoever has a key that may write adds documents." />`;
  if (!rows.length && list.state === "loading") return html`<${Loading} what="the documents" />`;
  if (!rows.length) return filters.error ? null : html`<${NoMatch} filters=${filters} begin=${begin} clear=${clear} />`;
  return html`
    <section class="library" aria-label="Documents">
      <div class="library-head">
        ${mayWrite && html`<label class="check"><input type="checkbox" checked=${isAll} onChange=${() => setSelected(new Set(isAll ? [] : rows.map((one) => one.id)))} /><span>${list.isWhole ? "Select all" : `Select the first ${rows.length}`}</span></label>`}
        ${mayWrite && filters.where && !filters.params.state && !filters.params.key && html`<${DeleteMatching} corpus=${corpus} where=${filters.where} changed=${started} />`}
        <${Selection} corpus=${corpus} selected=${chosen} clear=${() => setSelected(new Set())} changed=${started} removed=${(ids) => list.change((all) => all.filter((one) => !ids.includes(one.id)))} />
      </div>
      <${Windowed} count=${rows.length} label="Documents" class="card documents" onEnd=${list.more}
        row=${(n) => html`<${DocumentRow} corpus=${corpus} document=${rows[n]} selected=${selected.has(rows[n].id)} toggle=${() => toggle(rows[n].id)} mayWrite=${mayWrite} />`} />
      ${list.state === "loading" && rows.length > 0 && html`<p class="faint" role="status">Loading more…</p>`}
      ${list.state === "failed" && html`<${Notice} error=${list.error} /><button onClick=${list.more}>Load more</button>`}
    </section>`;
}

/** Says why nothing may match: a key without `*` is a whole one, and a filter reads what is indexed. */
function NoMatch({ filters, begin, clear }) {
  const { key } = filters.params;
  const why = [key && `A key is a whole one, such as notes/${key}.txt.`, filters.where && "Filters of metadata and beginnings of keys match indexed documents only."].filter(Boolean);
  return html`
    <${Empty} title="No document matches" text=${why.join(" ")} icon="search">
      <div class="row">
        ${key && html`<button onClick=${() => begin(`${key}*`)}>Keys that begin with <bdi>${key}</bdi></button>`}
        <button onClick=${clear}>Show all documents</button>
      </div>
    <//>`;
}

/** The jobs of a corpus that run, and those that this view began; not those of the upload, which are shown there. */
function useWork(corpus, ofUpload) {
  const [added, setAdded] = useState([]);
  const jobs = useResource(["work", corpus], async (signal) => {
    const listed = await get("/v1/jobs", { corpus, limit: 20 }, signal);
    return listed.data.filter((one) => ["queued", "running", "paused"].includes(one.state)).map((one) => one.id);
  });
  const listed = jobs.value || [];
  useEffect(() => setAdded((before) => [...new Set([...listed, ...before])].slice(0, 5)), [listed.join()]); // they stay when they are over
  const all = added.filter((id) => !ofUpload.includes(id));
  return { jobs: all, reload: jobs.reload, add: (ids) => setAdded((before) => [...new Set([...ids, ...before])].slice(0, 5)) };
}

/** Files that are dropped anywhere on the view, or chosen. */
function useDrop(mayWrite) {
  const [picked, setPicked] = useState(null);
  const [isOver, setIsOver] = useState(false);
  const [error, setError] = useState(null);
  const depth = useRef(0);
  const has = (event) => mayWrite && Array.from(event.dataTransfer?.types || []).includes("Files");
  const choose = (files) => {
    setError(null);
    if (files.length) setPicked(files);
    else setError(new Error("There are no files in what was chosen. Hidden files and folders are left out."));
  };
  const enter = (step) => (event) => {
    if (!has(event)) return;
    event.preventDefault();
    depth.current = Math.max(0, depth.current + step);
    setIsOver(depth.current > 0);
  };
  const handlers = {
    onDragEnter: enter(1),
    onDragLeave: enter(-1),
    onDragOver: (event) => has(event) && event.preventDefault(),
    onDrop: (event) => {
      if (!has(event)) return;
      event.preventDefault();
      depth.current = 0;
      setIsOver(false);
      readDropped(event.dataTransfer).then(choose, setError);
    },
  };
  return { picked, isOver, error, choose, handlers, clear: () => { setPicked(null); setError(null); } };
}
