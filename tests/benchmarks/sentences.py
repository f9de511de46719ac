"""Splitters of sentences against boundaries set by reading: `python -m tests.benchmarks.sentences`.

Ours is always measured; of pysbd, syntok, spaCy (its rules), sentencex and wtpsplit-lite those that are installed. Each
reads the paragraphs of the excerpts as they are, and without their line ends, and keeps the better of both: some take
each line end for the end of a sentence. Prints a table of F1 without the boundaries that an empty line gives away, then
JSON. `--only NAME` measures one.
"""

import argparse
import importlib
import importlib.util
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from core.text.sentences import split_sentences
from tests.real_sentences import GENRES, LANGUAGES, Counts, Excerpt, count_boundaries, read_excerpts

__all__ = ["SPLITTERS", "main", "measure"]

Range = tuple[int, int]
Split = Callable[[str], list[Range]]

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_SIZES = (25_000, 50_000)
_HOSTILE = {
    "full stops": lambda size: ". " * (size // 2),
    "an unclosed bracket": lambda size: "(" + "This is a sentence. " * (size // 20),
    "initials": lambda size: "A. " * (size // 3),
}
"""Texts whose sizes are doubled: a factor of two is linear."""
_LIMIT = 10.0
"""Seconds after which a size is not doubled again."""


def _make_pysbd(language: str) -> Split:
    segmenter = importlib.import_module("pysbd").Segmenter(language=language, clean=False, char_span=True)
    return lambda text: [(span.start, span.end) for span in segmenter.segment(text)]


def _make_spacy(language: str) -> Split:
    model = importlib.import_module("spacy").blank(language)
    model.add_pipe("sentencizer")
    return lambda text: [(sentence.start_char, sentence.end_char) for sentence in model(text).sents]


def _make_syntok(_language: str) -> Split:
    segmenter = importlib.import_module("syntok.segmenter")

    def split(text: str) -> list[Range]:
        sentences = [list(sentence) for paragraph in segmenter.analyze(text) for sentence in paragraph]
        return [(found[0].offset, found[-1].offset + len(found[-1].value)) for found in sentences]

    return split


def _make_sentencex(language: str) -> Split:
    segment = importlib.import_module("sentencex").segment
    return lambda text: _find(text, segment(language, text))


def _make_wtpsplit(_language: str) -> Split:
    """It reads its model from a model hub, so that it raises where there is none."""
    model = importlib.import_module("wtpsplit_lite").SaT("sat-3l-sm")
    return lambda text: _find(text, model.split(text))


SPLITTERS: dict[str, tuple[str, Callable[[str], Split]]] = {
    "ours": ("core", lambda _language: split_sentences),
    "pysbd": ("pysbd", _make_pysbd),
    "spaCy sentencizer": ("spacy", _make_spacy),
    "syntok": ("syntok", _make_syntok),
    "sentencex": ("sentencex", _make_sentencex),
    "wtpsplit-lite": ("wtpsplit_lite", _make_wtpsplit),
}
"""By name: the module that it needs, and what makes it for a language."""


def measure(name: str) -> dict[str, Any]:
    """Returns F1 by language, genre and half, characters a second, and how hostile texts of twice the size cost."""
    _, make = SPLITTERS[name]
    splits = {language: make(language) for language in LANGUAGES}
    excerpts = read_excerpts()
    ways = [_score(splits, excerpts, flat=flat) for flat in ((False,) if name == "ours" else (False, True))]
    began = time.process_time()
    for excerpt in excerpts:
        splits[excerpt.language](excerpt.text)
    seconds = time.process_time() - began
    return {
        **max(ways, key=lambda way: float(way["all"]["f1"])),
        "characters a second": round(sum(len(excerpt.text) for excerpt in excerpts) / seconds),
        "lost characters": sum(_count_lost(splits[e.language], e.text) for e in excerpts),
        "growth": {kind: _grow(splits["en"], make_text) for kind, make_text in _HOSTILE.items()},
    }


def _score(splits: dict[str, Split], excerpts: Iterable[Excerpt], *, flat: bool) -> dict[str, Any]:
    counts: defaultdict[str, Counts] = defaultdict(Counts)
    for excerpt in excerpts:
        ranges = list(_split_paragraphs(splits[excerpt.language], excerpt.text, flat=flat))
        found = count_boundaries(excerpt, ranges, inside=True)
        half = "held-out" if excerpt.held_out else "development"
        for key in (
            "all",
            half,
            excerpt.language,
            excerpt.genre,
            f"{half} {excerpt.language}",
            f"{half} {excerpt.genre}",
        ):
            counts[key] += found
    return {
        key: {"f1": round(count.f1, 3), "precision": round(count.precision, 3), "recall": round(count.recall, 3)}
        | {"boundaries": count.there}
        for key, count in sorted(counts.items())
    }


def _split_paragraphs(split: Split, text: str, *, flat: bool) -> Iterable[Range]:
    start = 0
    for blank in [*_BLANK_LINE.finditer(text), None]:
        end = blank.start() if blank else len(text)
        paragraph = text[start:end].replace("\n", " ") if flat else text[start:end]
        yield from ((start + first, start + last) for first, last in split(paragraph))
        start = blank.end() if blank else end


def _find(text: str, pieces: Iterable[str]) -> list[Range]:
    """Returns where pieces stand that a library gives as strings. A piece that is not there is left out."""
    ranges: list[Range] = []
    at = 0
    for piece in map(str.strip, pieces):
        place = text.find(piece, at) if piece else -1
        if place >= 0:
            at = place + len(piece)
            ranges.append((place, at))
    return ranges


def _count_lost(split: Split, text: str) -> int:
    kept = "".join(text[start:end] for start, end in split(text))
    return abs(len("".join(text.split())) - len("".join(kept.split())))


def _grow(split: Split, make_text: Callable[[int], str]) -> list[float]:
    """Returns the seconds of the processor at each size, until one takes too long."""
    seconds: list[float] = []
    for size in _SIZES:
        began = time.process_time()
        split(make_text(size))
        seconds.append(round(time.process_time() - began, 3))
        if seconds[-1] > _LIMIT:
            break
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(SPLITTERS))
    only = parser.parse_args().only
    names = [only] if only else [name for name, (module, _) in SPLITTERS.items() if importlib.util.find_spec(module)]
    report = {name: measure(name) for name in names}
    columns = ["all", "development", "held-out", *LANGUAGES, *GENRES]
    print("| splitter |", " | ".join(columns), "| characters a second |")
    print("|---|" + "---:|" * (len(columns) + 1))
    for name, values in report.items():
        cells = " | ".join(f"{100 * values[column]['f1']:.1f}" for column in columns)
        print(f"| {name} | {cells} | {values['characters a second']:,} |")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
