/** The roles of cited documents, as verification finds them: tone, icon, label, and a sentence. */

export const ROLES = {
  needed: ["good", "check", "needed", "Without it, the passages do not state this answer."],
  redundant: ["", "more", "redundant", "The same answer stands without it."],
  contradicts: ["poor", "warning", "contradicts", "Without it, passages state another answer."],
  unclear: ["fair", "warning", "unclear", "What it bears could not be decided."],
};
