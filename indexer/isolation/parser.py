"""The child of a worker or server that parses files, and draws pages of them.

`indexer.isolation.parser_process` starts it; nothing imports it.

`python -m indexer.isolation.parser PARENT MEMORY KEPT SECONDS FILES FOLDERS [MODULE…]`: PARENT is the reading end of a
pipe that the worker holds open; KEPT are the bytes that may stay in use between two files; FOLDERS may be read, with
colons between them; the modules are imported before the process is confined. Requests come on standard input, replies
go to standard output. What a library prints is discarded.
"""

import contextlib
import fcntl
import gc
import importlib
import json
import mimetypes
import os
import resource
import select
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from core.errors import LoadFailed
from core.ports.indexing import Source
from indexer.isolation.confinement import confine
from indexer.isolation.frames import (
    DRAW,
    LIST_FILES,
    encode_document,
    encode_drawn_page,
    encode_files,
    frame,
    read_frame,
)
from indexer.isolation.limits import LIBRARY_BYTES

__all__: list[str] = []

_PAGE_BYTES = resource.getpagesize()


def _main(parent: int, limits: tuple[int, int, float, int], folders: Sequence[str], modules: Sequence[str]) -> None:
    memory, kept, seconds, files = limits
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("r+b", buffering=0) as nothing:
        for standard in (0, 1, 2):
            os.dup2(nothing.fileno(), standard)
    _end_with(parent)
    mimetypes.init()  # it reads files of /etc, which libraries would do later
    for module in modules:
        importlib.import_module(module)
    linux = sys.platform == "linux"
    with Path("/proc/self/statm").open("rb", buffering=0) if linux else contextlib.nullcontext() as size:
        _send(replies, {"confined": confine(memory + LIBRARY_BYTES, [*_program_folders(), *folders])})
        parser = _Parser(kept, seconds, size)
        for n in range(1, files + 1):
            request, content = read_frame(requests.read), read_frame(requests.read)
            if request is None or content is None:
                return
            head, body = parser.parse(json.loads(request), content)
            head["last"] = head["last"] or n == files
            _send(replies, head, body)
            if head["last"]:
                return


def _end_with(parent: int) -> None:
    """Makes the kernel end this process when the other end of the pipe closes, also while native code runs.

    Programs that it starts end as well: the signal goes to the process group, which this process leads.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(parent, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(parent, fcntl.F_SETFL, fcntl.fcntl(parent, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([parent], [], [], 0)[0]:  # the worker has ended already
        sys.exit(1)


def _program_folders() -> list[str]:
    """Returns the folders of programs, and the folder of tesseract's language data, if it is set."""
    return [path for name in ("TESSDATA_PREFIX", "PATH") for path in os.environ.get(name, "").split(":") if path]


def _send(replies: IO[bytes], head: Mapping[str, Any], body: bytes | None = None) -> None:
    for part in [*frame(json.dumps(head).encode()), *(frame(body) if body is not None else ())]:
        replies.write(part)
    replies.flush()


class _Parser:
    """Parses one file after the other. `size` is open on `/proc/self/statm`, if the system has it."""

    def __init__(self, kept: int, seconds: float, size: IO[bytes] | None) -> None:
        self._allowed = kept + LIBRARY_BYTES
        self._seconds = seconds
        self._size = size
        self._first = self._used()

    def parse(self, request: Mapping[str, Any], content: bytes) -> tuple[dict[str, Any], bytes | None]:
        """Returns the head of the reply, and the document, the image of a page or the files of a mail if all went well.

        The reply is the last one after an unknown failure, and if files leave more memory in use than is allowed.
        """
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + self._seconds) + 2, hard))
        body = None
        try:
            body = _TASKS.get(request["task"], _load)(request, content)
            head = {"outcome": "loaded", "last": False}
        except LoadFailed as error:
            head = {"outcome": "refused", "reason": str(error), "last": False}
        except MemoryError:
            return {"outcome": "memory", "last": True}, None
        except Exception as error:  # noqa: BLE001 - libraries raise anything over broken files; the worker names the file
            return {"outcome": "broken", "reason": _describe(error), "last": True}, None
        gc.collect()
        left_over = self._used() - self._first - len(body or b"")
        return {**head, "last": left_over > self._allowed}, body

    def _used(self) -> int:
        """Returns the address space of this process, in bytes."""
        if self._size is None:
            return 0
        return int(os.pread(self._size.fileno(), 64, 0).split()[0]) * _PAGE_BYTES


def _load(request: Mapping[str, Any], content: bytes) -> bytes:
    module = importlib.import_module(request["module"])
    loader = module.build(module.Config.model_validate(request["config"]), None)
    source = Source(
        key=request["key"], content=content, media_type=request["media_type"], title=request["title"], metadata={}
    )
    return encode_document(loader.load(source))


def _draw(request: Mapping[str, Any], content: bytes) -> bytes:
    from indexer.loading.pdf.drawing import draw_page

    drawn = draw_page(request["key"], content, request["page"], width=request["width"], mark=request["mark"])
    return encode_drawn_page(drawn)


def _list_files(request: Mapping[str, Any], content: bytes) -> bytes:
    from indexer.selection.attachments import find_documents

    return encode_files(find_documents(importlib.import_module(request["module"]), content, request["key"]))


_TASKS = {DRAW: _draw, LIST_FILES: _list_files}


def _describe(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


if __name__ == "__main__":
    given = sys.argv[1:]
    limits = int(given[1]), int(given[2]), float(given[3]), int(given[4])
    _main(int(given[0]), limits, [folder for folder in given[5].split(os.pathsep) if folder], given[6:])
