/** What the page knows of reasoners in a conversation. */

/** The reasoner that asks no model, and so does not know what was asked before. */
export const READS_NO_HISTORY = "extractive";
