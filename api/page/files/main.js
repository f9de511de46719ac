/** Starts the page: applies the theme, and renders the shell into `#page`. */

import { html, render } from "./vendor/preact.js";
import { SessionProvider } from "./core/session.js";
import { applyTheme } from "./core/theme.js";
import { Shell } from "./shell.js";

applyTheme();
const root = document.getElementById("page");
root.textContent = "";
render(html`<${SessionProvider}><${Shell} /><//>`, root);
