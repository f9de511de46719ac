/** The boxes of a trail's picture: their texts in lines, and their sizes, in pixels. */

import { ROLES } from "../answer/roles.js";
import { arrange, withoutImplied } from "../layers.js";

export const WIDTH = 206;
export const PAD = 11;
export const LINE = 17;
const HEAD = 16;
const LABEL_LINES = 3;
const SUB_LINES = 2;
const SUPPORT = { stated: "stated", quoted: "quoted", inferred: "inferred", memory: "from memory", none: "no answer" };
export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Arabic", "Noto Sans CJK SC", sans-serif';
const RIGHT_TO_LEFT = /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** @param {import("./graph.js").TrailNode[]} nodes */
export function drawBoxes(nodes) {
  const boxes = nodes.map((node) => {
    const label = wrap(node.label, LABEL_LINES, "600 13px");
    const sub = wrap(node.sub, SUB_LINES, "13px");
    return { ...node, head: headOf(node), labelLines: label, subLines: sub, height: PAD * 2 + HEAD + (label.length + sub.length) * LINE + (sub.length ? 4 : 0) };
  });
  // Of steps, only those edges that say something new are drawn; of a passage, all steps that stand on it.
  const steps = withoutImplied(nodes.filter((node) => node.kind === "question" || node.kind === "step"));
  const drawn = boxes.map((box) => ({ ...box, parents: steps.get(box.id) || box.parents }));
  const { places, routes, width, height } = arrange(drawn, { width: WIDTH, gapX: 36, gapY: 16 });
  return { boxes: boxes.map((box) => ({ ...box, ...places.get(box.id) })), routes, width, height };
}

/** What kind of node it is, and what it stands on or bears: words, since colour never stands alone. */
function headOf(node) {
  const more = node.support ? SUPPORT[node.support] : node.role ? ROLES[node.role]?.[2] || node.role : "";
  return more ? `${node.title} · ${more}` : node.title;
}

let context = null;

function measure(text, font) {
  context ||= document.createElement("canvas").getContext("2d");
  context.font = `${font} ${FONT}`;
  return context.measureText(text).width;
}

/** Cuts a text into lines that fit; what does not fit is left out, with “…”. */
function wrap(text, most, font) {
  const words = wordsOf(text.replace(/\s+/g, " ").trim().slice(0, 400));
  const lines = [];
  let line = "";
  const room = WIDTH - PAD * 2;
  for (const word of words.flatMap((one) => (measure(one, font) > room ? Array.from(one) : [one]))) {
    if (measure(line + word, font) <= room) line += word;
    else {
      lines.push(line.trim());
      line = word.trimStart();
    }
    if (lines.length === most) break;
  }
  if (lines.length < most && line.trim()) lines.push(line.trim());
  else if (line.trim() || text.length > 400) lines[most - 1] = shorten(lines[most - 1], room, font);
  return lines.map((one) => ({ text: one, rtl: RIGHT_TO_LEFT.test(text) }));
}

const CLOSING = /^[\p{Pe}\p{Pf}\p{Po}]+$/u;

/** Words with the punctuation that closes them. */
function wordsOf(text) {
  const words = [];
  for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) {
    if (words.length && !isWordLike && CLOSING.test(segment) && words[words.length - 1].trim()) words[words.length - 1] += segment;
    else words.push(segment);
  }
  return words;
}

function shorten(line, room, font) {
  let letters = Array.from(line);
  while (letters.length && measure(`${letters.join("")}…`, font) > room) letters = letters.slice(0, -1);
  return `${letters.join("").trimEnd()}…`;
}
