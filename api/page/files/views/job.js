import { html } from "../vendor/preact.js";
import { View } from "../parts/view.js";

export default function Job({ corpus }) {
  return html`<${View} title="Job" context=${corpus}><//>`;
}
