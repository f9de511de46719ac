"""What the text and the file's name of a loaded document state on its validity, for the field `valid_statements`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from itertools import islice
from typing import Any

from core.documents import LOADER_NOTES, Metadata, Span, loader_notes
from core.ports.indexing import Block, LoadedDocument
from core.text.sentences import split_sentences
from core.validity.agreements import find_parties, join_amended_title, split_name
from core.validity.sentences import is_of_own_days, may_state, read_opening, read_sentence, read_title
from core.validity.statements import (
    AMENDS,
    STATEMENTS,
    VALID_FROM,
    VALID_TO,
    Statement,
    StatementSource,
    describe_bad_days,
    make_parties,
    make_version,
)

_READ = 50_000
"""Characters at the beginning and at the end of a document that are read: commencement and repeals stand there."""
_MOST = 12
_BLOCKS_OF_PARTIES = 5
"""Blocks at the beginning of an agreement that may name its parties."""
_CONTINUES = re.compile(r"[(,;a-zäöü]")
"""With what the rest of a sentence begins that was split behind an abbreviation, such as `Ltd. (“Supplier”)`."""
_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?!\s*\n))*")
_BEGINNING = 600
"""Characters at the beginning of a document in which an amendment says that it is an amendment."""
_AMENDMENT = re.compile(r"amend|addendum|nachtrag|änderung|avenant", re.IGNORECASE)
_OF_AMENDMENT = re.compile(
    r"\W{0,4}(?:\d[\d.]{0,6}\s)?(?:this|dieser|diese)\s(?:[\w-]{1,20}\s){0,3}?"
    r"(?:amendment|addendum|nachtrag|änderungs\w{1,20})\b",
    re.IGNORECASE,
)
_VERSION_LINE = re.compile(
    r"[*_|>\s]{0,4}(?:document )?(?:version|fassung|edition|release|revision)[*_]{0,2}:?[*_]{0,2} ?(?:no\. ?|nr\. ?|v)?"
    r"(\d{1,3}(?:\.\d{1,3}){0,2})[*_|.\s]{0,4}",
    re.IGNORECASE,
)
_LONGEST_LINE = 60
_NAMED_DAY = re.compile(r"(?<!\d)(\d{4})[-_](\d\d)[-_](\d\d)(?!\d)")


def add_statements(document: LoadedDocument, sent: Metadata) -> LoadedDocument:
    """Returns the document with what it states in its metadata, and with a note on each field that should be a day and
    is none, of its own or of the metadata that was sent with it; the same document if there is nothing to add.
    """
    if wrong := describe_bad_days({**document.metadata, **sent}):
        notes = [*loader_notes(document.metadata), *wrong]
        document = replace(document, metadata={**document.metadata, LOADER_NOTES: notes})
    parties = find_parties("\n".join(block.text for block in document.blocks[:_BLOCKS_OF_PARTIES]))
    found = [*_read_first_line(document), *_leave_out_amendments(document, _read_texts(document.blocks))]
    if parties and not any(statement.states in (VALID_FROM, AMENDS) for statement in found):
        found += _read_opening(document)
    if not any(statement.states == VALID_FROM and not statement.part for statement in found):
        found += _read_file_name(document.key)
    if not found:
        return document
    told = {(statement.states, statement.value, statement.part): statement for statement in reversed(found)}
    unique = list(told.values())[::-1]
    statements: list[dict[str, Any]] = [statement.to_json() for statement in unique[:_MOST]]
    if parties:
        statements.append(make_parties(parties))
    if version := _read_version(document):
        statements.append(make_version(version))
    return replace(document, metadata={**document.metadata, STATEMENTS: statements})


def _read_texts(blocks: Sequence[Block]) -> Iterator[Statement]:
    length, at = sum(len(block.text) for block in blocks), 0
    for block in blocks:
        is_read = at < _READ or at + len(block.text) > length - _READ
        at += len(block.text)
        if is_read and may_state(block.text[: 2 * _READ]):
            yield from _read_block(block)


def _leave_out_amendments(document: LoadedDocument, found: Iterable[Statement]) -> list[Statement]:
    """Returns the statements without the days of an amendment that stands behind its agreement in one document."""
    begins = "\n".join(block.text[:_BEGINNING] for block in document.blocks[:1])
    if _AMENDMENT.search(f"{document.title}\n{document.key}\n{begins}"):
        return list(found)
    return [
        statement
        for statement in found
        if statement.states not in (VALID_FROM, VALID_TO) or not _OF_AMENDMENT.match(statement.text)
    ]


def _read_first_line(document: LoadedDocument) -> Iterator[Statement]:
    """Yields what the title of an amendment states, which its text begins with, or which its first heading or its title
    and the paragraph below make.
    """
    block = next((block for block in document.blocks if block.text.strip()), None)
    if block is None:
        return
    at = len(block.text) - len(block.text.lstrip())
    line = block.text[at:].partition("\n")[0].rstrip()
    for statement in read_title(line):
        yield _place_line(statement, block, at, line)
    paragraphs = list(_list_paragraphs(document.blocks))
    title, place = join_amended_title([paragraph for _, _, paragraph in paragraphs])
    if not title:
        paragraphs.insert(0, (block, at, block.heading[0] if block.heading else document.title))
        title, place = join_amended_title([paragraph for _, _, paragraph in paragraphs])
    if title:
        block, at, paragraph = paragraphs[place]
        for statement in read_title(title):
            yield _place_line(statement, block, at, paragraph.partition("\n")[0].rstrip())


def _read_version(document: LoadedDocument) -> str:
    """Returns the only version that lines at the beginning tell, such as `Version 2.0`; '' for none or several."""
    lines = (line for _, _, paragraph in _list_paragraphs(document.blocks) for line in paragraph.split("\n"))
    found = [match[1] for line in lines if (match := _VERSION_LINE.fullmatch(line[:_LONGEST_LINE].strip()))]
    return found[0] if len(set(found)) == 1 else ""


def _read_opening(document: LoadedDocument) -> Iterator[Statement]:
    """Yields the day of an agreement that a paragraph below its title tells."""
    for block, at, paragraph in islice(_list_paragraphs(document.blocks), _BLOCKS_OF_PARTIES):
        for statement in read_opening(paragraph):
            yield _place_line(statement, block, at, paragraph)


def _list_paragraphs(blocks: Sequence[Block]) -> Iterator[tuple[Block, int, str]]:
    """Yields the first paragraphs of a document, each with its block and its place there."""
    for block in blocks[:_BLOCKS_OF_PARTIES]:
        for found in islice(_PARAGRAPH.finditer(block.text), _BLOCKS_OF_PARTIES):
            first, below = split_name(found[0])
            yield block, found.start(), first
            if below:
                yield block, found.end() - len(below.lstrip()), below.lstrip()


def _place_line(statement: Statement, block: Block, at: int, line: str) -> Statement:
    span = None if block.start is None else Span(start=block.start + at, end=block.start + at + len(line))
    return replace(statement, text=line, span=span, page=block.page)


def _read_block(block: Block) -> Iterator[Statement]:
    text = block.text if len(block.text) <= 2 * _READ else block.text[:_READ]
    is_of_own = False
    for start, end in _join_sentences(text):
        found = read_sentence(text[start:end], is_of_own=is_of_own)
        is_of_own = is_of_own_days(text[start:end], found, is_of_own=is_of_own)
        for statement in found:
            said = statement.text or text[start:end]
            begin = None if block.start is None else block.start + text.index(said, start)
            span = None if begin is None else Span(start=begin, end=begin + len(said))
            yield replace(statement, text=said, span=span, page=block.page)


def _join_sentences(text: str) -> Iterator[tuple[int, int]]:
    start = end = 0
    for begin, stop in split_sentences(text):
        if begin > start and not (_CONTINUES.match(text, begin) and "\n" not in text[end - 1 : end]):
            yield start, begin
            start = begin
        end = stop
    if end > start:
        yield start, end


def _read_file_name(key: str) -> Iterator[Statement]:
    name = key.replace("\\", "/").rpartition("/")[2]
    found = _NAMED_DAY.search(name)
    if found is None:
        return
    with suppress(ValueError):
        day = date(*map(int, found.groups()))
        yield Statement(states=VALID_FROM, value=day.isoformat(), source=StatementSource.FILE_NAME, text=name)
