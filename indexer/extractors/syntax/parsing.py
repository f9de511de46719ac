"""The sentences of a passage that are parsed, and their parses as words in the form that the rules read."""

from collections.abc import Iterator
from typing import Any

from core.text.sentences.splitter import split_sentences
from indexer.extractors.syntax.universal import to_rules_form
from indexer.extractors.syntax.words import Word, is_form_of_be

_LONGEST = 1_000
"""Characters of a sentence that are parsed: the parser's time may grow with the square of its length."""
_SHORTEST = 12
_KINDS = {
    "ADJ": "JJ JJR JJS AFX",
    "ADV": "RB RBR RBS",
    "ADP": "RP",
    "CCONJ": "CC",
    "INTJ": "UH",
    "NOUN": "NN NNS",
    "NUM": "CD",
    "PART": "POS TO",
    "PRON": "PRP PRP$ WP WDT EX",
    "PROPN": "NNP NNPS",
    "PUNCT": "-LRB- -RRB- , . : HYPH '' `` NFP",
    "SCONJ": "WRB",
    "SYM": "$ # SYM",
}
_KIND_OF_TAG = {tag: kind for kind, tags in _KINDS.items() for tag in tags.split()}
"""Parts of speech by the tags of English pipelines. Those that need the word's role are in `_find_kind`."""
_OF_LAYOUT = frozenset("|☐☑☒□■_")
"""Marks of tables and forms, whose sentences mean nothing without the ticks."""
_LEAST_LETTERS = 0.55
"""The least share of letters and spaces; a text of fewer is figures or code."""


def find_prose(text: str) -> list[tuple[int, str]]:
    """Returns the sentences of a passage that may state something, with the places where they begin."""
    sentences = [(start, text[start : min(end, start + _LONGEST)]) for start, end in split_sentences(text)]
    return [(start, sentence) for start, sentence in sentences if _is_prose(sentence)]


def _is_prose(sentence: str) -> bool:
    if len(sentence) < _SHORTEST or sentence.rstrip().endswith("?") or _OF_LAYOUT & set(sentence):
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
                kind=token.pos_ if universal else _find_kind(token.tag_, token.dep_, token.lower_),
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


def _find_kind(tag: str, role: str, lower: str) -> str:
    """Returns the part of speech. The pipeline's own rules for it take a third of the time of a parse."""
    if tag.startswith("VB") or tag == "MD":
        return "AUX" if role in ("aux", "auxpass") or is_form_of_be(lower) else "VERB"
    if tag in ("DT", "PDT", "WP$"):
        return "DET" if role in ("det", "predet", "poss") else "PRON"
    if tag == "IN":
        return "SCONJ" if role == "mark" else "ADP"
    return _KIND_OF_TAG.get(tag, "X")
