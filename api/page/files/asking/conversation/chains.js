/** Conversations as chains of questions, each of which names the one that it follows. */

/**
 * @typedef {{first: import("../source.js").Question, last: import("../source.js").Question, ids: string[]}} Conversation
 *   `ids`: of its questions, the oldest first. `first` is the oldest that is known.
 */

/**
 * Returns the conversations of questions that were listed, in the order of their last questions. Two questions that
 * follow the same one end two conversations.
 *
 * @param {import("../source.js").Question[]} listed The newest first.
 * @returns {Conversation[]}
 */
export function conversationsOf(listed) {
  const byId = new Map(listed.map((question) => [question.id, question]));
  const followed = new Set(listed.map((question) => question.follows));
  return listed.filter((question) => !followed.has(question.id)).map((last) => {
    const chain = [last];
    while (byId.has(chain[0].follows) && chain.length < listed.length) chain.unshift(byId.get(chain[0].follows));
    return { first: chain[0], last, ids: chain.map((question) => question.id) };
  });
}

/** The conversation that a question belongs to, the newest if there are several; undefined if it was not listed. */
export const conversationOf = (conversations, id) => conversations.find((one) => one.ids.includes(id));
