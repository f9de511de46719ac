import { html } from "../vendor/preact.js";
import { View } from "../parts/view.js";

export default function Answer({ corpus }) {
  return html`<${View} title="Answer" context=${corpus}><//>`;
}
