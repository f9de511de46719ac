import { html } from "../vendor/preact.js";
import { View } from "../parts/view.js";

export default function Questions({ corpus }) {
  return html`<${View} title="Questions" context=${corpus}><//>`;
}
