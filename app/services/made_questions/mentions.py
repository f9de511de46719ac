"""Which documents have a name: `Mentions` is an index of the words of all passages and titles.

A question needs to know this of each name. The index is made once, so that a name costs the passages that share its
rarest word, and not the texts of the corpus.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from app.services.made_questions.material import Passage, keyed_hash
from core.execution.limits import check_work

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """A passage, or the title of a document with its first passage. `text` is in small letters."""

    passage: Passage
    text: str


class Mentions:
    """The words of documents, and where they stand. Documents are told by their keys, in the order of `passages`.

    Raises `LoadFailed` once the work of the thread is ended.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        of_document: dict[str, list[Passage]] = defaultdict(list)
        for passage in passages:
            of_document[passage.key].append(passage)
        self._parts: list[_Part] = []
        self._hashes: dict[str, bytes] = {}
        self._with_word: dict[str, list[_Part]] = defaultdict(list)
        for key, own in of_document.items():
            check_work()
            parts = [_Part(passage=passage, text=_fold(passage.text)) for passage in own]
            parts.append(_Part(passage=own[0], text=_fold(own[0].title)))  # behind the texts, which are quoted first
            for part in parts:
                for word in set(_WORD.findall(part.text)):
                    self._with_word[word].append(part)
            self._parts += parts
            self._hashes[key] = keyed_hash(0, *(part.text for part in parts))
        self._of_names: dict[str, Mapping[str, Passage]] = {}
        self._of_signs: dict[str, Set[str]] = {}

    def find_name(self, name: str) -> Mapping[str, Passage]:
        """Returns the documents that have a name as whole words, each with its first passage that has it; with its
        first passage if only the title has it.
        """
        folded = _fold(name)
        if folded not in self._of_names:
            check_work()
            pattern = re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)")
            sharing = (self._with_word.get(word, []) for word in _WORD.findall(folded))
            found: dict[str, Passage] = {}
            for part in min(sharing, key=len, default=self._parts):
                if part.passage.key not in found and folded in part.text and pattern.search(part.text):
                    found[part.passage.key] = part.passage
            self._of_names[folded] = found
        return self._of_names[folded]

    def find_signs(self, signs: str) -> Set[str]:
        """Returns the documents that have these signs, also within a word. It reads all texts, once for the same signs:
        for the few that relations have.
        """
        if signs not in self._of_signs:
            check_work()
            self._of_signs[signs] = {part.passage.key for part in self._parts if signs in part.text}
        return self._of_signs[signs]

    def count_texts(self, keys: Set[str]) -> int:
        """Returns how many different titles and texts documents have."""
        return len({self._hashes[key] for key in keys})


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
