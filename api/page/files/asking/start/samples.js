/** Sample questions, made from the names and the facts of a corpus. */

const MOST = 4;
const LATIN = /\p{Script=Latin}/u; // the questions are English: a name of another script would make a question of two
const ASKS_WHO = ["person", "organisation"];
const ASSERTS = /^(?:is|was|are|were|has|had) /; // "was born in", "is native to"; not "located in", "author of"
const ACTS = /^(?:built|composed|created|designed|directed|discovered|founded|invented|led|married|owns|painted|published|taught|won|worked (?:for|with)|wrote)$/;

/**
 * Returns questions that the corpus may answer: of its facts first, then about its most mentioned names.
 *
 * @param {{name: string, type: string | null}[]} entities The most mentioned first.
 * @param {{subject: any, predicate: string, object: any}[]} facts
 * @returns {string[]}
 */
export function sampleQuestions(entities, facts) {
  const named = entities.filter((one) => LATIN.test(one.name)).sort(typedFirst);
  const asked = [...distinct(facts.map(ofFact)).slice(0, MOST / 2), ...named.map(ofEntity)];
  return distinct(asked).slice(0, MOST);
}

/** Names whose type is known are names of something; others may be words such as “American”. */
export const typedFirst = (a, b) => Number(Boolean(b.type)) - Number(Boolean(a.type));

function ofFact({ subject, predicate, object }) {
  if (!LATIN.test(predicate) || !LATIN.test(object.name)) return "";
  if (ASKS_WHO.includes(subject.type) && (ASSERTS.test(predicate) || ACTS.test(predicate))) return `Who ${predicate} ${object.name}?`;
  return ASSERTS.test(predicate) ? `What ${predicate} ${object.name}?` : "";
}

const ofEntity = ({ name, type }) => (type === "person" ? `Who is ${name}?` : `What is said about ${name}?`);

const distinct = (texts) => [...new Set(texts.filter(Boolean))];
