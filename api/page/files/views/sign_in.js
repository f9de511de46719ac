/**
 * Signs in at the identity provider of the server, or exchanges a key for a session. The key is sent once, and kept
 * nowhere in the browser.
 */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { address, get } from "../core/api.js";
import { useAction, useResource } from "../core/resource.js";
import { navigate, usePlace } from "../core/router.js";
import { useSession } from "../core/session.js";
import { Notice } from "../parts/states.js";
import { View } from "../parts/view.js";

/** Why a sign-in at the provider has failed, as the server names it in the address. */
const FAILURES = {
  state: "This sign-in was not begun in this browser, or took longer than ten minutes. Begin again here.",
  denied: "The provider did not sign you in, or you did not agree. Nothing was changed.",
  code: "The provider does not accept its code any more. Begin again.",
  answer: "What the provider answered is not for this sign-in, so nobody was signed in. Begin again.",
  rule: "The provider knows you, but no rule of this server is for you. Ask whoever runs it.",
  groups: "You are in more groups than a session can hold. Ask whoever runs the server to have the provider send fewer.",
  client: "The provider does not accept this server. Whoever runs it must check its client at the provider.",
  provider: "The provider does not answer. Try again in a minute.",
  address: "This server does not know that it is reached at this address. Whoever runs it must set its public address.",
};

export default function SignIn() {
  const session = useSession();
  const { query } = usePlace();
  const next = ownAddress(query.get("next"));
  const provider = useResource("provider", (signal) => get("/v1/session/provider", undefined, signal));
  const [key, setKey] = useState("");
  const field = useRef(null);
  const link = useRef(null);
  const name = provider.value?.name;
  useEffect(() => field.current.focus(), []);
  useEffect(() => {
    if (name && !key) link.current.focus();
  }, [name]);
  const { run, busy, error } = useAction(async () => {
    await session.signIn(key.trim());
    navigate(next, { replace: true });
  });
  const submit = (event) => {
    event.preventDefault();
    run();
  };
  const failure = Object.hasOwn(FAILURES, query.get("failed")) && FAILURES[query.get("failed")];
  return html`
    <${View} title="Sign in">
      <div class="narrow stack">
        <${Notice} error=${failure && { title: "You are not signed in", message: failure }} />
        ${name && html`<p><a class="button primary" ref=${link} href=${address("/sign-in/provider", { next })}>Sign in with ${name}</a></p>`}
        <form class="stack" onSubmit=${submit}>
          <p>${name ? "Or with a key. It" : "This server needs a key. It"} is exchanged for a session of this browser, which ends after some hours or when you sign out.</p>
          <div class="field">
            <label for="key">Key</label>
            <input id="key" ref=${field} type="password" autocomplete="off" spellcheck="false" required value=${key} onInput=${(event) => setKey(event.target.value)} />
            <p class="hint">Whoever runs the server makes keys with <code>hopweave keys create</code>.</p>
          </div>
          <${Notice} error=${error} />
          <div><button class=${name ? "" : "primary"} disabled=${busy || !key.trim()}>${busy ? "Signing in…" : "Sign in"}</button></div>
        </form>
      </div>
    <//>`;
}

/** Returns the address to go on to, if it is one of this page. */
function ownAddress(next) {
  return next && next.startsWith("/") && !next.startsWith("//") && !next.startsWith("/\\") && !next.startsWith("/sign-in") ? next : "/";
}
