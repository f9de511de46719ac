/** Icons of 20 × 20, drawn with the colour of the text. All are decoration: what they stand beside has a name. */

import { html } from "../vendor/preact.js";

const PATHS = {
  brand: "M4 4v12M16 4v12M4 10c4-5 8 5 12 0",
  ask: "M3 4h14v9H9l-4 3.5V13H3z",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11zM13.2 13.2 17 17",
  graph: "M5 5l10 3M5 5l3 10M15 8l-7 7M5 3.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6zM15 6.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6zM8 13.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6z",
  documents: "M5 2.5h7l3.5 3.5v11.5H5zM12 2.5V6h3.5M7.5 10h5.5M7.5 13h5.5",
  questions: "M4 3h12v14l-6-3.5L4 17z",
  jobs: "M3 6h9M3 10h6M3 14h9M14.5 8.5l2.5 2-2.5 2z",
  system: "M3 4h14v9.5H3zM7 17h6M10 13.5V17",
  light: "M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7zM10 2v2M10 16v2M2 10h2M16 10h2M4.4 4.4l1.4 1.4M14.2 14.2l1.4 1.4M4.4 15.6l1.4-1.4M14.2 5.8l1.4-1.4",
  dark: "M15.5 12.2A6.5 6.5 0 0 1 7.8 4.5a6.5 6.5 0 1 0 7.7 7.7z",
  close: "M5 5l10 10M15 5L5 15",
  add: "M10 4v12M4 10h12",
  less: "M4 10h12",
  fit: "M3.5 7V3.5H7M13 3.5h3.5V7M16.5 13v3.5H13M7 16.5H3.5V13",
  list: "M3.5 5h.01M7 5h9.5M3.5 10h.01M7 10h9.5M3.5 15h.01M7 15h9.5",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  left: "M12 4l-6 6 6 6",
  right: "M8 4l6 6-6 6",
  down: "M4 8l6 6 6-6",
  upload: "M10 13V3.5M6 7.5l4-4 4 4M3.5 13v3.5h13V13",
  download: "M10 3.5V13M6 9l4 4 4-4M3.5 13v3.5h13V13",
  again: "M16 10a6 6 0 1 1-1.8-4.3M16 3v3.5h-3.5",
  stop: "M5.5 5.5h9v9h-9z",
  check: "M4 10.5l4 4 8-9",
  warning: "M10 3l8 14H2zM10 8v4M10 14.5h.01",
  help: "M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 0 0 0-15zM7.8 7.8a2.3 2.3 0 1 1 3.2 2.4q-1 .5-1 1.6M10 14.2h.01",
  link: "M8.5 11.5a3 3 0 0 0 4.2 0l3-3a3 3 0 0 0-4.2-4.2l-1 1M11.5 8.5a3 3 0 0 0-4.2 0l-3 3a3 3 0 0 0 4.2 4.2l1-1",
  settings: "M4 6h8M15 6h1M4 10h2M9 10h7M4 14h6M13 14h3M13.5 4.5v3M7.5 8.5v3M11.5 12.5v3",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>`;
}
