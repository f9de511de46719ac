"""The sentences of a passage that are parsed, and their parses as words in the form that the rules read."""

from collections.abc import Iterator
from typing import Any

from core.text.sentences.splitter import split_sentences
from indexer.extractors.syntax.universal import to_rules_form
from indexer.extractors.syntax.words import Word

__all__ = ["find_prose", "read_parse"]

_LONGEST = 1_000
"""Characters of a sentence that are parsed: the parser's time may grow with the square of its length."""
_SHORTEST = 12
_LEAST_LETTERS = 0.55
"""The least share of letters and spaces; a text of fewer is figures or code."""


def find_prose(text: str) -> list[tuple[int, str]]:
    """Returns the sentences of a passage that may state something, with the places where they begin."""
    sentences = [(start, text[start : min(end, start + _LONGEST)]) for start, end in split_sentences(text)]
    return [(start, sentence) for start, sentence in sentences if _is_prose(sentence)]


def _is_prose(sentence: str) -> bool:
    if len(sentence) < _SHORTEST or sentence.rstrip().endswith("?"):
        return False
    return sum(letter.isalpha() or letter == " " for letter in sentence) >= _LEAST_LETTERS * len(sentence)


def read_parse(parsed: Any, offset: int, *, universal: bool = False) -> Iterator[list[Word]]:
    """Yields the words of each sentence of a parsed spaCy document, which begins at `offset` in its passage.

    `universal`: its labels are of Universal Dependencies.
    """
    for sentence in parsed.sents:
        tokens = [token for token in sentence if not token.is_space]
        words = {
            token.i: Word(
                place=place,
                text=token.text,
                space=token.whitespace_,
                kind=token.pos_,
                tag=token.tag_,
                role=token.dep_,
                start=offset + token.idx,
                end=offset + token.idx + len(token.text),
            )
            for place, token in enumerate(tokens)
        }
        for token in tokens:
            head = words.get(token.head.i)
            if head is not None and token.head.i != token.i:
                words[token.i].head = head
                head.children.append(words[token.i])
        if universal:
            to_rules_form(list(words.values()))
        yield list(words.values())
