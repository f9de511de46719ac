/** Starts the page: fetches the modules of its view, applies the theme, and renders the shell into `#page`. */

import { html, render } from "./vendor/preact.js";
import { fetchModules } from "./core/modules.js";
import { SessionProvider } from "./core/session.js";
import { applyTheme } from "./core/theme.js";
import { match } from "./routes.js";
import { Shell } from "./shell.js";

fetchModules(match(location.pathname)?.file); // while the session is read
applyTheme();
const root = document.getElementById("page");
root.textContent = "";
render(html`<${SessionProvider}><${Shell} /><//>`, root);
