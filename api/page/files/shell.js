/** The frame of every view: brand, corpus, navigation, theme, session; and the choice of the view by the address. */

import { html, useEffect, useState } from "./vendor/preact.js";
import { get } from "./core/api.js";
import { fetchModules } from "./core/modules.js";
import { useResource } from "./core/resource.js";
import { Link, Router, navigate, usePlace, viewOf } from "./core/router.js";
import { useSession } from "./core/session.js";
import { chooseTheme, theme } from "./core/theme.js";
import { Announcer } from "./parts/announce.js";
import { Failed, Loading, Missing } from "./parts/states.js";
import { Icon } from "./parts/icons.js";
import { match } from "./routes.js";

const SECTIONS = [
  ["", "Ask", "ask"],
  ["search", "Search", "search"],
  ["graph", "Graph", "graph"],
  ["documents", "Documents", "documents"],
  ["questions", "Questions", "questions"],
  ["jobs", "Jobs", "jobs"],
];

const FREE = ["/sign-in", "/help"]; // views that need no session

export function Shell() {
  return html`<${Router}><${Frame} /><//>`;
}

function Frame() {
  const session = useSession();
  const { path } = usePlace();
  const corpus = match(path)?.params.corpus;
  const isFree = FREE.includes(path);
  const isClosed = session.state === "closed" && !isFree;
  useEffect(() => {
    if (isClosed) navigate(`/sign-in?next=${encodeURIComponent(path + location.search)}`, { replace: true });
  }, [isClosed]);
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <${Link} to="/" class="brand"><${Icon} name="brand" /><span>Hopweave</span><//>
      ${corpus && session.state === "open" && html`<${Switcher} corpus=${corpus} />`}
      ${corpus && session.state === "open" && html`<${Sections} corpus=${corpus} path=${path} />`}
      <div class="top-end">
        <${Link} to=${corpus ? `/help?corpus=${encodeURIComponent(corpus)}` : "/help"} class="button quiet icon-only" aria-label="Help" title="Help" aria-current=${path === "/help" ? "page" : undefined}><${Icon} name="help" /><//>
        <${ThemeButton} />
        ${session.state === "open" && session.needs_key && html`<button class="quiet" onClick=${session.signOut}>Sign out</button>`}
      </div>
    </header>
    <main id="main" tabindex="-1">
      ${session.state === "loading" && html`<${Loading} what="the session" />`}
      ${session.state === "failed" && html`<${Failed} error=${session.error} retry=${session.read} />`}
      ${(session.state === "open" || isFree) && html`<${View} key=${path} />`}
    </main>
    <${Announcer} />
  `;
}

/** Loads the module of the view, and shows it. */
function View() {
  const { path } = usePlace();
  const found = match(path);
  const [view, setView] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    let wanted = true;
    fetchModules(found?.file);
    found?.load().then(
      (module) => wanted && setView(() => module.default),
      () => wanted && setError(new Error("This part of the page could not be loaded. Load the page again.")),
    );
    return () => {
      wanted = false;
    };
  }, []);
  if (!found) return html`<${Missing} title="There is no such page" text="The address is wrong, is one of another version, or is for programs, which send a key." />`;
  if (error) return html`<${Failed} error=${error} retry=${() => location.reload()} />`;
  return view ? html`<${view} ...${found.params} />` : html`<${Loading} what="the view" />`;
}

function Switcher({ corpus }) {
  const corpora = useResource("corpora", (signal) => get("/v1/corpora", { limit: 200 }, signal));
  const names = corpora.value?.data.map((one) => one.name) || [];
  const all = names.includes(corpus) ? names : [corpus, ...names];
  return html`
    <label class="switcher"><span class="unseen">Corpus</span>
      <select value=${corpus} onChange=${(event) => navigate(viewOf(event.target.value))}>
        ${all.map((name) => html`<option value=${name} selected=${name === corpus}>${name}</option>`)}
      </select>
    </label>`;
}

function Sections({ corpus, path }) {
  const current = path.split("/")[3] || "";
  return html`
    <nav class="sections" aria-label="Corpus">
      ${SECTIONS.map(
        ([name, label, icon]) => html`
          <${Link} to=${name ? viewOf(corpus, name) : viewOf(corpus)} aria-current=${name === current ? "page" : undefined}>
            <${Icon} name=${icon} /><span>${label}</span>
          <//>`,
      )}
    </nav>`;
}

const THEMES = ["system", "light", "dark"];

function ThemeButton() {
  const [chosen, setChosen] = useState(theme());
  const next = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length];
  const change = () => {
    chooseTheme(next);
    setChosen(next);
  };
  const label = `Colours: ${chosen}. Change to ${next}.`;
  return html`<button class="quiet icon-only" aria-label=${label} title=${label} onClick=${change}><${Icon} name=${chosen} /></button>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}
