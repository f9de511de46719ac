"""Finds scripts of a corpus that the embedding model cannot read. Vectors of such texts are noise."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from core.ports.embedding import TokenCounter

__all__ = ["MULTILINGUAL", "describe_unread", "find_unread_scripts", "group_words_by_script"]

MULTILINGUAL = "BAAI/bge-m3"
"""A model that knows the scripts of some hundred languages, for messages."""

_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_LETTERS = 200  # of a script; with fewer it is not examined
_LARGEST_UNKNOWN_SHARE = 0.1
_FEWEST_LETTERS_A_TOKEN = 1.3
"""A tokenizer that knows a script joins its letters; otherwise it cuts words into single letters."""
_SIGNS_ARE_WORDS = frozenset({"CJK", "HIRAGANA", "KATAKANA"})


def find_unread_scripts(texts: Iterable[str], tokens: TokenCounter) -> list[str]:
    """Returns the scripts of `texts` that the model does not know, judged by its tokenizer, sorted."""
    return sorted(script for script, words in group_words_by_script(texts).items() if _is_unread(script, words, tokens))


def describe_unread(scripts: Iterable[str], model: str) -> str:
    """Returns what it means that a model does not know scripts, without the remedy."""
    return (
        f"{model} does not know the script of these texts ({', '.join(scripts).lower()}): their vectors say nothing, "
        "so passages are found by words and names alone"
    )


def group_words_by_script(texts: Iterable[str]) -> Mapping[str, list[str]]:
    """Returns the words by the script of their first letter, as Unicode names it (LATIN, CYRILLIC, CJK …)."""
    words: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        for word in _WORD.findall(text):
            words[unicodedata.name(word[0], "UNNAMED").partition(" ")[0]].append(word)
    return words


def _is_unread(script: str, words: list[str], tokens: TokenCounter) -> bool:
    letters = sum(map(len, words))
    unknown = tokens.unknown(words)
    if letters < _FEWEST_LETTERS or unknown is None:
        return False
    counted = sum(tokens.count(words)) or 1
    if sum(unknown) / counted >= _LARGEST_UNKNOWN_SHARE:
        return True
    return script not in _SIGNS_ARE_WORDS and letters / counted <= _FEWEST_LETTERS_A_TOKEN
