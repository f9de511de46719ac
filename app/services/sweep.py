"""Sweeps: a proof that a text is nowhere in a corpus any more, by looking into every store and file for runs of its
words.

`take_text` is called before a deletion, `sweep` after it; the result is a certificate. A run of words that a document
which is still there has, too, proves nothing: such runs are counted, and not looked for.
"""

import asyncio
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.container import Container
from core.corpora import Corpus
from core.documents import Document
from core.errors import InvalidInput, LoadFailed, NotFound
from core.ports.record import Certificate
from core.ports.views import VectorKind
from core.record_policy.certificates import HashKey
from indexer import append_certificate
from indexer.submission.decoding import decode_text
from stores.sqlite import pack_text

_RUN = 8
_LEAST = 3
_WORD = re.compile(r"\w+")
_ORIGINAL = re.compile("[0-9a-f]{64}")
_WIDE = re.compile(rb"(?:[ -~\n\xa0-\xff]\0){8}|(?:\0[ -~\n\xa0-\xff]){8}")
"""Latin letters in UTF-16."""
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\[nrtfb]")
"""Of JSON, whose other escapes are no letters."""
_BLOCK = 1 << 20
_OVERLAP = 1 << 12
_LEVEL = 6
"""How hard SQLite's originals are compressed."""
_NEEDLE = 24
_HEADER = 2
"""The bytes with which every compressed text begins."""
_PLACES = 20


@dataclass(frozen=True, kw_only=True)
class Sought:
    """Documents, and the words of their passages. `needles` are the beginnings of passages and originals as SQLite
    compresses them, each with the runs of its text.

    `runs` are hashes of runs of `length` words; texts that are shorter have no run.
    """

    keys: Sequence[str]
    runs: frozenset[bytes]
    needles: Mapping[bytes, frozenset[bytes]]
    length: int


@dataclass
class _Findings:
    """What was looked through, and what was found, by kind. `places` are files of the data folder."""

    texts: int = 0
    files: int = 0
    bytes: int = 0
    shared: int = 0
    found: dict[str, int] = field(default_factory=dict)
    places: list[str] = field(default_factory=list)


async def take_text(container: Container, corpus: Corpus, documents: Sequence[Document]) -> Sought:
    """Reads the passages of documents that are about to be deleted.

    Raises `InvalidInput` if a document has fewer than three words: these are everywhere.
    """
    texts: dict[str, list[str]] = {document.id: [] for document in documents}
    for document in documents:
        chunks = await container.record.contents.get_chunks_of(corpus.id, document.id)
        texts[document.id] = [chunk.text for chunk in chunks]
    lengths = {id: len(_WORD.findall(" ".join(parts))) for id, parts in texts.items()}
    short = [document.key for document in documents if lengths[document.id] < _LEAST]
    if short:
        raise InvalidInput(f"document {short[0]!r} has fewer than {_LEAST} words: a sweep cannot look for it")
    length = min(_RUN, *lengths.values())
    needles: dict[bytes, frozenset[bytes]] = {}
    runs: set[bytes] = set()
    for document in documents:
        of_document: frozenset[bytes] = frozenset()
        for text in texts[document.id]:
            of_passage = frozenset(runs_of(text, length))
            of_document |= of_passage
            _add_needle(needles, pack_text(text), of_passage)
        with suppress(NotFound):
            content = await container.files.get(corpus.id, document.content_hash)
            _add_needle(needles, zlib.compress(content, _LEVEL), of_document)
        runs |= of_document
    return Sought(keys=[document.key for document in documents], runs=frozenset(runs), needles=needles, length=length)


def _add_needle(needles: dict[bytes, frozenset[bytes]], packed: str | bytes, runs: frozenset[bytes]) -> None:
    if isinstance(packed, bytes):
        needle = packed[_HEADER : _HEADER + _NEEDLE]
        needles[needle] = needles.get(needle, frozenset()) | runs


async def sweep(container: Container, corpus: Corpus, sought: Sought) -> Certificate:
    """Looks for the text in the record, the stored answers, the originals and the views of a corpus, and in every file
    of the data folder if the record is there. Returns the certificate of what was found.
    """
    findings = _Findings()
    left, view_ids = await _read_rows(container, corpus, sought, findings)
    await _read_questions(container, corpus, sought, left, findings)
    await _read_originals(container, corpus, sought, left, findings)
    orphans = set(await container.text.ids(corpus.id)) - view_ids
    orphans |= set(await container.vectors.ids(corpus.id, VectorKind.CHUNK)) - view_ids
    findings.found["orphans"] = len(orphans)
    folder = container.composition.locked_folder
    if folder is not None:
        await container.record.maintenance.prune()  # empties the log of the file, which has deleted rows
        await asyncio.to_thread(_scan_folder, folder, sought, left, findings)

    def describe(hashes: HashKey) -> Mapping[str, Any]:
        return {
            "kind": "sweep",
            "documents": [_describe(key, hashes) for key in sought.keys],
            "removed": {"passages": 0},
            "checked": {
                "runs": len(sought.runs),
                "words_of_run": sought.length,
                "shared_runs": findings.shared,
                "texts": findings.texts,
                "files": findings.files,
                "bytes": findings.bytes,
            },
            "found": findings.found,
            "places": [_hide_names(place, hashes) for place in findings.places[:_PLACES]],
        }

    return await append_certificate(container.indexing, corpus.id, corpus.name, describe)


def _describe(key: str, hashes: HashKey) -> Mapping[str, Any]:
    return {"document": hashes.hash_document(key), "contents": [], "by": "operator"}


def _hide_names(place: str, hashes: HashKey) -> str:
    """Returns a path in which the names of originals, which are hashes of their contents, are HMACs."""
    parts: list[str] = []
    for part in Path(place).parts:
        if found := _ORIGINAL.match(part):
            if parts and parts[-1] == part[: len(parts[-1])]:
                parts.pop()  # the folder of the names that begin so
            parts.append(hashes.hash_content(found[0]) + part[found.end() :])
        else:
            parts.append(part)
    return "/".join(parts)


def runs_of(text: str, length: int) -> Iterator[bytes]:
    """Yields a hash of each run of so many words."""
    words = [word.casefold() for word in _WORD.findall(text)]
    for start in range(len(words) - length + 1):
        run = " ".join(words[start : start + length])
        yield hashlib.blake2b(run.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _find(text: str, length: int, runs: frozenset[bytes]) -> frozenset[bytes]:
    return runs.intersection(runs_of(text, length))


def _strings(value: object) -> Iterable[str]:
    """Yields all texts in JSON, also keys of objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _strings(key)
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


async def _read_rows(
    container: Container, corpus: Corpus, sought: Sought, findings: _Findings
) -> tuple[frozenset[bytes], set[str]]:
    """Returns the runs that no document of the corpus has, and the ids of the views' entries."""
    shared: set[bytes] = set()
    view_ids: set[str] = set()
    async for row in container.record.exporter.rows(corpus.id, canonical=False):
        if row["kind"] == "chunk":
            view_ids.add(str(row["view_id"]))
        for text in _strings(row):
            findings.texts += 1
            shared |= _find(text, sought.length, sought.runs)
    findings.shared = len(shared)
    return sought.runs - shared, view_ids


async def _read_questions(
    container: Container, corpus: Corpus, sought: Sought, left: frozenset[bytes], findings: _Findings
) -> None:
    found: set[bytes] = set()
    for question, _ in await container.record.questions.export(corpus.id):
        parts = (question.text, question.request, question.answer, question.problem, question.verification)
        for text in _strings(parts):
            findings.texts += 1
            found |= _find(text, sought.length, left)
    findings.found["questions"] = len(found)


async def _read_originals(
    container: Container, corpus: Corpus, sought: Sought, left: frozenset[bytes], findings: _Findings
) -> None:
    """Reads what is text in the originals; others, such as PDF, are compressed."""
    found: set[bytes] = set()
    for name in await container.files.names(corpus.id):
        content = await container.files.get(corpus.id, name)
        findings.texts += 1
        for text in _read_as_text(content, name):
            found |= _find(text, sought.length, left)
    findings.found["originals"] = len(found)


def _read_as_text(content: bytes, name: str) -> Iterator[str]:
    """Yields the text as loaders decode it, and with the escapes of JSON read."""
    try:
        text = decode_text(content, name).text
    except LoadFailed:  # a binary format, which may have text between other bytes
        text = content.decode("utf-8", "ignore")
    yield text
    if "\\" in text:
        yield _unescape(text)


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)


def _read_bytes(data: bytes) -> Iterator[str]:
    """Yields what a part of a file may be: UTF-8, JSON with escapes, and UTF-16 of Latin letters in each byte order."""
    text = data.decode("utf-8", "ignore")
    yield text
    if b"\\" in data:
        yield _unescape(text)
    if _WIDE.search(data):
        yield data.decode("utf-16-le", "ignore")
        yield data[1:].decode("utf-16-le", "ignore")


def _scan_folder(folder: Path, sought: Sought, left: frozenset[bytes], findings: _Findings) -> None:
    sure = [needle for needle, runs in sought.needles.items() if runs & left]
    needles = re.compile(b"|".join(map(re.escape, sure))) if sure else None
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and _scan_file(path, sought, left, needles, findings):
            findings.places.append(str(path.relative_to(folder)))
    findings.found["files"] = len(findings.places)


def _scan_file(
    path: Path, sought: Sought, left: frozenset[bytes], needles: "re.Pattern[bytes] | None", findings: _Findings
) -> bool:
    """Returns whether a file has a run, or a beginning of a compressed passage. A file that is gone has none."""
    findings.files += 1
    rest, has_found = b"", False
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                findings.bytes += len(block)
                data = rest + block
                has_found |= any(_find(text, sought.length, left) for text in _read_bytes(data))
                has_found |= needles is not None and needles.search(data) is not None
                rest = data[-_OVERLAP:]
    except FileNotFoundError:
        return False
    return has_found
