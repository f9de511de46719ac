/** What the page knows of reasoners in a conversation. */

/** The reasoners that ask no model, and so do not know what was asked before. */
export const READ_NO_HISTORY = ["extractive", "survey"];
