import { html } from "../vendor/preact.js";
import { View } from "../parts/view.js";

export default function Search({ corpus }) {
  return html`<${View} title="Search" context=${corpus}><//>`;
}
