"""What `syntax` may keep of a sentence: facts between names, likely facts too, or its clauses; each with a probability.

`names` are the facts of `rules.py`, `likely` adds those of `likely.py`, and `clauses` are the statements of
`statements.py` in the words of the text, but for a pronoun as subject, which is resolved where that is known.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from core.graph import Triple
from indexer.extractors.syntax.grades import grade_fact, grade_statement
from indexer.extractors.syntax.likely import read_likely
from indexer.extractors.syntax.phrases import Ends, Phrasing
from indexer.extractors.syntax.rules import Sentence, open_sentence, read_rules
from indexer.extractors.syntax.statements import Statement, read_statements
from indexer.extractors.syntax.words import Word, join


def read_sentence(words: Sequence[Word], ends: Ends, form: str = "names", least: float = 0.0) -> list[Triple]:
    """Returns the facts of a sentence in a form of `FORMS` that have the least probability, each once.

    Lists of figures have none. The sentences of a passage are read in order.
    """
    sentence = open_sentence(words, ends)
    if sentence is None:
        return []
    found = [triple for triple, grade in FORMS[form](sentence) if grade >= least]
    sentence.note_subjects()
    return list(dict.fromkeys(found))


def _read_names(sentence: Sentence) -> Iterator[tuple[Triple, float]]:
    yield from ((triple, grade_fact(rule, triple, sentence)) for rule, triple in read_rules(sentence))


def _read_likely(sentence: Sentence) -> Iterator[tuple[Triple, float]]:
    certain = read_rules(sentence)
    for rule, triple in (*certain, *read_likely(sentence, [triple for _, triple in certain])):
        yield triple, grade_fact(rule, triple, sentence)


def _read_clauses(sentence: Sentence) -> Iterator[tuple[Triple, float]]:
    for statement in read_statements(sentence.words):
        _, subject, *arguments = statement.texts
        if arguments:
            subject = _resolve(statement, sentence.ends) or subject
            relation = " ".join((*_imply(statement, sentence.ends.phrasing), join(statement.relation))).strip()
            triple = Triple(subject=subject, predicate=relation, object=" ".join(arguments))
            yield triple, grade_statement(statement, sentence.words)


def _imply(statement: Statement, phrasing: Phrasing) -> Iterator[str]:
    """Yields what the text leaves out, in its language."""
    words = {"be": phrasing.is_, "is": phrasing.is_, "in": phrasing.in_, "has": phrasing.has}
    yield from (words.get(word, word) for word in statement.implied.split())


def _resolve(statement: Statement, ends: Ends) -> str:
    is_pronoun = len(statement.subject) == 1 and statement.subject[0].kind == "PRON"
    return ends.find(statement.subject[0]) if is_pronoun else ""


FORMS: Mapping[str, Callable[[Sentence], Iterator[tuple[Triple, float]]]] = {
    "names": _read_names,
    "likely": _read_likely,
    "clauses": _read_clauses,
}
"""The forms by name, each of which yields facts with their probabilities."""
