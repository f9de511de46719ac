import { html } from "../vendor/preact.js";
import { View } from "../parts/view.js";

export default function Graph({ corpus }) {
  return html`<${View} title="Graph" context=${corpus}><//>`;
}
