/** Who uses the page: whether the server needs a key, and what the key of this session may do. */

import { createContext, html, useContext, useEffect, useMemo, useState } from "../vendor/preact.js";
import { get, onRefused, post, remove } from "./api.js";
import { navigate } from "./router.js";

const Session = createContext(null);

/**
 * Provides the session: `state` is `loading`, `open` (requests are answered), `closed` (a key is needed) or `failed`.
 * `may(scope)` tells whether it has a scope.
 */
export function SessionProvider({ children }) {
  const [known, setKnown] = useState({ state: "loading" });
  const value = useMemo(() => {
    const read = async () => {
      try {
        setKnown({ state: "open", ...(await get("/v1/session")) });
      } catch (error) {
        setKnown(error.status === 401 ? { state: "closed" } : { state: "failed", error });
      }
    };
    const signIn = async (key) => setKnown({ state: "open", ...(await post("/v1/session", { key })), ...(await get("/v1/session")) });
    const signOut = async () => {
      await remove("/v1/session");
      if (known.provider) {
        location.assign("/sign-in/end"); // the provider would sign the next reader of this browser in
        return;
      }
      setKnown({ state: "closed" });
      navigate("/sign-in");
    };
    const may = (scope) => known.state === "open" && (known.scopes.includes(scope) || known.scopes.includes("admin"));
    return { ...known, read, signIn, signOut, may };
  }, [known]);
  useEffect(() => {
    onRefused(() => setKnown({ state: "closed" }));
    value.read();
  }, []);
  return html`<${Session.Provider} value=${value}>${children}<//>`;
}

export const useSession = () => useContext(Session);
