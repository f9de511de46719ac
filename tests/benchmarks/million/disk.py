"""What a data folder takes on the disk: by kind of file, and by table and index of its databases."""

import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path

__all__ = ["database_bytes", "folder_bytes"]

_KINDS = {"files": "originals", "text": "text index", "snapshots": "snapshots"}
_BLOCK = 512


def folder_bytes(folder: Path) -> dict[str, int]:
    """Returns the bytes of the blocks of all files: of each file at the top, and of the known folders in it."""
    found: dict[str, int] = defaultdict(int)
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                part = path.relative_to(folder).parts[0]
                found[_KINDS.get(part, part)] += path.stat().st_blocks * _BLOCK
        except FileNotFoundError:
            continue  # it was replaced meanwhile
    return dict(found)


def database_bytes(path: Path) -> dict[str, int]:
    """Returns the bytes of the pages of each table and index. Reads the file once, so it may take minutes."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        try:
            rows = db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC").fetchall()
        except sqlite3.OperationalError:  # SQLite was built without it
            return {}
    return dict(rows)
