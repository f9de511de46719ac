"""Chunks of every kind of text stand exactly where they say: the span of the loaded text is the text of the chunk."""

import csv
import io
import json
import random
import re

import pytest

from core import strategies
from core.ports.indexing import LoadedDocument
from core.strategies import StrategySpec
from indexer.selection.extractors import make_chunker
from testing.contracts.chunker import WordTokens
from testing.contracts.loader import source_of

_WORDS = [
    "Ада",
    "wrote",
    "北京",
    "a",
    "long",
    "letter;",
    "naïve",
    "&",
    "<b>Köln</b>",
    "𝄞",
    "é",
    "über",
    "42",
    "القاهرة",
    "\u200f",
    "wells.",
]
_MADE = 60
_CHECKED = 200


def sentence(random_: random.Random) -> str:
    words = " ".join(random_.choice(_WORDS) for _ in range(random_.randint(3, 15)))
    return words + random_.choice([".", "?", "。", ""])


def prose(random_: random.Random) -> str:
    return random_.choice([" ", "\n", "\r\n"]).join(sentence(random_) for _ in range(random_.randint(1, 6)))


def make_text(random_: random.Random) -> str:
    return "\r\n\r\n".join(f"CHAPTER {n + 1}\r\n\r\n{prose(random_)}" for n in range(_MADE))


def make_markdown(random_: random.Random) -> str:
    body = "\n\n".join(f"{'#' * random_.randint(1, 3)} H *{n}*\n\n{prose(random_)}" for n in range(_MADE))
    return f"---\ntitle: Köln\n---\n{body}"


def make_rst(random_: random.Random) -> str:
    return "\n\n".join(f"Part {n:02}\n-------\n\n{prose(random_)}" for n in range(_MADE))


def make_table(random_: random.Random) -> str:
    written = io.StringIO()
    csv.writer(written).writerows([("name", "text"), *((f"n{n}", prose(random_)) for n in range(_MADE))])
    return written.getvalue()


def make_page(random_: random.Random) -> str:
    parts = [f"<h{random_.randint(1, 4)}>T {n}</h2><p>{prose(random_)}<ul><li>{prose(random_)}" for n in range(_MADE)]
    return "<body>" + "".join(parts)


def make_mailbox(random_: random.Random) -> str:
    line = "From ada@example.org Mon Apr  1 10:00:00 2024\n"
    head = "Content-Type: text/plain; charset=utf-8\n"
    return "\n\n".join(f"{line}From: a@b.c\nSubject: S {n}\n{head}\n{prose(random_)}" for n in range(_MADE))


def make_notebook(random_: random.Random) -> str:
    cells = [
        {"cell_type": random_.choice(["markdown", "code"]), "source": f"# H {n}\n{prose(random_)}", "outputs": []}
        for n in range(_MADE)
    ]
    return json.dumps({"nbformat": 4, "cells": cells})


def make_source(random_: random.Random) -> str:
    return "\n\n".join(f"class C{n}:\n    def f(self):\n        return {prose(random_)!r}" for n in range(_MADE))


KINDS = {
    "txt": ("a.txt", make_text),
    "md": ("a.md", make_markdown),
    "rst": ("a.rst", make_rst),
    "source": ("a.py", make_source),
    "csv": ("a.csv", make_table),
    "html": ("a.html", make_page),
    "eml": ("a.mbox", make_mailbox),
    "ipynb": ("a.ipynb", make_notebook),
}
PLAIN = ["txt", "md", "rst", "source"]


def load(kind: str, content: bytes) -> LoadedDocument:
    loader = strategies.build("indexer.loaders", StrategySpec(name=kind), "loader", None)
    document: LoadedDocument = loader.load(source_of(content, key=KINDS[kind][0]))
    return document


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunker", ["sentences", "passage"])
def test_the_span_of_a_chunk_is_its_text(kind: str, chunker: str) -> None:
    random_ = random.Random(f"{kind} {chunker}")
    checked = 0
    while checked < _CHECKED:
        document = load(kind, KINDS[kind][1](random_).encode())
        [text] = document.pages
        chunks = make_chunker(chunker).chunk(document, WordTokens(24))
        assert chunks
        for chunk in chunks:
            assert chunk.start is not None
            assert text[chunk.start : chunk.start + len(chunk.text)] == chunk.text
            assert chunk.page is None
        checked += len(chunks)


@pytest.mark.parametrize("kind", PLAIN)
def test_the_text_of_a_plain_kind_is_the_file(kind: str) -> None:
    content = KINDS[kind][1](random.Random(kind))
    assert load(kind, content.encode("utf-16")).pages == (content,)


@pytest.mark.parametrize(("kind", "mark"), [("txt", "CHAPTER"), ("rst", "Part")])
def test_headings_of_chunks_are_those_above_them(kind: str, mark: str) -> None:
    content = KINDS[kind][1](random.Random(kind))
    found = {heading.start(): heading[0] for heading in re.finditer(rf"^{mark} \d+", content, re.MULTILINE)}
    assert len(found) == _MADE
    for block in load(kind, content.encode()).blocks:
        above = max(start for start in found if start < (block.start or 0) + 1)
        assert block.heading[-1:] == (found[above],) or above == 0
