/** Exchanges a key for a session. The key is sent once, and kept nowhere in the browser. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { useAction } from "../core/resource.js";
import { navigate, usePlace } from "../core/router.js";
import { useSession } from "../core/session.js";
import { Notice } from "../parts/states.js";
import { View } from "../parts/view.js";

export default function SignIn() {
  const session = useSession();
  const { query } = usePlace();
  const [key, setKey] = useState("");
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const { run, busy, error } = useAction(async () => {
    await session.signIn(key.trim());
    navigate(ownAddress(query.get("next")), { replace: true });
  });
  const submit = (event) => {
    event.preventDefault();
    run();
  };
  return html`
    <${View} title="Sign in">
      <form class="narrow stack" onSubmit=${submit}>
        <p>This server needs a key. It is exchanged for a session of this browser, which ends after some hours or when you sign out.</p>
        <div class="field">
          <label for="key">Key</label>
          <input id="key" ref=${field} type="password" autocomplete="off" spellcheck="false" required value=${key} onInput=${(event) => setKey(event.target.value)} />
          <p class="hint">Whoever runs the server makes keys with <code>hopweave keys create</code>.</p>
        </div>
        <${Notice} error=${error} />
        <div><button class="primary" disabled=${busy || !key.trim()}>${busy ? "Signing in…" : "Sign in"}</button></div>
      </form>
    <//>`;
}

/** Returns the address to go on to, if it is one of this page. */
function ownAddress(next) {
  return next && next.startsWith("/") && !next.startsWith("//") && !next.startsWith("/\\") && !next.startsWith("/sign-in") ? next : "/";
}
