/** An answer in a line: without its markers, and without the marks of Markdown that would only disturb there. */

export function plainText(text) {
  return text
    .replace(/ ?\[\d{1,4}\]/g, "")
    .replace(/(\*\*|__)(\S(?:.*?\S)?)\1/gs, "$2")
    .replace(/(^|\s)\*(\S(?:[^*]*\S)?)\*/g, "$1$2")
    .replace(/^[ \t]*\|?[ \t:|-]*-[ \t:|-]*\|?[ \t]*$/gm, "")
    .replace(/^\s*(?:#{1,6}|[-*+]|\|)\s+/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** True for an answer that is made of its quotes alone: whoever sees it beside its sources needs it nowhere else. */
export function isQuoted(answer) {
  const quotes = answer.citations.map((one) => plainText(one.quote)).join(" ");
  return !answer.abstained && quotes !== "" && plainText(answer.answer) === quotes;
}
