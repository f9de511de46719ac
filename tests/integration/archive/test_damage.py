"""A file that is not what was written is refused before anything is, with the place of what is wrong."""

import asyncio
import base64
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.errors import InvalidInput, LoadFailed, NotFound
from tests.integration.archive.house import House, change_bytes, change_lines, flipped, line_of, sealed


async def _refused(there: House, path: Path, reason: str) -> None:
    with pytest.raises(LoadFailed, match=reason):
        await there.take_in(path)
    with pytest.raises(LoadFailed, match=reason):
        await there.restore(path)
    assert await there.names() == []


def _changed(path: Path, kind: str, **values: Any) -> None:
    """Change the first row of a kind, and make the counts and the digest fit, as somebody would who means it so."""

    def change(lines: list[bytes]) -> list[bytes]:
        at = next(n for n, line in enumerate(lines) if json.loads(line)["kind"] == kind)
        lines[at] = line_of({**json.loads(lines[at]), **values})
        return sealed(lines)

    change_lines(path, change)


async def test_a_cut_between_lines_names_what_is_missing(there: House, file: Path) -> None:
    for kind in ("original", "mention", "document"):

        def cut(lines: list[bytes], kind: str = kind) -> list[bytes]:
            kinds = [json.loads(line)["kind"] for line in lines]
            return lines[: kinds.index(kind) + 1]

        change_lines(file, cut)
        missing = f"of corpus 'people' the rest is missing, from {kind} rows"
        await _refused(there, file, f"was cut after line .* {missing}.* end row")


async def test_a_cut_within_a_line(there: House, file: Path) -> None:
    change_bytes(file, lambda content: content[: len(content) // 2])
    await _refused(there, file, "line .*not valid JSON.*the file ends here, so it seems to have been cut")


async def test_every_flipped_byte_is_noticed(there: House, file: Path) -> None:
    """Some of them by what the row says, the others by the digest of all."""
    size = (await asyncio.to_thread(file.stat)).st_size
    for at in range(11, size, size // 60):
        change_bytes(file, partial(flipped, at=at))
        with pytest.raises((LoadFailed, InvalidInput)):
            await there.take_in(file)
        change_bytes(file, partial(flipped, at=at))
    assert await there.names() == []


_WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("document", {"key": "somebody else"}, "fingerprint|belong to its content"),
    ("document", {"id": "0" * 32}, "belong to its content"),
    ("document", {"given_metadata": {"year": 1}, "metadata": {"year": 1}}, "fingerprint"),
    ("document", {"given_metadata": {"year": 1}, "metadata": {"year": 2}}, "not those of its submission"),
    ("document", {"key": "../../etc/passwd"}, "steps out"),
    ("document", {"chunks": 7}, "has 7 passages"),
    ("document", {"size": -1}, "`size`"),
    ("document", {"metadata": {"n": float("inf")}}, "JSON"),
    ("document", {"media_type": "text/html\r\nX-Evil: 1"}, "not a media type"),
    ("document", {"media_type": ""}, "not a media type"),
    ("chunk", {"span": [9, 3]}, "`span` is wrong: .*it ends at 3, before its start at 9"),
    ("chunk", {"page": 2_000_000_000}, "`page`"),
    ("chunk", {"text": "Something else."}, "this passage has an id that does not belong"),
    ("chunk", {"heading": "Elsewhere"}, "this passage has an id that does not belong"),
    ("chunk", {"view_id": "0" * 32}, "this passage has an id that does not belong"),
    ("chunk", {"document_id": "0" * 32}, "passages"),
    ("chunk", {"position": 900}, "does not fit its document"),
    ("chunk", {"tokens": "many"}, "`tokens`"),
    ("chunk", {"text": None}, "`text`"),
    ("entity", {"name": "somebody else"}, "belong to its content"),
    ("mention", {"entity_id": "0" * 32}, "entity is not in the file"),
    ("mention", {"chunk_id": "0" * 32}, "belong to nothing|does not mention"),
    ("mention", {"count": 0}, "`count`"),
    ("mention", {"form": ""}, "`form`"),
    ("fact", {"predicate": "hates"}, "belong to its content"),
    ("fact", {"chunk_id": "0" * 32}, "belong to its content"),
    ("synonym", {"first_id": "f" * 32}, "not in order"),
    ("synonym", {"score": 7.0}, "`score`"),
    ("extraction", {"payload": {"entities": [["a"]], "triples": [], "malformed": 0}}, "`payload.entities.0"),
    ("vector", {"data": "?"}, "base64"),
    ("vector", {"data": base64.b64encode(b"\0" * 12).decode()}, "12 bytes; one of 64 dimensions has 256"),
    ("vector", {"data": base64.b64encode(b"\xff" * 256).decode()}, "not a finite number"),
    ("vector", {"data": base64.b64encode(b"\0" * 256).decode()}, "line .*this vector has length 0;"),
    ("vector", {"data": base64.b64encode(b"\0\0\x80\x3f" * 64).decode()}, "this vector has length 8;"),
    ("vector", {"of": "thing"}, "`of`"),
    ("original", {"data": base64.b64encode(b"forged").decode()}, "name that does not belong"),
    ("original", {"content_hash": "../../../../etc/passwd"}, "`content_hash`"),
    ("original", {"part": 1, "parts": 2}, "part 0 of the original"),
    ("original", {"parts": 2}, "should be here|not complete"),
    ("corpus", {"format": 2}, "format 2"),
    ("corpus", {"name": "No Name"}, "corpus name"),
    ("corpus", {"settings": {}}, "`settings.chunker`"),
]


async def test_a_row_that_somebody_made_up_is_refused(there: House, file: Path) -> None:
    whole = await asyncio.to_thread(file.read_bytes)
    for kind, values, reason in _WRONG:
        await asyncio.to_thread(file.write_bytes, whole)
        _changed(file, kind, **values)
        await _refused(there, file, reason)


_LINES: list[tuple[Callable[[list[bytes]], list[bytes]], str]] = [
    (lambda lines: [*lines[:5], b'{"text": "a passage"}\n', *lines[5:]], "line 6: it is not a row"),
    (lambda lines: [*lines[:5], b"[]\n", *lines[5:]], "line 6"),
    (lambda lines: [*lines[:5], b"\xff\xfe\n", *lines[5:]], "line 6"),
    (lambda lines: [*lines[:5], b'{"kind": "entity", "id": "\\ud800", "name": "x"}\n', *lines[5:]], "line 6"),
    (lambda lines: [*lines[:5], b"[" * 100_000 + b"\n", *lines[5:]], "line 6"),
    (lambda lines: [lines[0], lines[1], *lines[1:]], "line 3: this document is in the file twice"),
    (lambda lines: [*lines[:-1], *lines[-2:]], "line [0-9]+: this original is in the file twice"),
    (lambda lines: [lines[0], *reversed(lines[1:-1]), lines[-1]], "a .* row follows .* rows"),
    (lambda lines: [lines[0], *lines], "line 2: a corpus row is within corpus 'people'"),
    (lambda lines: [*lines, *lines], "a row follows the end of the archive"),
    (lambda lines: [*lines, lines[1]], "is outside of any corpus"),
]


async def test_foreign_lines_are_refused(there: House, file: Path) -> None:
    whole = (await asyncio.to_thread(file.read_bytes)).splitlines(keepends=True)
    for change, reason in _LINES:
        lines = change(list(whole))
        await asyncio.to_thread(file.write_bytes, b"".join(sealed(lines) if "twice" in reason else lines))
        await _refused(there, file, reason)


async def test_rows_that_were_taken_out_are_missed(there: House, file: Path) -> None:
    change_lines(file, lambda lines: [line for line in lines if b'"kind":"synonym"' not in line])
    await _refused(there, file, "has 0 synonym rows, and .* were written")


async def test_no_file_at_all(there: House, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        await there.restore(tmp_path / "none")
    empty = tmp_path / "empty"
    await asyncio.to_thread(empty.touch)
    with pytest.raises(LoadFailed, match="is empty"):
        await there.restore(empty)


async def test_messages_are_one_line(there: House, file: Path) -> None:
    _changed(file, "document", key="a\nb")
    with pytest.raises(LoadFailed) as caught:
        await there.take_in(file)
    assert re.fullmatch(r"[^\n]+line 2: [^\n]+", str(caught.value))
