"""Misspelled words of a question, such as `depsoit`: read as a word of the corpus that is one slip of the pen away.

No passage has such a word, and no list of words, so neither words nor evidence find what it asks for. A language model
reads over it; quotes cannot.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace

from core.ports.reasoning import Question, Unsupported
from core.ports.retrieval import Query
from core.text.no_names.forms import is_common
from core.text.terms import WORD, split_words
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends

_SHORTEST = 5
"""Letters of a word that is respelled: nearly every shorter word is a slip away from another."""
_LONGEST = 30
_READ = 600
"""Characters of a question whose words are read: longer texts are pasted."""
_MOST = 3
"""Words of a question that no passage has: a question with more is in another language, or about something else."""
_LETTERS = "abcdefghijklmnopqrstuvwxyzäöüßéèàç"
_VOWELS = "aeiouy"
_SEARCHED = 10
_ENDINGS = frozenset(
    {"", "e", "n", "r", "s", "t", "d", "en", "er", "es", "em", "et", "ed", "te", "st", "nt", "ez", "ten", "ter", "test"}
)
"""Endings of forms of one word in English, German and French: `verser` is no slip of `verse`."""


async def respell(backends: ReasoningBackends, question: Question, trace: Trace) -> tuple[Question, str]:
    """Returns the question with its misspelled words as the corpus spells them, and a sentence that says so.

    Returns the question as it is, and "", if each word stands in the corpus, is a common word (`contact`, where the
    corpus has `contract` alone), or is near to no word of the corpus; and for a request that wants only sure answers.
    A word with a capital is a name, and names are not guessed. A word of the corpus counts only if a hit of a search
    with it has it: nothing is told of documents that the question may not be answered from.
    """
    text = question.text
    if question.unsupported is Unsupported.ABSTAIN:
        return question, ""
    near = await _find_near(backends, question)
    if not near:
        return question, ""
    respelled = _replace(text, near)
    query = Query(
        corpus=question.corpus,
        text=respelled,
        k=_SEARCHED,
        documents=question.documents,
        parts=question.parts,
        masked=question.masked,
        private=True,  # it has words of passages
    )
    hits = (await backends.searcher.search(query, trace)).hits
    stems = {word.stem for hit in hits for word in split_words(f"{hit.document.title}\n{hit.chunk.text}")}
    near = {word: other for word, other in near.items() if _stem(other) in stems}
    if not near:
        return question, ""
    note = " ".join(
        f"It is unsure whether “{word}” means “{other}”: no passage has the word as it is written."
        for word, other in near.items()
    )
    trace.note(note)
    return replace(question, text=_replace(text, near)), note


async def _find_near(backends: ReasoningBackends, question: Question) -> dict[str, str]:
    """Returns, for each word of the question that no passage has, the most frequent word of the corpus near to it."""
    text = question.text[:_READ]
    words = {
        found[0]
        for found in WORD.finditer(text)
        if _SHORTEST <= len(found[0]) <= _LONGEST and found[0].isalpha() and found[0].islower()
    }
    stems = {word: _stem(word) for word in words}
    counts = await backends.count_passages(question.corpus, set(stems.values()))
    unknown = sorted(word for word in words if counts.passages and not counts.having.get(stems[word]))
    near: dict[str, str] = {}
    for word in itertools.filterfalse(is_common, unknown if len(unknown) <= _MOST else ()):
        forms: dict[str, str] = {}
        for form in _list_slips(word):
            if not _are_forms(word, form):
                forms.setdefault(_stem(form), form)  # a letter without an accent comes first
        counts = await backends.count_passages(question.corpus, forms)
        best = max(forms, key=lambda stem: counts.having.get(stem, 0))
        if counts.having.get(best):
            near[word] = forms[best]
    return near


def _list_slips(word: str) -> Iterator[str]:
    """Yields what somebody may have meant: two letters are in the wrong order, a letter is lacking or is too many, or a
    vowel stands for another. The first letter is hardly ever wrong.
    """
    for at in range(1, len(word)):
        before, after = word[:at], word[at:]
        yield before + after[1:]
        yield from (before + letter + after for letter in _LETTERS)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        if after[0] in _VOWELS:
            yield from (before + vowel + after[1:] for vowel in _VOWELS if vowel != after[0])
    yield from (word + letter for letter in _LETTERS)


def _are_forms(word: str, other: str) -> bool:
    """Returns whether two words differ in an ending alone."""
    shared = next(
        (at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other))
    )
    return word[shared:] in _ENDINGS and other[shared:] in _ENDINGS


def _stem(word: str) -> str:
    return next((found.stem for found in split_words(word)), "")


def _replace(text: str, words: dict[str, str]) -> str:
    return WORD.sub(lambda found: words.get(found[0], found[0]), text)
