/** The roles of cited documents, as verification finds them: tone, icon, label, and a sentence. */

export const ROLES = {
  needed: ["good", "check", "needed", "Without it, the passages do not state this answer."],
  redundant: ["", "more", "redundant", "The same answer stands without it."],
  contradicts: ["poor", "warning", "contradicts", "Without it, passages state another answer."],
  unclear: ["fair", "warning", "unclear", "What it bears could not be decided."],
};

const SPENT = "budget of the verification is used up"; // the server's words, which name parameters of requests

/** What the server says of a verdict, for readers who make no requests. */
export function inWords(said) {
  if (!said.includes(SPENT)) return said;
  return "Not decided: the check has used up the calls, tokens or seconds that it may spend. Ask with fewer passages, or ask whoever runs the server to allow more for a question.";
}
