"""How probable it is that a statement or a fact is right: a logistic table over what its parse tells.

The weights of statements were fitted on two thirds of CaRB's development half: the share of a statement's words that a
person wrote, too. The weights of facts were fitted on passages of MuSiQue's training set: whether GPT-3.5 found the
same two ends; then their scale, the base and those of five rules on 150 facts that were judged. Two were set by
hand after more facts were read: "possession" and "behind" (figures: docs/benchmarks/graph.md).
"""

import math
from collections.abc import Mapping, Sequence

from core.graph import Triple
from indexer.extractors.syntax.rules import Sentence
from indexer.extractors.syntax.statements import Statement
from indexer.extractors.syntax.words import Word

STATEMENT_WEIGHTS: Mapping[str, float] = {
    "base": 0.18,
    "comma in an argument": -0.32,
    "comma in the subject": -0.41,
    "in a clause of another": -0.65,
    "joined": -0.43,
    "manner acl": 0.24,
    "manner advcl": 0.8,
    "manner apposition": -0.35,
    "manner conj": 1.03,
    "manner expl": -0.38,
    "manner own": 0.81,
    "manner pcomp": 0.22,
    "manner possession": -1.68,
    "manner relcl": 0.48,
    "manner title": -0.68,
    "manner xcomp": -0.37,
    "no argument": -2.37,
    "one argument": 0.52,
    "only a copula": -0.67,
    "share of the sentence": 0.84,
    "verb in an argument": -0.43,
    "words": -0.28,
    "words of the relation": 0.46,
    "words of the subject": -0.33,
}
FACT_WEIGHTS: Mapping[str, float] = {
    "base": 1.01,
    "object is a name": 0.38,
    "rule adjective": 0.16,
    "rule apposition": -0.95,
    "rule behind": 0.1,
    "rule circumstance": 0.17,
    "rule clause": 0.07,
    "rule copula": 0.27,
    "rule life": 0.48,
    "rule noun": -1.6,
    "rule object": 0.21,
    "rule owned": 0.32,
    "rule owner": -0.34,
    "rule possession": -1.0,
    "rule relative": -0.07,
    "rule title": -0.09,
    "subject is a name": 0.7,
    "subject is the topic": 0.32,
    "words of the relation": -0.31,
    "words of the sentence": -0.29,
}


def grade_statement(statement: Statement, words: Sequence[Word]) -> float:
    """Returns the probability of a statement of the sentence of `words`."""
    return _sum_up(STATEMENT_WEIGHTS, statement_features(statement, words))


def grade_fact(rule: str, triple: Triple, sentence: Sentence) -> float:
    """Returns the probability of a fact that a rule made of a sentence."""
    return _sum_up(FACT_WEIGHTS, fact_features(rule, triple, sentence))


def _sum_up(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    total = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-total))


def statement_features(statement: Statement, words: Sequence[Word]) -> dict[str, float]:
    """Returns the features by name. Those of length are in tens of words."""
    told = [word for phrase in statement.arguments for word in phrase]
    size = len(told) + len(statement.subject) + len(statement.relation)
    return {
        "base": 1.0,
        f"manner {statement.manner}": 1.0,
        "no argument": float(not told),
        "one argument": float(len(statement.arguments) == 1),
        "only a copula": float(len(statement.relation) == 1 and statement.relation[0].is_be),
        "words of the subject": min(len(statement.subject), 20) / 10,
        "words of the relation": min(len(statement.relation), 6) / 10,
        "words": min(size, 40) / 10,
        "share of the sentence": size / len(words),
        "joined": float(statement.joined > 1),
        "comma in the subject": float(any(word.text == "," for word in statement.subject)),
        "comma in an argument": float(any(word.text == "," for word in told)),
        "verb in an argument": float(any(word.kind == "VERB" for word in told)),
        "in a clause of another": float(_is_below(statement.relation)),
    }


def _is_below(relation: Sequence[Word]) -> bool:
    word = relation[-1] if relation else None
    while word is not None:
        if word.role in ("advcl", "ccomp", "relcl", "acl"):
            return True
        word = word.head
    return False


def fact_features(rule: str, triple: Triple, sentence: Sentence) -> dict[str, float]:
    """Returns the features by name. Those of length are in tens of words."""
    topic = sentence.ends.topic
    names = [sentence.ends.is_name(end) for end in (triple.subject, triple.object)]
    return {
        "base": 1.0,
        f"rule {rule}": 1.0,
        "subject is the topic": float(bool(topic) and triple.subject == topic),
        "subject is a name": float(names[0]),
        "object is a name": float(names[1]),
        "words of the relation": min(len(triple.predicate.split()), 8) / 10,
        "words of the sentence": min(len(sentence.words), 60) / 10,
    }
