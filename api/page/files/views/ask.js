import { html } from "../vendor/preact.js";
import { View } from "../parts/view.js";

export default function Ask({ corpus }) {
  return html`<${View} title="Ask" context=${corpus}><//>`;
}
