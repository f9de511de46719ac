"""Keeps OpenVINO graphs on disk: reading one takes half of the time and of the memory of building it from weights.

`import_openvino` imports OpenVINO without its converter of other formats.
"""

import hashlib
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openvino import Model


_CONVERTER = "openvino.tools.ovc"


def import_openvino() -> ModuleType:
    """Returns the package. Its converter is not imported: it doubles the time, and loads a module for telemetry.

    OpenVINO goes on without a converter that cannot be imported. Code that needs the converter can import it later.
    """
    blocked = _CONVERTER not in sys.modules
    if blocked:
        sys.modules[_CONVERTER] = None  # type: ignore[assignment]  # how Python refuses the import of a module
    try:
        import openvino
        import openvino.opset13
    finally:
        if blocked:
            del sys.modules[_CONVERTER]
    module: ModuleType = openvino
    return module


_FILES = ("graph.bin", "graph.xml")
_SUMS = "SHA256SUMS"
_ABANDONED_SECONDS = 3600
_log = logging.getLogger("hopweave.models")


def open_graph(key: str, build: "Callable[[], Model]", *, half: bool) -> "Model":
    """Returns the graph of `key` from the user's cache folder; a missing or damaged graph is built and kept.

    `half` keeps the weights in 16 bits. A graph that cannot be kept is used from memory: a full disk or a read-only
    folder costs time at each start and nothing else.
    """
    openvino = import_openvino()
    try:
        folder = _cache_folder() / key
        if not _is_whole(folder):
            _keep(build(), folder, half=half)
        graph: Model = openvino.Core().read_model(folder / "graph.xml")
    except (
        OSError,
        RuntimeError,
    ) as error:  # RuntimeError is OpenVINO's only error, and the error of a user without a home
        _log.warning("the embedding graph cannot be kept, and is built again at each start: %s", error)
        return build()
    return graph


def _cache_folder() -> Path:
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "hopweave" / "embedding"


def _is_whole(folder: Path) -> bool:
    """Whether the files are there and are as they were written."""
    try:
        return (folder / _SUMS).read_text("ascii") == _sums(folder)
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def _sums(folder: Path) -> str:
    """The content of `SHA256SUMS`, in the form of the command sha256sum."""
    lines = []
    for name in _FILES:
        with (folder / name).open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n")
    return "".join(lines)


def _keep(graph: "Model", folder: Path, *, half: bool) -> None:
    """Writes the graph beside its place and renames it, so that other processes see it whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _delete_abandoned(folder.parent)
    # Ignoring errors: after the rename there is nothing left to delete.
    with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True) as written:
        new = Path(written) / "new"
        new.mkdir()
        import_openvino().save_model(graph, new / "graph.xml", compress_to_fp16=half)
        (new / _SUMS).write_text(_sums(new), "ascii")
        if not _is_whole(folder):  # another process may have been faster
            _replace(folder, new, Path(written) / "old")


def _replace(folder: Path, new: Path, old: Path) -> None:
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if not _is_whole(folder):  # another process was faster still
            raise


def _delete_abandoned(caches: Path) -> None:
    """Deletes what processes were writing when they were killed."""
    for path in caches.glob(".*"):
        with suppress(FileNotFoundError):  # another process deletes it, too
            if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(path)
