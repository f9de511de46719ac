import { html } from "../vendor/preact.js";
import { View } from "../parts/view.js";

export default function Jobs({ corpus }) {
  return html`<${View} title="Jobs" context=${corpus}><//>`;
}
