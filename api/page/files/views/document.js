import { html } from "../vendor/preact.js";
import { View } from "../parts/view.js";

export default function Document({ corpus }) {
  return html`<${View} title="Document" context=${corpus}><//>`;
}
