import { html } from "../vendor/preact.js";
import { View } from "../parts/view.js";

export default function Documents({ corpus }) {
  return html`<${View} title="Documents" context=${corpus}><//>`;
}
